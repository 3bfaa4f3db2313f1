// What is known of a model by its name, whoever serves it and however its name is dressed up there.
import { MAIN_MODELS, OTHER_MODELS } from './main-models.ts'
import type { Facts, Vendor } from './main-models.ts'

const BY_NAME: ReadonlyMap<string, Facts> = new Map(
  [...Object.values(MAIN_MODELS), OTHER_MODELS].flatMap((models) => Object.entries(models)),
)

/** The main models a vendor brings by itself, newest first. */
export function mainModels(vendor: Vendor): readonly string[] {
  return Object.keys(MAIN_MODELS[vendor])
}

/** What is known of a model, by the name any provider has for it: dated, prefixed by its maker, or plain. */
export function factsOf(model: string): Facts | undefined {
  return BY_NAME.get(model) ?? BY_NAME.get(plainName(model))
}

/**
 * `us.anthropic.claude-opus-4-6-v1:0`, `openai/gpt-5-2025-08-07`, `claude-opus-4-5@20251101`: the same models elsewhere;
 * `ft:gpt-4o-mini-2024-07-18:acme::x`: one that was tuned.
 */
function plainName(model: string): string {
  return model
    .replace(/^.*\//, '')
    .replace(/^ft:([^:]+):.*$/, '$1')
    .replace(/^(?:[a-z-]+\.)?(?:anthropic|openai|amazon)\./, '')
    .replace(/-(?:v\d+(?::\d+)?|\d:\d)$/, '')
    .replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '')
}
