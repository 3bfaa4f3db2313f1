// How much a Gemini model is to think: the second generation takes a number of tokens, the third a level.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Effort } from '../../core/request.ts'
import type { Addressee } from '../known-names.ts'
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
/** The largest models cannot be kept from thinking, and may think more. */
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

export type Gemini = {
  readonly thinks: boolean
  /** Whether it can be kept from thinking. */
  readonly takesDisabled: boolean
}

/** No Gemini thinks below 2.5, and no Gemma. */
const PLAIN = /gemini-(?:1|2\.0)|gemma/

export function geminiOf({ model, nature }: Addressee): Gemini {
  return {
    thinks: nature?.reasons !== false && !PLAIN.test(model),
    takesDisabled: generationOf(model) < 3 && !isPro(model),
  }
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

function isPro(model: string): boolean {
  return model.includes('-pro')
}

/** A budget outside of what a model takes is refused. */
function budgetWithin(model: string, tokens: number): number {
  return isPro(model)
    ? Math.max(BUDGET_MIN_PRO, Math.min(tokens, BUDGET_MAX_PRO))
    : Math.min(tokens, BUDGETS.max)
}
