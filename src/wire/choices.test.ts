// How many choices an answer may have.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { upstreamCodecOf } from './codecs.ts'
import { sseEvent } from './sse.ts'

const FLOOD = Array.from({ length: 1_000 }, (_, index) => ({ index }))

for (const [format, answer] of [
  ['chat', { choices: FLOOD }],
  ['gemini', { candidates: FLOOD }],
] as const)
  test(`${format}: thousands of choices are the provider’s failure`, () => {
    const codec = upstreamCodecOf(format)
    const failure = { code: 'provider_failed', message: /more choices/ }
    assert.throws(() => codec.decodeResponse(answer), failure)
    assert.throws(() => codec.decodeEvents()(sseEvent('', answer)), failure)
  })
