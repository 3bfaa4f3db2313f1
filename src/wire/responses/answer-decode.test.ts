// A responses provider's answers as canonical events: as they should be, and as providers deviate.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { decodeErrorBody } from '../contract/errors.ts'
import { sseEvent, SseReader } from '../contract/sse.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'

const RECORDED = readFileSync(
  new URL('../../../test/fixtures/responses/reasoning-text-call.sse', import.meta.url),
)
const at = (block: number) => ({ choice: 0, block })
const END: readonly CanonicalEvent[] = [
  { type: 'choice-end', choice: 0, reason: 'tool-call' },
  {
    type: 'usage',
    usage: {
      inputTokens: 40,
      cachedTokens: 10,
      cacheWriteTokens: 0,
      cacheWriteLongTokens: 0,
      outputTokens: 25,
      reasoningTokens: 12,
    },
  },
  { type: 'response-end' },
]
const OPAQUE = { format: 'responses', kind: 'encrypted', value: 'gAAAAAB', id: 'rs_a' } as const
const STREAMED: readonly CanonicalEvent[] = [
  { type: 'ping' },
  { type: 'response-start', id: 'resp_up', model: 'gpt-up-2026' },
  { type: 'reasoning-start', ...at(0) },
  { type: 'reasoning-delta', ...at(0), text: 'Schön' },
  { type: 'reasoning-delta', ...at(0), text: '\n\nlangsam 🐢' },
  { type: 'reasoning-end', ...at(0), opaque: OPAQUE },
  { type: 'text-start', ...at(1) },
  { type: 'text-delta', ...at(1), text: 'I look' },
  { type: 'text-delta', ...at(1), text: ' it up.' },
  { type: 'text-end', ...at(1) },
  { type: 'tool-call-start', ...at(2), id: 'call_a', name: 'weather', custom: false },
  { type: 'tool-call-delta', ...at(2), text: '{"city":' },
  { type: 'tool-call-delta', ...at(2), text: '"Köln"}' },
  { type: 'tool-call-end', ...at(2) },
  ...END,
]

function replay(...pieces: readonly Uint8Array[]): CanonicalEvent[] {
  const reader = new SseReader()
  const decode = decodeEvents()
  return pieces.flatMap((piece) => reader.read(piece)).flatMap((event) => decode(event))
}

/** Decodes a stream that is given as the data of its events. */
function decoded(...stream: readonly JsonObject[]): CanonicalEvent[] {
  const decode = decodeEvents()
  return stream.flatMap((data) => decode(sseEvent(String(data['type'] ?? ''), data)))
}

describe('responses: a provider’s stream', () => {
  test('is complete only with its last response', () => {
    const last = RECORDED.indexOf('event: response.completed')
    const events = replay(RECORDED.subarray(0, last))
    assert.equal(
      events.some((event) => event.type === 'response-end'),
      false,
    )
  })

  test('means the same without deltas', () => {
    const whole = RECORDED.toString()
      .split('\n\n')
      .filter((event) => !event.includes('.delta') && !event.includes('item.added'))
      .join('\n\n')
    assert.deepEqual(replay(Buffer.from(whole)), [{ type: 'ping' }, ...atOnce()])
  })

  test('means the same if only its last response arrives', () => {
    const last = RECORDED.subarray(RECORDED.indexOf('event: response.completed'))
    assert.deepEqual(replay(last), atOnce())
  })
})

/** The same answer with one delta per block, as in a whole answer. */
function atOnce(): CanonicalEvent[] {
  const events: CanonicalEvent[] = []
  for (const event of STREAMED) {
    if (event.type === 'ping') continue
    const last = events.at(-1)
    const isMore = 'text' in event && last !== undefined && 'text' in last
    if (isMore) events[events.length - 1] = { ...last, text: last.text + event.text }
    else events.push(event)
  }
  return events
}

test('responses: a whole answer decodes like a stream', () => {
  const last = RECORDED.subarray(RECORDED.indexOf('event: response.completed')).toString()
  const data = JSON.parse(last.slice(last.indexOf('{'))) as { response: JsonObject }
  assert.deepEqual(decodeResponse(data.response), atOnce())
})

const message = (id: string, text: string): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
})
const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item: { ...item, content: [] },
})
const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const delta = (output_index: number, text: string): JsonObject => ({
  type: 'response.output_text.delta',
  output_index,
  content_index: 0,
  delta: text,
})
const completed = (...output: readonly JsonObject[]): JsonObject => ({
  type: 'response.completed',
  response: { status: 'completed', output },
})
const texts = (events: readonly CanonicalEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'text-delta' ? [`${event.block}:${event.text}`] : []))

