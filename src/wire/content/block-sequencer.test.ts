// The choices of an answer: how many there may be, and which one a format with room for one takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTEXT } from '../../../test/samples/answer-context.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import { upstreamCodecOf } from '../codecs.ts'
import { sseEvent } from '../contract/sse.ts'
import { messagesCodec } from '../messages/codec.ts'
import { responsesCodec } from '../responses/codec.ts'

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

for (const codec of [messagesCodec, responsesCodec])
  test(`${codec.format}: the first choice is the answer, whatever its number`, () => {
    const events = (...indexes: readonly number[]): readonly CanonicalEvent[] =>
      upstreamCodecOf('gemini').decodeResponse({
        candidates: indexes.map((index) => ({
          index,
          content: { parts: [{ text: `choice ${index}` }] },
          finishReason: 'STOP',
        })),
      })
    const encode = (...indexes: readonly number[]): string =>
      JSON.stringify(codec.encodeResponse(events(...indexes), SAMPLE_CONTEXT))
    assert.match(encode(1), /choice 1/)
    assert.match(encode(-1), /choice -1/)
    assert.match(encode(0, 1), /choice 0/)
    assert.doesNotMatch(encode(0, 1), /choice 1/)
  })
