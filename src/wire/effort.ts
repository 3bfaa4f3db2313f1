// How much a model is told to think, in formats that say it by a word: the nearest one that the model takes. A word that
// it does not take is a refused request, so of models that nobody knows as little as possible is assumed.
import type { Conversation, Effort, Reasoning } from '../core/request.ts'
import { EFFORTS } from '../core/request.ts'
import type { Addressee } from './known-names.ts'
import { knownNames } from './known-names.ts'
import { openAiOf } from './openai.ts'

/** What every server takes that takes any. */
const COMMON: readonly Effort[] = ['low', 'medium', 'high']
/** What is taken by models of others than OpenAI, where it is not that. */
const OTHERS: readonly (readonly [RegExp, readonly Effort[]])[] = [
  [/^mistral-(?:small|medium)/, ['none', 'high']],
  [/^qwen\/qwen3-32b$/, ['none']],
]

export type Thinker = Addressee & Pick<Conversation, 'reasoning'>

/** The word that the model is told; undefined = none. */
export function toldEffort(thinker: Thinker): Effort | undefined {
  const asked = effortOf(thinker.reasoning)
  const efforts = knownEfforts(thinker)
  // Servers of some age do not know this word, and most of what they serve does not think anyway.
  if (asked === undefined || (asked === 'none' && efforts === undefined)) return undefined
  return nearestEffort(asked, efforts ?? COMMON)
}

/** Whether the model is known to have nothing that could be told to think, or not to. */
export function isPlain(addressee: Addressee): boolean {
  return knownEfforts(addressee)?.length === 0
}

/** The most that is not above what is asked, else the least; never none for who asks for some. */
export function nearestEffort(asked: Effort, efforts: readonly Effort[]): Effort | undefined {
  if (efforts.includes(asked)) return asked
  const rank = EFFORTS.indexOf(asked)
  const some = efforts.filter((effort) => effort !== 'none')
  return some.findLast((effort) => EFFORTS.indexOf(effort) < rank) ?? some[0]
}

/** A budget in tokens is the nearest effort. */
export function effortOf(reasoning: Reasoning | undefined): Effort | undefined {
  if (reasoning?.effort !== undefined || reasoning?.tokensMax === undefined) {
    return reasoning?.effort
  }
  if (reasoning.tokensMax >= 4096) return 'high'
  if (reasoning.tokensMax >= 2048) return 'medium'
  return reasoning.tokensMax >= 1024 ? 'low' : 'minimal'
}

/** Undefined where nobody knows. */
function knownEfforts(addressee: Addressee): readonly Effort[] | undefined {
  const { reasons } = addressee.nature ?? {}
  if (reasons === false) return []
  const names = knownNames(addressee)
  const [, others] = OTHERS.find(([pattern]) => names.some((name) => pattern.test(name))) ?? []
  return openAiOf(addressee)?.efforts ?? others ?? (reasons === true ? COMMON : undefined)
}
