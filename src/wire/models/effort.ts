// The reasoning effort sent to a model, in formats that express it as a word: the nearest one that the model accepts.
// Providers refuse any other word, so as little as possible is assumed about unknown models. In passthrough the provider
// judges.
import type { Conversation, Effort, Reasoning, TargetModel } from '../../core/request.ts'
import { EFFORTS, knownNames } from '../../core/request.ts'
import { openAiOf } from './openai.ts'

/** Accepted by every server that accepts any effort. */
const COMMON: readonly Effort[] = ['low', 'medium', 'high']
/** Models of vendors other than OpenAI that accept something else. */
const OTHERS: readonly (readonly [RegExp, readonly Effort[]])[] = [
  [/^mistral-(?:small|medium)/, ['none', 'high']],
  [/^qwen\/qwen3-32b$/, ['none']],
  [/^sandbox-reasoner/, EFFORTS],
]

type ReasoningTarget = TargetModel & Pick<Conversation, 'reasoning'>

export function asksForReasoning({ reasoning }: Pick<Conversation, 'reasoning'>): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none'
}

export function asksForNoReasoning({ reasoning }: Pick<Conversation, 'reasoning'>): boolean {
  return reasoning?.effort === 'none'
}

/** The effort to send; undefined = none. */
export function toldEffort(target: ReasoningTarget): Effort | undefined {
  const asked = effortOf(target.reasoning)
  const efforts = knownEfforts(target)
  // Older servers do not know `none`, and most of their models do not reason anyway.
  if (asked === undefined || (asked === 'none' && efforts === undefined)) return undefined
  return nearestEffort(asked, efforts ?? COMMON)
}

/** Whether the model is known to have no reasoning that could be turned up or off. */
export function isPlain(target: TargetModel): boolean {
  return knownEfforts(target)?.length === 0
}

/** Whether a request for reasoning, or for a certain effort, has no effect on the model. */
export function ignoresEffort(target: ReasoningTarget): boolean {
  if (!asksForReasoning(target)) return false
  const isWordless = effortOf(target.reasoning) === undefined
  return isPlain(target) || (!isWordless && toldEffort(target) === undefined)
}

/** Whether a model that is asked not to reason may reason anyway. */
export function reasonsAnyway(target: ReasoningTarget): boolean {
  return asksForNoReasoning(target) && !isPlain(target) && toldEffort(target) !== 'none'
}

/** Whether a model may reason, although nothing says that it must. */
export function mayReason(target: ReasoningTarget): boolean {
  if (asksForNoReasoning(target)) return reasonsAnyway(target)
  if (isPlain(target)) return false
  return asksForReasoning(target) || (openAiOf(target)?.reasonsUnasked ?? true)
}

/** The highest effort that is not above the requested one, else the lowest; never `none` for a request to reason. */
export function nearestEffort(asked: Effort, efforts: readonly Effort[]): Effort | undefined {
  if (efforts.includes(asked)) return asked
  const rank = EFFORTS.indexOf(asked)
  const some = efforts.filter((effort) => effort !== 'none')
  return some.findLast((effort) => EFFORTS.indexOf(effort) < rank) ?? some[0]
}

/** A token budget counts as the nearest effort. */
export function effortOf(reasoning: Reasoning | undefined): Effort | undefined {
  if (reasoning?.effort !== undefined || reasoning?.tokensMax === undefined) {
    return reasoning?.effort
  }
  if (reasoning.tokensMax >= 4096) return 'high'
  if (reasoning.tokensMax >= 2048) return 'medium'
  return reasoning.tokensMax >= 1024 ? 'low' : 'minimal'
}

/** Undefined for unknown models. */
function knownEfforts(target: TargetModel): readonly Effort[] | undefined {
  const { reasons } = target.traits ?? {}
  if (reasons === false) return []
  const names = knownNames(target)
  const [, others] = OTHERS.find(([pattern]) => names.some((name) => pattern.test(name))) ?? []
  return openAiOf(target)?.efforts ?? others ?? (reasons === true ? COMMON : undefined)
}

/** OpenAI's models that reason refuse temperature, top_p and logprobs; from GPT-5.1 on only while they do. */
export function takesSampling(target: ReasoningTarget): boolean {
  const openAi = openAiOf(target)
  if (openAi === undefined || openAi.efforts.length === 0) return true
  const effort = toldEffort(target)
  return effort === undefined ? !openAi.reasonsUnasked : effort === 'none'
}
