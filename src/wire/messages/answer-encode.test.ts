// Answers as clients of the messages format see them: event names, order and fields, streamed and whole alike.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import AnthropicZero from 'anthropic-sdk-0'
import { processorMs } from '../../../test/samples/processor-time.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { listOf, objectOf, typeOf } from '../../core/json.ts'
import type { AnswerContext } from '../contract/codec.ts'
import { writeSse } from '../contract/sse.ts'
import { encodeEvents, encodeResponse } from './answer-encode.ts'

const answer: AnswerContext = {
  model: 'house-model',
  body: {
    tools: [{ name: 'x'.repeat(100), input_schema: { type: 'object' } }],
    stop_sequences: ['END'],
    thinking: { type: 'enabled', budget_tokens: 1024 },
  },
  createdAt: 1_700_000_000,
  now: () => 1_700_000_001,
  requestId: 'req_1',
  newId: (prefix) => `${prefix}_new`,
}

const usage: Usage = {
  inputTokens: 100,
  cachedTokens: 60,
  cacheWriteTokens: 10,
  cacheWriteLongTokens: 4,
  outputTokens: 25,
  reasoningTokens: 7,
}

const THINKING = { thinking: { type: 'enabled', budget_tokens: 2000 } }

const at = (block: number) => ({ choice: 0, block })
const start: CanonicalEvent = { type: 'response-start', id: 'chatcmpl-1', model: 'gpt' }
const end: CanonicalEvent[] = [
  { type: 'choice-end', choice: 0, reason: 'stop' },
  { type: 'usage', usage },
  { type: 'response-end' },
]
const opaque = { format: 'messages', kind: 'signature', value: 'c2lnbmVk' } as const

const conversation: CanonicalEvent[] = [
  start,
  { type: 'ping' },
  { type: 'reasoning-start', ...at(0) },
  { type: 'ping' },
  { type: 'reasoning-delta', ...at(0), text: 'Let me ' },
  { type: 'reasoning-delta', ...at(0), text: 'think.' },
  { type: 'reasoning-end', ...at(0), opaque },
  { type: 'reasoning-start', ...at(1) },
  { type: 'reasoning-end', ...at(1), opaque: { ...opaque, kind: 'redacted', value: 'aGlkZGVu' } },
  { type: 'text-start', ...at(2) },
  { type: 'text-delta', ...at(2), text: '' },
  { type: 'text-end', ...at(2) },
  { type: 'text-start', ...at(3) },
  { type: 'text-delta', ...at(3), text: 'It is ' },
  { type: 'text-delta', ...at(3), text: 'warm ☀' },
  { type: 'text-end', ...at(3) },
  { type: 'tool-call-start', ...at(4), id: 'call_1', name: 'weather', custom: false },
  { type: 'tool-call-delta', ...at(4), text: '{"city":' },
  { type: 'tool-call-delta', ...at(4), text: '"Rome"}' },
  { type: 'tool-call-end', ...at(4) },
  { type: 'tool-call-start', ...at(5), id: 'call_1', name: 'time', custom: false },
  { type: 'tool-call-end', ...at(5) },
  ...end,
]

const streamed = (events: readonly CanonicalEvent[]): string => {
  const encoder = encodeEvents(answer)
  return events
    .flatMap((event) => encoder.encode(event))
    .map(writeSse)
    .join('')
}

const names = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.startsWith('event: ') ? [line.slice(7)] : []))

test('events come in the documented order, without a block for an empty text', () => {
  const block = ['content_block_start', 'content_block_stop']
  const delta = 'content_block_delta'
  assert.deepEqual(names(streamed(conversation)), [
    'message_start',
    'ping',
    ...block.toSpliced(1, 0, delta, delta, delta),
    ...block,
    ...block.toSpliced(1, 0, delta, delta),
    ...block.toSpliced(1, 0, delta, delta),
    ...block,
    'message_delta',
    'message_stop',
  ])
})

