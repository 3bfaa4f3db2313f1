// The lane that a request asks for, of those that cost nothing more (`refused-fields.ts`). The families have different
// words for the plain one, and clients of either write both.
import type { JsonObject } from '../core/json.ts'
import { expectText, optional } from './expect.ts'

export function decodeServiceTier(body: JsonObject): string | undefined {
  const tier = optional(body['service_tier'], 'service_tier', expectText)
  return tier === 'standard_only' ? 'default' : tier
}
