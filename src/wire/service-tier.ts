// The service tier that a request asks for, among those that cost nothing extra (`refused-fields.ts`), and the one that
// an answer was served in, which the provider's account may decide. The families have different words for the standard
// tier, and clients of either use both.
import type { Usage, UsageEvent } from '../core/events.ts'
import { SERVICE_TIERS } from '../core/events.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { expectText, optional } from './expect.ts'

export function decodeServiceTier(body: JsonObject): string | undefined {
  const tier = optional(body['service_tier'], 'service_tier', expectText)
  return tier === 'standard_only' ? 'default' : tier
}

/** The usage of an answer, served in the tier that the provider calls `given`. All formats name special tiers alike. */
export function usageEvent(usage: Usage, given: Json | undefined): UsageEvent {
  const tier = SERVICE_TIERS.find((each) => each === given)
  return tier === undefined ? { type: 'usage', usage } : { type: 'usage', usage, tier }
}
