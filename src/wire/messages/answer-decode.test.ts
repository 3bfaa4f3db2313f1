// Providers' answers as canonical events: whole answers decode like streams, and the deviations of merely compatible
// providers are understood. Recorded streams: `test/contract/codec.test.ts`.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { processorMs } from '../../../test/samples/processor-time.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { sseEvent, SseReader } from '../contract/sse.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'

const recorded = (name: string): Buffer => readFileSync(`test/fixtures/messages/${name}.sse`)

function decodeBytes(bytes: Buffer): CanonicalEvent[] {
  const decode = decodeEvents()
  return new SseReader().read(bytes).flatMap((event) => decode(event))
}

/** The frames of an answer that has begun. */
function decodeFrames(...frames: Json[]): CanonicalEvent[] {
  const decode = decodeEvents()
  decode(sseEvent('', { type: 'message_start' }))
  return frames.flatMap((frame) => decode(sseEvent('', frame)))
}

const at = (block: number) => ({ choice: 0, block })

test('a cut answer never looks complete', () => {
  const bytes = recorded('thinking-tools')
  for (let length = 0; length < bytes.length - 2; length++) {
    const events = decodeBytes(bytes.subarray(0, length))
    assert.ok(!events.some((event) => event.type === 'response-end'))
  }
})

test('input sent with the start of a call keeps its long numbers', () => {
  const data =
    '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b","input":{"id":12345678901234567891}}}'
  const decode = decodeEvents()
  const events = [sseEvent('', data), sseEvent('', { type: 'content_block_stop' })].flatMap(decode)
  const [input] = events.filter((event) => event.type === 'tool-call-delta')
  assert.equal(input?.text, '{"id":12345678901234567891}')
})

test('a whole answer decodes like a stream', () => {
  const events = decodeResponse({
    id: 'msg_01A',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content: [
      { type: 'thinking', thinking: 'Two cities, so two calls… ☂', signature: 'EqQBCgIYAhIM3q==' },
      { type: 'redacted_thinking', data: 'EmwKAhgBEgz/+==' },
      { type: 'text', text: 'I will look both up: “Zürich” \u{1F327}', citations: null },
      { type: 'tool_use', id: 'toolu_01B', name: 'weather', input: { city: 'Zürich' } },
      { type: 'tool_use', id: 'toolu_01C', name: 'clock', input: {} },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 4000,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      output_tokens: 96,
      output_tokens_details: { thinking_tokens: 31 },
    },
  })
  assert.deepEqual(whole(events), whole(decodeBytes(recorded('thinking-tools'))))
})

/** Joins the pieces of an answer, so that answers compare equal however they were cut. */
function whole(events: readonly CanonicalEvent[]): CanonicalEvent[] {
  const joined: CanonicalEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (event.type === 'ping') continue
    if ('text' in event && last !== undefined && 'text' in last && last.type === event.type) {
      joined[joined.length - 1] = { ...last, text: last.text + event.text }
    } else joined.push(event)
  }
  const lastUsage = joined.findLast((event) => event.type === 'usage')
  return joined
    .filter((event) => event.type !== 'usage' || event === lastUsage)
    .map((event) =>
      event.type === 'tool-call-delta'
        ? { ...event, text: JSON.stringify(JSON.parse(event.text)) }
        : event,
    )
}

test('each stop reason maps to how the answer ended', () => {
  const cases: [Json, CanonicalEvent][] = [
    [{ stop_reason: 'end_turn' }, { type: 'choice-end', choice: 0, reason: 'stop' }],
    [{ stop_reason: 'max_tokens' }, { type: 'choice-end', choice: 0, reason: 'limit' }],
    [
      { stop_reason: 'model_context_window_exceeded' },
      { type: 'choice-end', choice: 0, reason: 'context' },
    ],
    [{ stop_reason: 'pause_turn' }, { type: 'choice-end', choice: 0, reason: 'pause' }],
    [{ stop_reason: 'something_new' }, { type: 'choice-end', choice: 0, reason: 'stop' }],
    [
      {
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: 'bio', explanation: 'Not this.' },
      },
      { type: 'choice-end', choice: 0, reason: 'refusal', explanation: 'Not this.' },
    ],
  ]
  for (const [delta, expected] of cases) {
    assert.deepEqual(decodeFrames({ type: 'message_delta', delta }), [expected])
  }
})

