// How much a Claude model should think: newer models choose the amount for an effort themselves, older ones take a
// number of tokens. Also what prevents thinking that was requested.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Effort } from '../../core/request.ts'
import { asksForThinking } from '../effort.ts'
import { forcesTool } from '../tool-choice.ts'
import { claudeOf } from './claude.ts'
import { isForcedInWords } from './forced-tool.ts'
import { goesOnUnthinking } from './thoughts.ts'
import { encodeTurns } from './turns-encode.ts'

const BUDGET_TOKENS_MIN = 1024
const DISPLAYS = { summary: 'summarized', omitted: 'omitted' } as const

export function encodeThinking(request: Conversation): JsonObject | undefined {
  const { reasoning } = request
  const { thinks, takesDisabled } = claudeOf(request)
  if (reasoning === undefined || !thinks) return undefined
  if (reasoning.effort === 'none') return takesDisabled ? { type: 'disabled' } : undefined
  if (hindranceOf(request) !== undefined) return undefined
  const display = reasoning.display && DISPLAYS[reasoning.display]
  const budget = budgetOf(request)
  return budget === undefined
    ? defined({ type: 'adaptive', display })
    : defined({ type: 'enabled', budget_tokens: budget, display })
}

/** Whether thinking is requested and possible. */
export function thinksAsAsked(request: Conversation): boolean {
  return isThinker(request) && hindranceOf(request) === undefined
}

/** What prevents requested thinking in a model that can think. */
type Hindrance = 'forced tool' | 'small limit' | 'unthinking turn'

export function hindranceOf(request: Conversation): Hindrance | undefined {
  if (!isThinker(request)) return undefined
  if (forcesTool(request) && !isForcedInWords(request)) return 'forced tool'
  const budget = budgetOf(request)
  if (budget === undefined) return undefined
  if (budget < BUDGET_TOKENS_MIN) return 'small limit'
  return goesOnUnthinking(encodeTurns(request).messages) ? 'unthinking turn' : undefined
}

function isThinker(request: Conversation): boolean {
  return asksForThinking(request) && claudeOf(request).thinks
}

/** The thresholds of `effort.ts`, and larger budgets above `high`. */
const BUDGETS: Record<Effort, number> = {
  none: 0,
  minimal: BUDGET_TOKENS_MIN,
  low: BUDGET_TOKENS_MIN,
  medium: 2_048,
  high: 4_096,
  xhigh: 8_192,
  max: 16_384,
}

/** The client's budget, or one from the effort for models that are not adaptive. It must leave room for an answer. */
function budgetOf(request: Conversation): number | undefined {
  const { reasoning = {}, outputTokensMax = Infinity } = request
  const { effort = 'medium', tokensMax } = reasoning
  const tokens = tokensMax ?? (claudeOf(request).isAdaptive ? undefined : BUDGETS[effort])
  return tokens === undefined ? undefined : Math.min(tokens, outputTokensMax - 1)
}
