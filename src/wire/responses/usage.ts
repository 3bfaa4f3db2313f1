// Token counts as the responses format counts them: totals include their parts.
import type { Usage } from '../../core/events.ts'
import { whereAny } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, objectOf } from '../../core/json.ts'
import { countIn, readable } from '../content/answer.ts'

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

/** From a whole response; undefined unless the provider reported both input and output. */
export function decodeUsage({ usage, output }: JsonObject): Usage | undefined {
  if (!isObject(usage)) return undefined
  const input = objectOf(usage['input_tokens_details'])
  const lifetimes = objectOf(input['cache_write_tokens_details'])
  return readable({
    inputTokens: countIn(usage, 'input_tokens') ?? NaN,
    cachedTokens: countIn(input, 'cached_tokens') ?? 0,
    cacheWriteTokens: countIn(input, 'cache_write_tokens') ?? 0,
    cacheWriteLongTokens: countIn(lifetimes, 'ttl_12h_tokens') ?? 0,
    outputTokens: countIn(usage, 'output_tokens') ?? NaN,
    reasoningTokens: countIn(objectOf(usage['output_tokens_details']), 'reasoning_tokens') ?? 0,
    ...whereAny('webSearches', isArray(output) ? output.filter(isSearchCall).length : 0),
  })
}

/** Opening a page, or searching within it, belongs to the search that found it. */
export function isSearchCall(item: Json): boolean {
  if (!isObject(item) || item['type'] !== 'web_search_call') return false
  return (objectOf(item['action'])['type'] ?? 'search') === 'search'
}
