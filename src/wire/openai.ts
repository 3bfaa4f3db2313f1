// What each model of OpenAI takes of a translated request, known by its name. In the client's own words the provider
// judges.
import type { Effort } from '../core/request.ts'
import type { Addressee } from './known-names.ts'
import { knownNames } from './known-names.ts'

type OpenAi = {
  /** How much it can be told to reason, from the least to the most; empty = it does not, or nobody may tell it. */
  readonly efforts: readonly Effort[]
  /** Whether it reasons unless it is told not to. */
  readonly reasonsUnasked: boolean
}

/** `o3-2025-04-16`, `gpt-5`, `openai/gpt-5.4-mini`, `gpt-4o`, `ft:gpt-4.1-nano:org::id`, and Azure's `gpt-35-turbo`. */
const NAME = /^(?:ft:|[^/]+\/)*(?:(o)\d|(?:chat)?gpt-(\d+)(?:\.(\d+))?o?)(?![\w.])/
/** Those for conversations do not reason as the others do. */
const CHAT = /chat/
/** Those for work cannot be kept from it. */
const PRO = /-pro\b/
const CODEX = /-codex\b/

/** Undefined for a model whose name is none of OpenAI's. */
export function openAiOf(addressee: Addressee): OpenAi | undefined {
  return knownNames(addressee)
    .map(openAiNamed)
    .find((openAi) => openAi !== undefined)
}

/** 5.4 for `gpt-5.4-mini`; undefined for a name that is none of GPT. */
export function gptVersion(model: string): number | undefined {
  const [, , major, minor = '0'] = NAME.exec(model) ?? []
  if (major === undefined) return undefined
  return major === '35' ? 3.5 : Number(major) + Number(minor) / 10
}

function openAiNamed(model: string): OpenAi | undefined {
  if (NAME.exec(model)?.[1] !== undefined) {
    return { efforts: ['low', 'medium', 'high'], reasonsUnasked: true }
  }
  const version = gptVersion(model)
  if (version === undefined) return undefined
  if (version < 5 || CHAT.test(model)) return { efforts: [], reasonsUnasked: false }
  const isForWork = PRO.test(model) || CODEX.test(model)
  return {
    efforts: effortsOf(model, version),
    // From 5.1 to 5.4 they do not reason unless they are told to.
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
