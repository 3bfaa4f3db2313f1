// What is known about a model by its name, whoever serves it and however they decorate the name.
import { MAIN_MODELS, OTHER_MODELS } from './main-models.ts'
import type { Facts, Vendor } from './main-models.ts'

const BY_NAME: ReadonlyMap<string, Facts> = new Map(
  [...Object.values(MAIN_MODELS), OTHER_MODELS].flatMap((models) => Object.entries(models)),
)

/** The main models of a vendor, offered without configuration, newest first. */
export function mainModels(vendor: Vendor): readonly string[] {
  return Object.keys(MAIN_MODELS[vendor])
}

/** What is known about a model, by any provider's name for it: dated, prefixed with its maker, or plain. */
export function factsOf(model: string): Facts | undefined {
  return BY_NAME.get(model) ?? BY_NAME.get(plainName(model))
}

/**
 * `us.anthropic.claude-opus-4-6-v1:0`, `openai/gpt-5-2025-08-07` and `claude-opus-4-5@20251101` are the same models at
 * other providers; `ft:gpt-4o-mini-2024-07-18:acme::x` is a fine-tuned one.
 */
function plainName(model: string): string {
  return model
    .replace(/^.*\//, '')
    .replace(/^ft:([^:]+):.*$/, '$1')
    .replace(/^(?:[a-z-]+\.)?(?:anthropic|openai|amazon)\./, '')
    .replace(/-(?:v\d+(?::\d+)?|\d:\d)$/, '')
    .replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '')
}