test('deviations of merely compatible providers are understood', () => {
  const text = { type: 'text_delta', text: 'Hi' }
  const hi = { type: 'text-delta', ...at(0), text: 'Hi' }
  const cases: Record<string, [Json[], object[]]> = {
    'a text without its start': [
      [{ type: 'content_block_delta', index: 0, delta: text }, { type: 'message_stop' }],
      [
        { type: 'text-start', ...at(0) },
        hi,
        { type: 'text-end', ...at(0) },
        { type: 'choice-end', choice: 0, reason: 'stop' },
        { type: 'response-end' },
      ],
    ],
    'a block without its stop': [
      [
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
        {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'tool_use', id: 'a', name: 'b', input: { c: 1 } },
        },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      ],
      [
        { type: 'text-start', ...at(0) },
        hi,
        { type: 'text-end', ...at(0) },
        { type: 'tool-call-start', ...at(1), id: 'a', name: 'b', custom: false },
        { type: 'tool-call-delta', ...at(1), text: '{"c":1}' },
        { type: 'tool-call-end', ...at(1) },
        { type: 'choice-end', choice: 0, reason: 'tool-call' },
      ],
    ],
    'usage twice, then null': [
      [
        { type: 'message_delta', delta: {}, usage: { input_tokens: 7, output_tokens: 3 } },
        { type: 'message_delta', delta: {}, usage: { input_tokens: null, output_tokens: 5 } },
        { type: 'message_delta', delta: {}, usage: null },
      ],
      [
        { type: 'usage', usage: { ...NO_USAGE, inputTokens: 7, outputTokens: 3 } },
        { type: 'usage', usage: { ...NO_USAGE, inputTokens: 7, outputTokens: 5 } },
      ],
    ],
    'thoughts without a signature': [
      [
        { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } },
        { type: 'content_block_stop', index: 0 },
      ],
      [
        { type: 'reasoning-start', ...at(0) },
        { type: 'reasoning-end', ...at(0) },
      ],
    ],
    'a second start': [
      [{ type: 'message_start', message: { usage: { input_tokens: 4, output_tokens: 1 } } }],
      [{ type: 'usage', usage: { ...NO_USAGE, inputTokens: 4, outputTokens: 1 } }],
    ],
    'content after the end': [
      [
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
        { type: 'content_block_delta', index: 0, delta: text },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      ],
      [{ type: 'choice-end', choice: 0, reason: 'stop' }],
    ],
    'unknown blocks, deltas and events': [
      [
        { type: 'content_block_start', index: 0, content_block: { type: 'poem', lines: [] } },
        { type: 'content_block_delta', index: 0, delta: text },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta' } },
        { type: 'content_block_delta', index: 1 },
        { type: 'heartbeat' },
        {},
      ],
      [],
    ],
  }
  for (const [what, [frames, expected]] of Object.entries(cases)) {
    assert.deepEqual(decodeFrames(...frames), expected, what)
  }
  const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' } }
  assert.deepEqual(decodeEvents()(sseEvent('', stop)), [
    { type: 'response-start', id: '', model: '' },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ])
  assert.deepEqual(decodeEvents()(sseEvent('', '[DONE]')), [])
  assert.deepEqual(decodeEvents()(sseEvent('ping', '')), [])
  assert.deepEqual(decodeEvents()(sseEvent('ping', '{}')), [{ type: 'ping' }])
})

test('each search is reported as it is seen, except failed ones', () => {
  const result = (content: Json) => ({
    type: 'content_block_start',
    content_block: { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content },
  })
  const found = [{ type: 'web_search_result', encrypted_content: 'x' }]
  const failed = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }
  assert.deepEqual(decodeFrames(result(found), result(failed)), [{ type: 'search' }])
})

