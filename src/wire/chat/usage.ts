// Token counts as chat completions and embeddings spell them: totals that include their parts.
import type { Usage } from '../../core/events.ts'
import { whereAny } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { numberOf, objectOf } from '../../core/json.ts'
import { countIn, readable } from '../content/answer.ts'

export function encodeUsage(usage: Usage): JsonObject {
  const { audioTokens } = usage
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      ...(audioTokens !== undefined && { audio_tokens: audioTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }
}

/** Undefined unless the provider reported the input, and the output or the total. */
export function decodeUsage(usage: JsonObject): Usage | undefined {
  const total = numberOf(usage['total_tokens'])
  const inputTokens = countIn(usage, 'prompt_tokens')
  const written = countIn(usage, 'completion_tokens')
  if (inputTokens === undefined || (written ?? total) === undefined) return undefined
  const input = objectOf(usage['prompt_tokens_details'])
  const output = objectOf(usage['completion_tokens_details'])
  return readable({
    inputTokens,
    // Some providers report cached tokens outside the details object.
    cachedTokens: countIn(input, 'cached_tokens') ?? countIn(usage, 'prompt_cache_hit_tokens') ?? 0,
    // Alibaba and LiteLLM use Anthropic's name, but include the count in the prompt tokens like everybody else.
    cacheWriteTokens:
      countIn(input, 'cache_write_tokens') ??
      countIn(input, 'cache_creation_input_tokens') ??
      countIn(usage, 'cache_creation_input_tokens') ??
      0,
    cacheWriteLongTokens: 0,
    // Some providers leave thinking out of completion_tokens and count it only in the total.
    outputTokens: Math.max(written ?? 0, (total ?? 0) - inputTokens),
    reasoningTokens: countIn(output, 'reasoning_tokens') ?? 0,
    ...whereAny('audioTokens', countIn(input, 'audio_tokens')),
  })
}
