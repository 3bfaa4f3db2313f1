// The service tier that a request asks for, among those that cost nothing extra (`refused-fields.ts`). The families
// have different words for the standard tier, and clients of either use both.
import type { JsonObject } from '../core/json.ts'
import { expectText, optional } from './expect.ts'

export function decodeServiceTier(body: JsonObject): string | undefined {
  const tier = optional(body['service_tier'], 'service_tier', expectText)
  return tier === 'standard_only' ? 'default' : tier
}
