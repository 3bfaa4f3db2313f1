// Token counts as the responses format counts them: totals include their parts.
import type { Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { isObject, numberOf } from '../../core/json.ts'

export function encodeUsage(usage: Usage): JsonObject {
  const { cacheWriteTokens, cacheWriteLongTokens } = usage
  const lifetimes =
    cacheWriteTokens === 0
      ? {}
      : {
          cache_write_tokens_details: {
            ttl_30m_tokens: cacheWriteTokens - cacheWriteLongTokens,
            ttl_12h_tokens: cacheWriteLongTokens,
          },
        }
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: cacheWriteTokens,
      ...lifetimes,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  }
}

/** Undefined when the provider reported none. */
export function decodeUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined
  const inputTokens = numberOf(usage['input_tokens'])
  const outputTokens = numberOf(usage['output_tokens'])
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  const input = objectIn(usage, 'input_tokens_details')
  const lifetimes = objectIn(input, 'cache_write_tokens_details')
  return {
    ...NO_USAGE,
    inputTokens: inputTokens ?? 0,
    cachedTokens: numberOf(input['cached_tokens']) ?? 0,
    cacheWriteTokens: numberOf(input['cache_write_tokens']) ?? 0,
    cacheWriteLongTokens: numberOf(lifetimes['ttl_12h_tokens']) ?? 0,
    outputTokens: outputTokens ?? 0,
    reasoningTokens: numberOf(objectIn(usage, 'output_tokens_details')['reasoning_tokens']) ?? 0,
  }
}

function objectIn(parent: JsonObject, name: string): JsonObject {
  const child = parent[name]
  return isObject(child) ? child : {}
}
