// How much budget a refused call lacked, from the facts of the refusal, for pages that say it in the reader's language.
import { parseUsd } from '../core/money.ts'
import { usd } from '../core/units.ts'
import type { Shortage } from './contract/calls.ts'

/** Null if the refusal was not about a budget. */
export function shortageOf(facts: Readonly<Record<string, unknown>> = {}): Shortage | null {
  const { limit, spent, required, affordable_output_tokens: tokens } = facts
  if (typeof limit !== 'string' || typeof spent !== 'string' || typeof required !== 'string')
    return null
  const left = parseUsd(limit) - parseUsd(spent)
  return {
    required,
    remaining: usd(left > 0n ? left : 0n),
    affordable_output_tokens: typeof tokens === 'number' ? tokens : null,
  }
}