describe('responses: a provider that deviates', () => {
  const A = message('msg_a', 'Aa')
  const B = message('msg_b', 'Bb')

  test('may interleave two items: the second waits for the first', () => {
    const events = decoded(
      added(0, A),
      added(1, B),
      delta(0, 'A'),
      delta(1, 'B'),
      done(1, B),
      delta(0, 'a'),
      done(0, A),
      completed(A, B),
    )
    assert.deepEqual(texts(events), ['0:A', '0:a', '1:Bb'])
  })

  test('may end interleaved items in another order than it began them', () => {
    const [C, D] = [message('msg_c', 'Cc'), message('msg_d', 'Dd')]
    const events = decoded(
      added(0, A),
      added(1, B),
      added(2, C),
      done(2, C),
      delta(0, 'Aa'),
      done(0, A),
      added(3, D),
      delta(3, 'Dd'),
      done(3, D),
      done(1, B),
      completed(A, B, C, D),
    )
    assert.deepEqual(texts(events), ['0:Aa', '1:Bb', '2:Cc', '3:Dd'])
  })

  test('may begin an item beside another and never mention it again', () => {
    const events = decoded(added(0, A), added(1, B), done(2, B), done(0, A), completed())
    assert.deepEqual(texts(events), ['0:Aa', '1:Bb'])
  })

  test('may never mark an item as done', () => {
    assert.deepEqual(texts(decoded(added(0, A), delta(0, 'A'), completed(A, B))), [
      '0:A',
      '0:a',
      '1:Bb',
    ])
  })

  test('may leave the items out of its last response', () => {
    assert.deepEqual(texts(decoded(added(0, A), delta(0, 'Aa'), done(0, A), completed())), ['0:Aa'])
  })

  test('may report nothing but the usage in its last response', () => {
    const usage = { input_tokens: 1, output_tokens: 2 }
    const events = decoded(done(0, A), { type: 'response.completed', response: { usage } })
    assert.deepEqual(texts(events), ['0:Aa'])
    assert.equal(events.at(-1)?.type, 'response-end')
    assert.equal(events.at(-2)?.type, 'usage')
  })

  test('may renumber items in its last response', () => {
    assert.deepEqual(texts(decoded(done(3, A), completed(A))), ['0:Aa'])
  })

  test('may number the start of an item differently: its id is the same', () => {
    const call = { type: 'function_call', id: 'fc_a', call_id: 'a', name: 'f', arguments: '{}' }
    const piece = { type: 'response.function_call_arguments.delta', delta: '{}' }
    const events = decoded(
      added(7, { ...call, arguments: '' }),
      { ...piece, output_index: 0, item_id: 'fc_a' },
      done(0, call),
      completed(call),
    )
    assert.deepEqual(
      events.flatMap((event) => (event.type.startsWith('tool-call') ? [event.type] : [])),
      ['tool-call-start', 'tool-call-delta', 'tool-call-end'],
    )
  })

  test('may give a text and a call the same number', () => {
    const call = { type: 'function_call', id: 'fc_a', call_id: 'a', name: 'f', arguments: '{}' }
    const piece = { type: 'response.function_call_arguments.delta', delta: '{}' }
    const begun = added(0, { ...call, arguments: '' })
    const grown = { ...piece, output_index: 0, item_id: 'fc_a' }
    for (const stream of [
      [added(0, A), delta(0, 'Aa'), done(0, A), begun, grown, done(0, call), completed(A, call)],
      [added(0, A), begun, delta(0, 'Aa'), grown, done(0, call), done(0, A), completed(A, call)],
      [done(0, A), done(0, call), completed()],
    ]) {
      const told = decoded(...stream).flatMap((event) => ('text' in event ? [event.text] : []))
      assert.deepEqual(told, ['Aa', '{}'])
    }
  })

  test('may rename items in every event', () => {
    const renamed = message('msg_other', 'Aa')
    assert.deepEqual(texts(decoded(done(0, A), completed(renamed))), ['0:Aa'])
  })

  test('may end with another text than it streamed: the streamed one stands', () => {
    const other = message('msg_a', 'quite different')
    assert.deepEqual(
      texts(decoded(added(0, A), delta(0, 'Aa'), done(0, other), completed(other))),
      ['0:Aa'],
    )
  })

  test('may send items that have no meaning elsewhere', () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed' }
    assert.deepEqual(texts(decoded(added(0, search), done(0, search), done(1, B), completed())), [
      '0:Bb',
    ])
  })

  test('may search the web: each search is reported once, and opened pages are not searches', () => {
    const search = (id: string, type: string) => ({
      id,
      type: 'web_search_call',
      status: 'completed',
      action: { type },
    })
    const [one, page] = [search('ws_1', 'search'), search('ws_2', 'open_page')]
    const events = decoded(added(0, one), done(0, one), done(1, page), completed(one, page))
    assert.equal(events.filter(({ type }) => type === 'search').length, 1)
  })

  test('may end twice', () => {
    const events = decoded(completed(A), completed(A))
    assert.equal(events.filter((event) => event.type === 'response-end').length, 1)
  })

  test('may send raw reasoning under either name: it is reported once', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [] }
    const finished = { ...item, content: [{ type: 'reasoning_text', text: 'raw' }] }
    for (const type of ['response.reasoning_text.delta', 'response.reasoning.delta']) {
      const events = decoded(
        { type: 'response.output_item.added', output_index: 0, item },
        { type, output_index: 0, content_index: 0, delta: 'raw' },
        { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'short' },
        done(0, finished),
        completed(finished),
      )
      assert.deepEqual(
        events.flatMap((event) => (event.type === 'reasoning-delta' ? [event.text] : [])),
        ['raw'],
      )
    }
  })

  test('may reason without showing or encrypting anything: there is no block', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [] }
    const events = decoded(added(0, item), done(0, item), done(1, B), completed(item, B))
    assert.deepEqual(texts(events), ['0:Bb'])
    assert.equal(
      events.some((event) => event.type === 'reasoning-start'),
      false,
    )
  })
})

