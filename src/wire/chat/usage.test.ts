// Counts survive the way out and back.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { NO_USAGE } from '../../core/events.ts'
import { decodeUsage, encodeUsage } from './usage.ts'

test('every count that the format has comes back as it went', () => {
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
    assert.deepEqual(decodeUsage(encodeUsage(usage)), usage)
  }
})