const message = {
  id: 'msg_new',
  type: 'message',
  role: 'assistant',
  model: 'house-model',
  content: [
    { type: 'thinking', thinking: 'Let me think.', signature: 'c2lnbmVk' },
    { type: 'redacted_thinking', data: 'aGlkZGVu' },
    { type: 'text', text: 'It is warm ☀' },
    {
      type: 'tool_use',
      id: 'call_1',
      name: 'weather',
      input: { city: 'Rome' },
      caller: { type: 'direct' },
    },
    { type: 'tool_use', id: 'toolu_new', name: 'time', input: {}, caller: { type: 'direct' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
  usage: {
    input_tokens: 30,
    cache_creation_input_tokens: 10,
    cache_read_input_tokens: 60,
    cache_creation: { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 4 },
    output_tokens: 25,
    output_tokens_details: { thinking_tokens: 7 },
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
    inference_geo: null,
  },
}

test('a signature behind the last text is left out: an answer ends with what it says', () => {
  const gemini = { format: 'gemini', kind: 'signature', value: 'c2lnbmVk', id: 'text' } as const
  const text: CanonicalEvent[] = [
    { type: 'text-start', ...at(0) },
    { type: 'text-delta', ...at(0), text: 'Done.' },
    { type: 'text-end', ...at(0) },
    { type: 'reasoning-start', ...at(1) },
    { type: 'reasoning-end', ...at(1), opaque: gemini },
  ]
  const call: CanonicalEvent[] = [
    { type: 'tool-call-start', ...at(2), id: 'c', name: 'f', custom: false },
    { type: 'tool-call-end', ...at(2) },
  ]
  const typesOf = (events: readonly CanonicalEvent[]) =>
    listOf(encodeResponse(events, { ...answer, body: THINKING })['content']).map((block) =>
      typeOf(objectOf(block)),
    )
  assert.deepEqual(typesOf([start, ...text, ...end]), ['text'])
  assert.deepEqual(typesOf([start, ...text, ...call, ...end]), [
    'text',
    'redacted_thinking',
    'tool_use',
  ])
})

test('a whole answer says what the stream says', () => {
  assert.deepEqual(encodeResponse(conversation, answer), message)
})

describe('the input is counted as well as it is known', () => {
  const said: CanonicalEvent[] = [
    { type: 'text-start', ...at(0) },
    { type: 'text-delta', ...at(0), text: 'Hi' },
    { type: 'text-end', ...at(0) },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ]
  const counts = (events: readonly CanonicalEvent[], likely?: number): string[] => {
    const encoder = encodeEvents(answer, likely)
    const frames = events.flatMap((event) => encoder.encode(event))
    assert.equal(frames[0]?.event, 'message_start')
    return frames.flatMap(({ data }) => /"input_tokens":(\d+)/.exec(data)?.[1] ?? [])
  }

  test('by the provider, if it counts before or beside its first words', () => {
    const counted: CanonicalEvent = { type: 'usage', usage }
    assert.deepEqual(counts([start, counted, ...said, { type: 'response-end' }], 7), ['30', '30'])
    assert.deepEqual(counts([counted, start, ...said, { type: 'response-end' }], 7), ['30', '30'])
  })

  test('by an estimate until the provider counts', () => {
    assert.deepEqual(counts([start, ...said, ...end], 7), ['7', '30'])
    assert.deepEqual(counts([start, { type: 'ping' }, ...said, ...end], 7), ['7', '30'])
    assert.deepEqual(counts([start, ...said, { type: 'response-end' }], 7), ['7', '7'])
    // Some servers send a usage of zeros with every piece until the last.
    const uncounted: CanonicalEvent = { type: 'usage', usage: NO_USAGE }
    assert.deepEqual(counts([start, uncounted, ...said, ...end], 7), ['7', '30'])
  })
})

describe('a client that does not ask for reasoning is shown none', () => {
  const [{ content: whole }] = [message]
  const spoken = whole.slice(2)
  const bodies: JsonObject[] = [{}, { thinking: { type: 'disabled' } }, { thinking: null }]
  for (const body of bodies)
    test(JSON.stringify(body), () => {
      const asked = { ...answer, body }
      assert.deepEqual(encodeResponse(conversation, asked)['content'], spoken)
      const encoder = encodeEvents(asked)
      const frames = conversation.flatMap((event) => encoder.encode(event))
      const text = frames.map(writeSse).join('')
      assert.doesNotMatch(text, /"(?:redacted_)?thinking"|signature/)
      assert.equal(names(text)[0], 'message_start')
      // Blocks are numbered as if there had been no reasoning.
      assert.match(text, /"type":"content_block_start","index":0,"content_block":{"type":"text"/)
      const thinking = conversation
        .slice(0, 3)
        .flatMap((event) => encodeEvents(asked).encode(event))
      assert.deepEqual(
        thinking.map(({ event }) => event),
        ['message_start'],
        'a client learns early that a model thinks',
      )
    })
})

describe('the official SDKs read the stream', () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamed(conversation))
  })
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  after(() => server.close())
  const request = {
    model: 'house-model',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'Hello' }],
  }
  const settings = () => ({
    apiKey: 'unused',
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    maxRetries: 0,
  })

  test('1.x', async () => {
    const seen = await new Anthropic(settings()).messages.stream(request).finalMessage()
    assertSameMessage(seen)
  })
  test('0.x', async () => {
    const seen = await new AnthropicZero(settings()).messages.stream(request).finalMessage()
    assertSameMessage(seen)
  })
})

/** SDKs keep the first report of counts that they do not expect to change, so only the others are compared. */
function assertSameMessage(seen: { content: unknown; stop_reason: unknown; usage: unknown }): void {
  assert.deepEqual(JSON.parse(JSON.stringify(seen.content)), message.content)
  assert.equal(seen.stop_reason, 'tool_use')
  const { input_tokens, output_tokens, cache_read_input_tokens } = seen.usage as Record<
    string,
    number
  >
  assert.deepEqual([input_tokens, output_tokens, cache_read_input_tokens], [30, 25, 60])
}

