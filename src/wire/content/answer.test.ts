// A provider's answer is read whatever its size; anything but a JSON object is the provider's failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTEXT } from '../../../test/samples/answer-context.ts'
import { processorMs } from '../../../test/samples/processor-time.ts'
import type { UpstreamFormat } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { UPSTREAM_CODECS } from '../codecs.ts'
import { sseEvent } from '../contract/sse.ts'
import { messagesCodec } from '../messages/codec.ts'
import { responsesCodec } from '../responses/codec.ts'
import { readJsonAnswer } from './answer.ts'

test('a provider’s answer may have any number of values', () => {
  const data = Array.from({ length: 2_000_000 }, (_, index) => index % 7)
  const body = readJsonAnswer(Buffer.from(JSON.stringify({ data, model: 'a' })))
  assert.equal((body.value['data'] as Json[]).length, data.length)
})

test('an answer nested millions of levels deep is the provider’s failure, and found quickly', () => {
  const deep = `${'['.repeat(8_000_000)}${']'.repeat(8_000_000)}`
  const startedMs = processorMs()
  assert.throws(() => readJsonAnswer(Buffer.from(`{"a":${deep}}`)), /is not JSON/)
  // Parsing it would take ten times as long, and writing it again an hour.
  assert.ok(processorMs() - startedMs < 5_000)
})

test('an answer that is not JSON is the provider’s failure, and none of it is quoted', () => {
  for (const text of ['', 'my private answer', '[1]', '{"a":']) {
    assert.throws(
      () => readJsonAnswer(Buffer.from(text)),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'provider_failed' &&
        error.cause === undefined &&
        !error.message.includes('private'),
      text,
    )
  }
})

// Counts that cannot be billed, in every format that a provider may speak: if a count is missing, or is a text, there
// is no usage, and what was received is charged.

type Answers = {
  readonly answer: (counts: JsonObject) => JsonObject
  /** 12 tokens read, 7 written. */
  readonly counts: JsonObject
  /** The counts that must be present. */
  readonly needed: readonly string[]
  /** Counts that may be left out. */
  readonly parts: JsonObject
}

const FORMATS: Partial<Record<UpstreamFormat, Answers>> = {
  chat: {
    answer: (usage) => ({
      choices: [{ index: 0, message: { content: 'noon' }, finish_reason: 'stop' }],
      usage,
    }),
    counts: { prompt_tokens: 12, completion_tokens: 7 },
    needed: ['prompt_tokens', 'completion_tokens'],
    parts: { prompt_cache_hit_tokens: 4 },
  },
  responses: {
    answer: (usage) => ({
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'noon' }] }],
      usage,
    }),
    counts: { input_tokens: 12, output_tokens: 7 },
    needed: ['input_tokens', 'output_tokens'],
    parts: {},
  },
  messages: {
    answer: (usage) => ({
      content: [{ type: 'text', text: 'noon' }],
      stop_reason: 'end_turn',
      usage,
    }),
    counts: { input_tokens: 12, output_tokens: 7 },
    needed: ['input_tokens', 'output_tokens'],
    parts: { cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
  },
  gemini: {
    answer: (usageMetadata) => ({
      candidates: [{ content: { parts: [{ text: 'noon' }] }, finishReason: 'STOP' }],
      usageMetadata,
    }),
    counts: { promptTokenCount: 12, candidatesTokenCount: 7 },
    needed: ['promptTokenCount'],
    parts: { candidatesTokenCount: 7, cachedContentTokenCount: 4, thoughtsTokenCount: 3 },
  },
  converse: {
    answer: (usage) => ({
      output: { message: { content: [{ text: 'noon' }] } },
      stopReason: 'end_turn',
      usage,
    }),
    counts: { inputTokens: 12, outputTokens: 7 },
    needed: ['inputTokens', 'outputTokens'],
    parts: { cacheReadInputTokens: 4, cacheWriteInputTokens: 3 },
  },
}

for (const [format, { answer, counts, needed, parts }] of Object.entries(FORMATS)) {
  const usageOf = (given: JsonObject) =>
    UPSTREAM_CODECS[format as UpstreamFormat]
      .decodeResponse(answer(given))
      .findLast((event) => event.type === 'usage')?.usage

  test(`${format}: complete counts are a usage`, () => {
    const { inputTokens, outputTokens } = usageOf(counts) ?? {}
    assert.deepEqual([inputTokens, outputTokens], [12, 7])
  })

  for (const name of needed)
    test(`${format}: without ${name} there is no usage`, () => {
      const { [name]: _, ...rest } = counts
      assert.equal(usageOf(rest), undefined)
      assert.equal(usageOf({ ...counts, [name]: null }), undefined)
    })

  for (const name of [...needed, ...Object.keys(parts)])
    test(`${format}: a text for ${name} is no usage`, () => {
      assert.equal(usageOf({ ...counts, ...parts, [name]: '12' }), undefined)
    })
}

// The choices of an answer: how many there may be, and which one a format with room for one takes.

const FLOOD = Array.from({ length: 1_000 }, (_, index) => ({ index }))

for (const [format, answer] of [
  ['chat', { choices: FLOOD }],
  ['gemini', { candidates: FLOOD }],
] as const)
  test(`${format}: thousands of choices are the provider’s failure`, () => {
    const codec = UPSTREAM_CODECS[format]
    const failure = { code: 'provider_failed', message: /more choices/ }
    assert.throws(() => codec.decodeResponse(answer), failure)
    assert.throws(() => codec.decodeEvents()(sseEvent('', answer)), failure)
  })

for (const codec of [messagesCodec, responsesCodec])
  test(`${codec.format}: the first choice is the answer, whatever its number`, () => {
    const events = (...indexes: readonly number[]): readonly CanonicalEvent[] =>
      UPSTREAM_CODECS.gemini.decodeResponse({
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
