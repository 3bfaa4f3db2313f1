// How much a Gemini model is to think: the second generation takes a number of tokens, the third a level.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Effort } from '../../core/request.ts'
import { generationOf } from './generation.ts'

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
/** The largest models cannot be kept from thinking. */
const BUDGET_MIN_PRO = 128

const LEVELS: Record<Effort, string> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

export function encodeThinking({ model, reasoning }: Conversation): JsonObject | undefined {
  if (reasoning === undefined) return undefined
  const { effort, tokensMax, display } = reasoning
  const includeThoughts = effort !== 'none' && display !== 'omitted' ? true : undefined
  if (tokensMax !== undefined) return defined({ thinkingBudget: tokensMax, includeThoughts })
  if (effort === undefined) return defined({ includeThoughts })
  const isPro = model.includes('-pro')
  if (generationOf(model) >= 3) {
    const level = LEVELS[effort]
    return defined({ thinkingLevel: isPro && level === 'minimal' ? 'low' : level, includeThoughts })
  }
  const budget = BUDGETS[effort]
  return defined({
    thinkingBudget: isPro ? Math.max(budget, BUDGET_MIN_PRO) : budget,
    includeThoughts,
  })
}