test('later cache writes count with the lifetime of the first', () => {
  const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 50 }
  const start = {
    input_tokens: 9,
    cache_creation_input_tokens: 50,
    cache_creation,
    output_tokens: 1,
  }
  const end = { input_tokens: 9, cache_creation_input_tokens: 80, output_tokens: 5 }
  const [, event] = decodeFrames(
    { type: 'message_start', message: { usage: start } },
    { type: 'message_delta', delta: {}, usage: end },
  )
  assert.ok(event?.type === 'usage')
  assert.deepEqual([event.usage.cacheWriteTokens, event.usage.cacheWriteLongTokens], [80, 80])
})

test('an error in the stream becomes the matching error code', () => {
  const cases: [string, string, number][] = [
    ['overloaded_error', 'provider_overloaded', 503],
    ['rate_limit_error', 'provider_rate_limited', 429],
    ['api_error', 'provider_failed', 502],
    ['authentication_error', 'provider_failed', 502],
    ['invalid_request_error', 'invalid_request', 400],
  ]
  for (const [type, code, status] of cases) {
    const frame = { type: 'error', error: { type, message: 'What happened.' } }
    for (const decode of [() => decodeFrames(frame), () => decodeResponse(frame)]) {
      assert.throws(
        decode,
        (error) => error instanceof GatewayError && error.code === code && error.status === status,
        type,
      )
    }
  }
})

test('blocks whose pieces arrive mixed come one after the other', () => {
  const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
  const begin = (index: number, content_block: JsonObject) => {
    return { type: 'content_block_start', index, content_block }
  }
  const piece = (index: number, delta: JsonObject) => {
    return { type: 'content_block_delta', index, delta }
  }
  const input = (index: number, partial_json: string) =>
    piece(index, { type: 'input_json_delta', partial_json })
  const words = (index: number, text: string) => piece(index, { type: 'text_delta', text })
  const stop = (index: number) => ({ type: 'content_block_stop', index })
  const events = decodeFrames(
    begin(0, call('a')),
    begin(1, call('b')),
    begin(2, { type: 'text', text: '' }),
    input(1, '[1'),
    words(2, 'Now '),
    input(0, '[0'),
    stop(1),
    input(0, ']'),
    stop(0),
    words(2, 'both.'),
    begin(3, call('d')),
    input(3, '[3]'),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  )
  assert.deepEqual(told(events), ['a', '[0', ']', 'b', '[1', 'Now ', 'both.', 'd', '[3]'])
})

function told(events: readonly CanonicalEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'tool-call-start') return event.id
    return 'text' in event ? event.text : []
  })
}

test('the input of a call that began without a number is taken', () => {
  const block = { type: 'tool_use', id: 'a', name: 'b', input: {} }
  const delta = { type: 'input_json_delta', partial_json: '{}' }
  const events = decodeFrames(
    { type: 'content_block_start', content_block: block },
    { type: 'content_block_delta', index: 0, delta },
  )
  assert.ok(events.some((event) => event.type === 'tool-call-delta' && event.text === '{}'))
})

test('an end without an answer is the provider’s failure', () => {
  assert.throws(() => decodeEvents()(sseEvent('', { type: 'message_stop' })), {
    code: 'provider_failed',
    message: /no content/,
  })
})

test('an answer in another format is the provider’s failure', () => {
  const isFailure = (error: unknown) =>
    error instanceof GatewayError && error.code === 'provider_failed'
  assert.throws(() => decodeFrames('{"type":"ping"'), isFailure)
  assert.throws(() => decodeFrames([1]), isFailure)
  assert.throws(() => decodeResponse({ choices: [] }), isFailure)
})

test('a hundred thousand citations of one text take linear time', () => {
  const decode = decodeEvents()
  decode(sseEvent('', { type: 'content_block_start', content_block: { type: 'text' } }))
  const cite = sseEvent('', {
    type: 'content_block_delta',
    delta: { type: 'citations_delta', citation: { url: 'https://example.com' } },
  })
  const startedMs = processorMs()
  for (let count = 0; count < 100_000; count++) decode(cite)
  const cited = decode(sseEvent('', { type: 'content_block_stop' }))
  assert.equal(cited.filter(({ type }) => type === 'text-citation').length, 100_000)
  assert.ok(processorMs() - startedMs < 5_000)
})