test('responses: a text keeps its log probabilities and citations', () => {
  const logprob = { token: 'A', logprob: -0.5, bytes: [65], top_logprobs: [] }
  const annotation = { type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 }
  const events = decoded(
    added(0, message('m', '')),
    { ...delta(0, 'A'), logprobs: [logprob] },
    // Half a character: a token without text.
    { ...delta(0, ''), logprobs: [logprob] },
    {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      content_index: 0,
      annotation,
    },
    done(0, {
      ...message('m', 'A'),
      content: [
        {
          type: 'output_text',
          text: 'A',
          logprobs: [logprob],
          annotations: [annotation, annotation],
        },
      ],
    }),
    completed(),
  )
  const citation = { url: 'u', title: 't', start: 0, end: 1 }
  const logprobs = [{ token: 'A', logprob: -0.5, bytes: [65], top: [] }]
  assert.deepEqual(events.slice(1, 6), [
    { type: 'text-start', ...at(0) },
    { type: 'text-delta', ...at(0), text: 'A', logprobs },
    { type: 'text-delta', ...at(0), text: '', logprobs },
    { type: 'text-citation', ...at(0), citation },
    { type: 'text-citation', ...at(0), citation },
  ])
})

const ENDINGS = [
  ['completed', undefined, 'stop'],
  ['incomplete', 'max_output_tokens', 'limit'],
  ['incomplete', 'content_filter', 'refusal'],
  ['incomplete', 'steered', 'limit'],
  ['incomplete', undefined, 'limit'],
] as const
for (const [status, reason, expected] of ENDINGS) {
  test(`responses: ${status} ${reason ?? ''} is ${expected}`, () => {
    const response = { status, output: [], incomplete_details: reason ? { reason } : null }
    const end = decoded({ type: `response.${status}`, response }).find(
      (event) => event.type === 'choice-end',
    )
    assert.equal(end?.reason, expected)
  })
}

const failed = (code: string): JsonObject => ({
  type: 'response.failed',
  response: { status: 'failed', error: { code, message: 'sorry' } },
})
const FAILURES: readonly [data: JsonObject, code: string][] = [
  [{ type: 'error', code: 'server_error', message: 'sorry', param: null }, 'provider_failed'],
  [{ type: 'error', error: { type: 'server_error', message: 'sorry' } }, 'provider_failed'],
  [
    { type: 'error', error: { code: 'server_is_overloaded', message: 'sorry' } },
    'provider_overloaded',
  ],
  [
    { type: 'error', error: { code: 'rate_limit_exceeded', message: 'sorry' } },
    'provider_rate_limited',
  ],
  [failed('server_error'), 'provider_failed'],
  [failed('rate_limit_exceeded'), 'provider_rate_limited'],
  [failed('invalid_prompt'), 'invalid_request'],
  [failed('image_too_large'), 'invalid_request'],
  [failed('bio_policy'), 'invalid_request'],
  [failed('context_length_exceeded'), 'invalid_request'],
]
for (const [data, code] of FAILURES) {
  test(`responses: ${JSON.stringify(data)} is ${code}`, () => {
    assert.throws(
      () => decoded(data),
      (error) => error instanceof GatewayError && error.code === code && error.message === 'sorry',
    )
  })
}

for (const body of [
  {},
  { status: 'in_progress', output: [] },
  { status: 'cancelled', output: [] },
  { status: 'completed', output: null },
  { error: { message: 'no' } },
]) {
  test(`responses: ${JSON.stringify(body)} is the provider’s failure`, () => {
    assert.throws(
      () => decodeResponse(body),
      (error) => error instanceof GatewayError && error.code === 'provider_failed',
    )
  })
}

test('responses: an event that is no JSON is the provider’s failure', () => {
  assert.throws(
    () => decodeEvents()(sseEvent('response.created', '{"type":')),
    (error) => error instanceof GatewayError && error.code === 'provider_failed',
  )
})

test('responses: a provider’s error body is read, however it is wrapped', () => {
  assert.deepEqual(
    decodeErrorBody({ error: { message: 'm', type: 't', code: 'c', param: 'input' } }),
    {
      message: 'm',
      type: 't',
      code: 'c',
      param: 'input',
    },
  )
  assert.deepEqual(decodeErrorBody({ detail: 'no' }), { message: 'no' })
})