test('each way to end an answer has its stop reason', () => {
  const text: CanonicalEvent[] = [
    { type: 'text-start', ...at(0) },
    { type: 'text-delta', ...at(0), text: 'Hi' },
    { type: 'text-end', ...at(0) },
  ]
  const call: CanonicalEvent[] = [
    { type: 'tool-call-start', ...at(0), id: 'a', name: 'b', custom: false },
    { type: 'tool-call-end', ...at(0) },
  ]
  const refusal: CanonicalEvent[] = [
    { type: 'refusal-start', ...at(0) },
    { type: 'refusal-delta', ...at(0), text: 'No.' },
    { type: 'refusal-end', ...at(0) },
  ]
  type End = Omit<Extract<CanonicalEvent, { type: 'choice-end' }>, 'type' | 'choice'>
  const refused = { type: 'refusal', category: null, explanation: null }
  const cases: [CanonicalEvent[], End, string, unknown, unknown][] = [
    [text, { reason: 'stop' }, 'end_turn', null, null],
    [text, { reason: 'stop', stopSequence: 'END' }, 'stop_sequence', 'END', null],
    [text, { reason: 'limit' }, 'max_tokens', null, null],
    [text, { reason: 'context' }, 'model_context_window_exceeded', null, null],
    [text, { reason: 'pause' }, 'pause_turn', null, null],
    [text, { reason: 'refusal' }, 'refusal', null, refused],
    [
      text,
      { reason: 'refusal', explanation: 'Because.' },
      'refusal',
      null,
      { ...refused, explanation: 'Because.' },
    ],
    [refusal, { reason: 'stop' }, 'refusal', null, refused],
    [call, { reason: 'stop' }, 'tool_use', null, null],
    [call, { reason: 'tool-call' }, 'tool_use', null, null],
    [call, { reason: 'limit' }, 'max_tokens', null, null],
    [text, { reason: 'tool-call' }, 'end_turn', null, null],
  ]
  for (const [blocks, reason, stop_reason, stop_sequence, stop_details] of cases) {
    const events: CanonicalEvent[] = [
      start,
      ...blocks,
      { type: 'choice-end', choice: 0, ...reason },
      { type: 'response-end' },
    ]
    const whole = encodeResponse(events, answer)
    assert.deepEqual(
      [whole['stop_reason'], whole['stop_sequence'], whole['stop_details']],
      [stop_reason, stop_sequence, stop_details],
    )
  }
})

test('tool input that is no JSON object is kept as raw text', () => {
  const inputs: [string, unknown][] = [
    ['', {}],
    ['{"a":1}', { a: 1 }],
    ['{"a":', { _raw: '{"a":' }],
    ['[1]', { _raw: '[1]' }],
  ]
  for (const [text, input] of inputs) {
    const events: CanonicalEvent[] = [
      start,
      { type: 'tool-call-start', ...at(0), id: 'a', name: 'b', custom: false },
      { type: 'tool-call-delta', ...at(0), text },
      { type: 'tool-call-end', ...at(0) },
      ...end,
    ]
    const { content } = encodeResponse(events, answer)
    assert.deepEqual((content as { input: unknown }[])[0]?.input, input)
  }
})

test('a failure is the family’s error event, and nothing follows it', () => {
  const error = new GatewayError('provider_overloaded', 'the provider has no room')
  const events = encodeEvents(answer).fail(error)
  assert.deepEqual(events.map(writeSse), [
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"the provider has no room",' +
      '"code":"provider_overloaded"},"request_id":"req_1"}\n\n',
  ])
})

test('a call whose id the conversation already uses gets another', () => {
  const call = { type: 'tool_use', id: 'call_0', name: 'f', input: {} }
  const messages = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0' }] },
  ]
  const called = (block: number, id: string): CanonicalEvent[] => [
    { type: 'tool-call-start', ...at(block), id, name: 'f', custom: false },
    { type: 'tool-call-end', ...at(block) },
  ]
  const { content } = encodeResponse(
    [start, ...called(0, 'call_0'), ...called(1, 'call_1'), ...end],
    { ...answer, body: { messages } },
  )
  assert.deepEqual(
    (content as JsonObject[]).map(({ id }) => id),
    ['toolu_new', 'call_1'],
  )
})

test('a hundred thousand citations of a whole answer take linear time', () => {
  const citation = { url: 'https://example.com', title: '', start: 0, end: 1 }
  const cite: CanonicalEvent = { type: 'text-citation', ...at(0), citation }
  const startedMs = processorMs()
  const { content } = encodeResponse([start, ...Array<typeof cite>(100_000).fill(cite)], answer)
  const [block] = content as { citations: unknown[] }[]
  assert.equal(block?.citations.length, 100_000)
  assert.ok(processorMs() - startedMs < 5_000)
})
