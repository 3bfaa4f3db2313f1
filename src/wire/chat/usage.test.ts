// Token counts survive encoding and decoding.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTEXT } from '../../../test/samples/answer-context.ts'
import type { Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { decodeResponse } from './answer-decode.ts'
import { encodeResponse } from './answer-encode.ts'

const decoded = (usage: JsonObject): Usage | undefined => {
  const choices = [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }]
  return decodeResponse({ choices, usage }).find((event) => event.type === 'usage')?.usage
}

test('every count of the format survives encoding and decoding', () => {
  for (const more of [{}, { audioTokens: 5 }]) {
    const usage = {
      ...NO_USAGE,
      inputTokens: 40,
      cachedTokens: 10,
      cacheWriteTokens: 8,
      outputTokens: 25,
      reasoningTokens: 12,
      ...more,
    }
    const encoded = encodeResponse([{ type: 'usage', usage }], SAMPLE_CONTEXT)['usage']
    assert.deepEqual(decoded(encoded as JsonObject), usage)
  }
})

test('cache writes are recognized under each of their names', () => {
  const counts = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 }
  const details = { cached_tokens: 20 }
  for (const usage of [
    { ...counts, prompt_tokens_details: { ...details, cache_write_tokens: 30 } },
    { ...counts, prompt_tokens_details: { ...details, cache_creation_input_tokens: 30 } },
    { ...counts, prompt_tokens_details: details, cache_creation_input_tokens: 30 },
  ])
    assert.equal(decoded(usage)?.cacheWriteTokens, 30, JSON.stringify(usage))
})
