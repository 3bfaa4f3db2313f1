// The JSON forms of usage, for the command line, the admin API and /v1/requests.
import { targetName } from '../catalog/models.ts'
import { iso, usd } from '../core/value-json.ts'
import type { UsageRow } from './books.ts'
import type { UsageSums } from './usage-report.ts'

export function sumsJson(sums: UsageSums) {
  return {
    requests: sums.requests,
    errors: sums.errors,
    input_tokens: sums.inputTokens,
    cached_tokens: sums.cachedTokens,
    cache_write_tokens: sums.cacheWriteTokens,
    output_tokens: sums.outputTokens,
    reasoning_tokens: sums.reasoningTokens,
    cost: usd(sums.costNanodollars),
    estimated: sums.estimated,
  }
}

/** `2026-11-15`, from the first moment of that day. */
export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** What a request's own key may see of it. */
export function requestJson(row: UsageRow) {
  return {
    endpoint: row.endpoint,
    model: row.modelAsked,
    target: targetOf(row),
    status: row.status,
    code: row.errorCode,
    created_at: iso(row.at),
    input_tokens: row.tokens.inputTokens,
    cached_tokens: row.tokens.cachedTokens,
    cache_write_tokens: row.tokens.cacheWriteTokens,
    output_tokens: row.tokens.outputTokens,
    reasoning_tokens: row.tokens.reasoningTokens,
    cost: usd(row.costNanodollars),
    estimated: row.estimated,
    latency_ms: row.latencyMs,
    first_token_ms: row.firstTokenMs,
  }
}

/** The provider and the model that answered; null when none did. */
export function targetOf({ provider, modelServed }: UsageRow): string | null {
  const isServed = provider !== null && modelServed !== null
  return isServed ? targetName(provider, modelServed) : null
}
