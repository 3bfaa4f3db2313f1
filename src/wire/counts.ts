// Token counts that a provider reports: a number, nothing, or something that is not a count and cannot be billed.
import type { Usage, UsageEvent } from '../core/events.ts'
import { SERVICE_TIERS } from '../core/events.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isGiven, numberOf } from '../core/json.ts'

/** Undefined if there is none; NaN if it is not a number, so that every sum with it is NaN too. */
export function countIn(counts: JsonObject, name: string): number | undefined {
  const count = counts[name]
  return isGiven(count) ? (numberOf(count) ?? NaN) : undefined
}

/** The usage, if all its counts are numbers: half of them would charge half. */
export function readable(usage: Usage): Usage | undefined {
  return Object.values(usage).some(Number.isNaN) ? undefined : usage
}

/** The usage of an answer, served in the tier that the provider calls `given`. All formats name special tiers alike. */
export function usageEvent(usage: Usage, given: Json | undefined): UsageEvent {
  const tier = SERVICE_TIERS.find((each) => each === given)
  return tier === undefined ? { type: 'usage', usage } : { type: 'usage', usage, tier }
}
