// How much a Gemini model should think: the second generation takes a number of tokens, the third a level.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Effort } from '../../core/request.ts'
import { geminiOf, generationOf, isPro } from './generation.ts'

/** The provider's own figures for the efforts of the chat family. */
const BUDGETS: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}
/** In the largest models thinking cannot be turned off, and its budget may be larger. */
const BUDGET_MIN_PRO = 128
const BUDGET_MAX_PRO = 32_768

const LEVELS: Record<Effort, string> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

export function encodeThinking(request: Conversation): JsonObject | undefined {
  const { model, reasoning } = request
  if (reasoning === undefined || !geminiOf(request).thinks) return undefined
  const { effort, tokensMax, display } = reasoning
  const includeThoughts = effort !== 'none' && display !== 'omitted' ? true : undefined
  if (tokensMax !== undefined) {
    return defined({ thinkingBudget: budgetWithin(model, tokensMax), includeThoughts })
  }
  if (effort === undefined) return defined({ includeThoughts })
  if (generationOf(model) >= 3) {
    const level = LEVELS[effort]
    const thinkingLevel = isPro(model) && level === 'minimal' ? 'low' : level
    return defined({ thinkingLevel, includeThoughts })
  }
  return defined({ thinkingBudget: budgetWithin(model, BUDGETS[effort]), includeThoughts })
}

/** The provider refuses a budget outside the model's range. */
function budgetWithin(model: string, tokens: number): number {
  return isPro(model)
    ? Math.max(BUDGET_MIN_PRO, Math.min(tokens, BUDGET_MAX_PRO))
    : Math.min(tokens, BUDGETS.max)
}
