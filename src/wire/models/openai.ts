// What each OpenAI model accepts in a translated request, by its name. In passthrough the provider judges.
import type { Effort, TargetModel } from '../../core/request.ts'
import { knownNames } from '../../core/request.ts'

type OpenAi = {
  /** The efforts it accepts, from the least to the most; empty = it does not reason, or its effort cannot be set. */
  readonly efforts: readonly Effort[]
  /** Whether it reasons by default. */
  readonly reasonsUnasked: boolean
}

/** `o3-2025-04-16`, `gpt-5`, `openai/gpt-5.4-mini`, `gpt-4o`, `ft:gpt-4.1-nano:org::id`, and Azure's `gpt-35-turbo`. */
const NAME = /^(?:ft:|[^/]+\/)*(?:(o)\d|(?:chat)?gpt-(\d+)(?:\.(\d+))?o?)(?![\w.])/
/** The chat variants do not reason like the others. */
const CHAT = /chat/
/** The reasoning of the pro and codex variants cannot be turned off. */
const PRO = /-pro\b/
const CODEX = /-codex\b/

/** Undefined for a name that is not OpenAI's. */
export function openAiOf(target: TargetModel): OpenAi | undefined {
  return knownNames(target)
    .map(openAiNamed)
    .find((openAi) => openAi !== undefined)
}

/** 5.4 for `gpt-5.4-mini`; undefined for a name that is not a GPT's. */
export function gptVersion(model: string): number | undefined {
  const [, , major, minor = '0'] = NAME.exec(model) ?? []
  if (major === undefined) return undefined
  return major === '35' ? 3.5 : Number(major) + Number(minor) / 10
}

/** By name: every translated request asks several times, and names are those of targets, so they are few. */
const named = new Map<string, OpenAi | undefined>()
const NAMED_MAX = 1000

function openAiNamed(model: string): OpenAi | undefined {
  const known = named.get(model)
  if (known !== undefined || named.has(model)) return known
  if (named.size >= NAMED_MAX) named.clear()
  const openAi = readName(model)
  named.set(model, openAi)
  return openAi
}

function readName(model: string): OpenAi | undefined {
  if (NAME.exec(model)?.[1] !== undefined) {
    return { efforts: ['low', 'medium', 'high'], reasonsUnasked: true }
  }
  const version = gptVersion(model)
  if (version === undefined) return undefined
  if (version < 5 || CHAT.test(model)) return { efforts: [], reasonsUnasked: false }
  const isForWork = PRO.test(model) || CODEX.test(model)
  return {
    efforts: effortsOf(model, version),
    // Versions 5.1 to 5.4 reason only on request.
    reasonsUnasked: isForWork || version < 5.1 || version >= 5.5,
  }
}

function effortsOf(model: string, version: number): readonly Effort[] {
  const most: readonly Effort[] = [
    ...(version >= 5.2 || model.includes('-codex-max') ? (['xhigh'] as const) : []),
    ...(version >= 5.6 ? (['max'] as const) : []),
  ]
  if (PRO.test(model)) return version < 5.1 ? ['high'] : ['medium', 'high', ...most]
  if (CODEX.test(model)) return ['low', 'medium', 'high', ...most]
  return [version < 5.1 ? 'minimal' : 'none', 'low', 'medium', 'high', ...most]
}

/**
 * OpenAI refuses a request for encrypted reasoning to a model that does not reason. All of those have known names, but
 * the name of a deployment may hide anything. It is not asked: the model then only forgets its earlier reasoning.
 */
export function givesEncryptedReasoning(target: TargetModel): boolean {
  const { reasons, alsoKnownAs } = target.traits ?? {}
  const openAi = openAiOf(target)
  return reasons ?? (openAi === undefined ? alsoKnownAs === undefined : openAi.efforts.length > 0)
}
