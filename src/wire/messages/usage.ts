// Token counts of the messages format: input excludes cache reads and writes, and a stream repeats its totals, of which
// the last one that is not null counts.
import type { ServiceTier, Usage, UsageEvent } from '../../core/events.ts'
import { NO_USAGE, whereAny } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { objectOf } from '../../core/json.ts'
import { countIn } from '../content/answer.ts'

export function encodeUsage({ usage, tier }: UsageEvent): JsonObject {
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens } = usage
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWriteLongTokens),
      ephemeral_1h_input_tokens: cacheWriteLongTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use: null,
    service_tier: encodeTier(tier),
    speed: null,
    inference_geo: null,
  }
}

/** The format has no word for a tier other than these two. */
function encodeTier(tier: ServiceTier | undefined): string | null {
  if (tier === undefined) return 'standard'
  return tier === 'priority' ? tier : null
}

/** Before the first report. A count that is never reported stays NaN, and the usage is then not readable. */
export const UNTOLD: Usage = { ...NO_USAGE, inputTokens: NaN, outputTokens: NaN }

/** The totals after one more report: what a report omits or sets to null stays as it was. */
export function decodeUsage(report: JsonObject, before: Usage): Usage {
  const creation = objectOf(report['cache_creation'])
  const short = countIn(creation, 'ephemeral_5m_input_tokens')
  const long = countIn(creation, 'ephemeral_1h_input_tokens')
  const written = short === undefined && long === undefined ? undefined : (short ?? 0) + (long ?? 0)
  const searches = countIn(objectOf(report['server_tool_use']), 'web_search_requests')
  const details = objectOf(report['output_tokens_details'])
  const cachedTokens = countIn(report, 'cache_read_input_tokens') ?? before.cachedTokens
  const cacheWriteTokens =
    countIn(report, 'cache_creation_input_tokens') ?? written ?? before.cacheWriteTokens
  const plainTokens =
    countIn(report, 'input_tokens') ??
    before.inputTokens - before.cachedTokens - before.cacheWriteTokens
  return {
    inputTokens: plainTokens + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWriteLongTokens: long ?? longAmong(cacheWriteTokens, before),
    outputTokens: countIn(report, 'output_tokens') ?? before.outputTokens,
    reasoningTokens: countIn(details, 'thinking_tokens') ?? before.reasoningTokens,
    ...whereAny('webSearches', searches ?? before.webSearches),
  }
}

/** The end of a stream reports no lifetimes: later cache writes count with the lifetime of the earlier ones. */
function longAmong(cacheWriteTokens: number, before: Usage): number {
  const isLong = before.cacheWriteLongTokens > 0
  return isLong
    ? before.cacheWriteLongTokens + Math.max(0, cacheWriteTokens - before.cacheWriteTokens)
    : 0
}
