// What a provider may get wrong without harm, what it may not, and what its own errors become.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTEXT } from '../../../test/samples/answer-context.ts'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import { decodeErrorBody } from '../contract/errors.ts'
import { sseEvent } from '../contract/sse.ts'
import { messagesCodec } from '../messages/codec.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'
import { encodeRequest } from './request-encode.ts'

function decode(...chunks: (JsonObject | string)[]): readonly CanonicalEvent[] {
  const decoder = decodeEvents()
  return chunks.flatMap((chunk) => decoder(sseEvent('', chunk)))
}
const delta = (piece: JsonObject, finish_reason: Json = null): JsonObject => ({
  choices: [{ index: 0, delta: piece, finish_reason }],
})
const typesOf = (events: readonly CanonicalEvent[]): string[] => events.map((event) => event.type)
const failsAs = (code: ErrorCode) => (error: unknown) =>
  error instanceof GatewayError && error.code === code

test('an error in the stream becomes the matching error code', () => {
  const cases: [Json, ErrorCode][] = [
    [{ type: 'overloaded_error', message: 'm' }, 'provider_overloaded'],
    [{ type: 'server_error', code: 'server_is_overloaded', message: 'm' }, 'provider_overloaded'],
    [{ code: 429, message: 'm' }, 'provider_rate_limited'],
    [{ type: 'tokens', code: 'rate_limit_exceeded', message: 'm' }, 'provider_rate_limited'],
    [{ type: 'insufficient_quota', code: 'insufficient_quota', message: 'm' }, 'provider_failed'],
    [
      { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'm' },
      'invalid_request',
    ],
    [{ code: 400, message: 'm' }, 'invalid_request'],
    [{ code: 502, message: 'm' }, 'provider_failed'],
    ['it broke', 'provider_failed'],
  ]
  for (const [error, code] of cases) {
    assert.throws(() => decode({ error }), failsAs(code), JSON.stringify(error))
    assert.throws(() => decodeResponse({ error }), failsAs(code), JSON.stringify(error))
  }
})

test('a messages client learns which stop sequence was met, if the server says so', () => {
  const context = { ...SAMPLE_CONTEXT, body: { stop_sequences: ['END', 'STOP'] } }
  const cases: [JsonObject, string, Json][] = [
    [{ stop_reason: 'STOP' }, 'stop_sequence', 'STOP'],
    [{ matched_stop: 'END' }, 'stop_sequence', 'END'],
    [{ stop_reason: 151645 }, 'end_turn', null],
    [{ stop_reason: 'eos' }, 'end_turn', null],
    [{ stop_reason: null }, 'end_turn', null],
  ]
  for (const [end, ...expected] of cases) {
    const choice = { message: { content: 'One, ' }, finish_reason: 'stop', ...end }
    const events = decodeResponse({ choices: [choice] })
    const { stop_reason, stop_sequence } = messagesCodec.encodeResponse(events, context)
    assert.deepEqual([stop_reason, stop_sequence], expected, JSON.stringify(end))
  }
})

test('an error about the request passes on its code, and an error about our account does not', () => {
  const about = (error: JsonObject): GatewayError => {
    try {
      decode({ error })
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown
    }
    return assert.fail('no error')
  }
  const tooLong = {
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: 'too long',
  }
  assert.equal(about(tooLong).publicCode, 'context_length_exceeded')
  assert.equal(about(tooLong).status, 400)
  assert.equal(about(tooLong).message, 'too long')
  const badKey = {
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message: 'sk-secret is wrong',
  }
  assert.equal(about(badKey).status, 502)
  assert.doesNotMatch(about(badKey).message, /sk-secret/)
})

test('an answer is complete only with its marker, and never empty', () => {
  const said = delta({ content: 'a' }, 'stop')
  assert.equal(decode(said).at(-1)?.type, 'choice-end')
  assert.equal(decode(said, '[DONE]').at(-1)?.type, 'response-end')
  assert.deepEqual(typesOf(decode(delta({ content: 'a' }), '[DONE]')).slice(-2), [
    'choice-end',
    'response-end',
  ])
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const counted = { choices: [], usage }
  const closing = typesOf(decode(said, counted, '[DONE]'))
  assert.deepEqual(closing.slice(-3), ['choice-end', 'usage', 'response-end'])
  assert.equal(decode(delta({ content: 'a' }), counted).at(-1)?.type, 'usage', 'not yet all said')
  assert.equal(decode({ ...said, usage }).at(-1)?.type, 'usage', 'another choice may follow')
  assert.throws(() => decode('[DONE]'), failsAs('provider_failed'))
  assert.throws(() => decode({ choices: [] }, '[DONE]'), failsAs('provider_failed'))
  assert.throws(() => decodeResponse({ id: 'x', choices: [] }), failsAs('provider_failed'))
  assert.throws(() => decodeResponse({}), failsAs('provider_failed'))
})

test('an answer that the provider broke off is a failure', () => {
  for (const reason of ['error', 'abort', 'insufficient_system_resource']) {
    assert.throws(
      () => decode(delta({ content: 'a' }), delta({}, reason)),
      failsAs('provider_failed'),
    )
  }
})

test('an empty finish_reason does not end a choice', () => {
  const events = decode(delta({ content: 'a' }, ''), delta({ content: 'b' }, 'stop'))
  assert.equal(events.filter((event) => event.type === 'text-delta').length, 2)
})

test('text after the end of a choice is ignored', () => {
  const events = decode(delta({ content: 'a' }, 'stop'), delta({ content: 'b' }, 'stop'), '[DONE]')
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])),
    ['a'],
  )
})

test('a tool call gets a number and an id if the provider sends none, and fails without a name', () => {
  const piece = (call: JsonObject): JsonObject => delta({ tool_calls: [call] })
  const started = (...chunks: JsonObject[]): CanonicalEvent[] =>
    decode(...chunks, delta({}, 'tool_calls')).filter((event) => event.type === 'tool-call-start')
  const [nameless] = started(
    piece({ index: 0, id: 'a' }),
    piece({ index: 0, function: { name: 'f' } }),
  )
  assert.deepEqual(nameless, {
    type: 'tool-call-start',
    choice: 0,
    block: 0,
    id: 'a',
    name: 'f',
    custom: false,
  })
  const [made] = started(piece({ function: { name: 'f', arguments: '{}' } }))
  assert.match(made?.type === 'tool-call-start' ? made.id : '', /^call_[0-9a-f]{32}$/)
  assert.equal(
    started(
      piece({ id: 'a', function: { name: 'f' } }),
      piece({ id: 'b', function: { name: 'f' } }),
    ).length,
    2,
  )
  const legacy = started(
    delta({ function_call: { name: 'f', arguments: '{' } }),
    delta({ function_call: { arguments: '}' } }),
  )
  assert.equal(legacy.length, 1)
  assert.throws(
    () => started(piece({ index: 0, function: { arguments: '{}' } })),
    failsAs('provider_failed'),
  )
})

test('a call’s input may arrive as an object instead of a text', () => {
  const called = (args: Json): string =>
    decode(
      delta({ tool_calls: [{ index: 0, function: { name: 'f', arguments: args } }] }),
      '[DONE]',
    )
      .flatMap((event) => (event.type === 'tool-call-delta' ? [event.text] : []))
      .join('')
  assert.equal(called({ city: 'Paris' }), '{"city":"Paris"}')
  assert.equal(called('{"city":"Paris"}'), '{"city":"Paris"}')
  assert.equal(called(null), '')
})

test('reasoning beside a call keeps its signature', () => {
  const detail = { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }
  const ended = decode(
    delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] }),
    delta({ reasoning_details: [detail] }),
    '[DONE]',
  ).find((event) => event.type === 'reasoning-end')
  assert.deepEqual(ended?.opaque, { format: 'chat', kind: 'signature', value: 'c2ln' })
})

test('hidden reasoning keeps its signature', () => {
  const detail = { type: 'reasoning.text', text: '', signature: 'c2ln' }
  const message = { role: 'assistant', content: 'Hi.', reasoning_details: [detail] }
  const events = decodeResponse({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
  assert.deepEqual(
    events.filter((event) => event.type.startsWith('reasoning')),
    [
      { type: 'reasoning-start', choice: 0, block: 0 },
      {
        type: 'reasoning-end',
        choice: 0,
        block: 0,
        opaque: { format: 'chat', kind: 'signature', value: 'c2ln' },
      },
    ],
  )
})

test('reasoning is sent back exactly as it was received', () => {
  const details = [
    { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'a-v1' },
    { type: 'reasoning.text', text: '', signature: 'b3RoZXI', format: 'a-v1' },
    { type: 'reasoning.encrypted', data: 'c2VjcmV0', id: 'rs_1', format: 'b-v1' },
  ]
  const message = { role: 'assistant', content: 'Hi.', reasoning_details: details }
  const events = decodeResponse({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
  const opaques = events.flatMap((event) => (event.type === 'reasoning-end' ? [event.opaque] : []))
  const parts = opaques.map((opaque, index) =>
    defined({ type: 'reasoning' as const, text: details[index]?.text ?? '', opaque }),
  )
  const asked = encodeRequest({ ...SAMPLE_CONVERSATION, messages: [{ role: 'assistant', parts }] })
  const [told] = asked['messages'] as JsonObject[]
  assert.deepEqual(told?.['reasoning_details'], details)
})

test('an incomplete usage is no usage', () => {
  const counted = (usage: Json): unknown =>
    decode({ choices: [], usage }).find((event) => event.type === 'usage')?.usage.outputTokens
  assert.equal(counted(null), undefined)
  assert.equal(counted({}), undefined)
  assert.equal(counted({ prompt_tokens: 3 }), undefined)
  assert.equal(counted({ completion_tokens: 3 }), undefined)
  assert.equal(counted({ prompt_tokens: '3', completion_tokens: '4' }), undefined)
  assert.equal(counted({ prompt_tokens: 3, total_tokens: 8 }), 5)
  assert.equal(counted({ prompt_tokens: 3, completion_tokens: 4 }), 4)
})

test('the provider’s error message is found, however it is wrapped', () => {
  for (const [body, message] of [
    [{ error: { message: 'no', type: 't', code: 'c', param: 'p' } }, 'no'],
    [{ error: 'no' }, 'no'],
    [{ message: 'no' }, 'no'],
    [{ detail: 'no' }, 'no'],
    [{ detail: [{ loc: [] }] }, undefined],
    [{}, undefined],
  ] as const) {
    assert.equal(decodeErrorBody(body).message, message)
  }
})

test('citations and log probabilities stay with their text, whatever comes between', () => {
  const url_citation = {
    url: 'https://example.com',
    title: 'Example',
    start_index: 0,
    end_index: 2,
  }
  const token = (text: string) => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] })
  const said = (content: string): JsonObject => ({
    choices: [{ index: 0, delta: { content }, logprobs: { content: [token(content)] } }],
  })
  const call = { index: 0, id: 'call_1', function: { name: 'look', arguments: '{}' } }
  const events = decode(
    delta({ annotations: [{ type: 'url_citation', url_citation }] }),
    delta({ content: 'Hi' }),
    delta({ tool_calls: [call] }),
    said('one'),
    said('two'),
    delta({}, 'tool_calls'),
  )
  const citation = { url: 'https://example.com', title: 'Example', start: 0, end: 2 }
  assert.deepEqual(
    events.filter(({ type }) => type === 'text-citation'),
    [{ type: 'text-citation', choice: 0, block: 0, citation }],
  )
  const late = events.filter((event) => event.type === 'text-delta').at(-1)
  assert.equal(late?.text, 'onetwo')
  assert.deepEqual(
    late.logprobs?.map((each) => each.token),
    ['one', 'two'],
  )
})

test('counts beside the first words come before and after them: they cover them, too', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
  const chunk = (content: string) => ({ ...delta({ content }), usage })
  assert.deepEqual(typesOf(decode(chunk('a'), chunk('b'))), [
    'response-start',
    'usage',
    'text-start',
    'text-delta',
    'usage',
    'text-delta',
    'usage',
  ])
})

test('citations that come after a call has begun are told to be lost', () => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://x', title: 'x' } }]
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }
  const said = delta({ content: 'a' })
  const called = delta({ tool_calls: [call] })
  const late = decode(said, called, delta({ annotations }), delta({}, 'tool_calls'), '[DONE]')
  assert.deepEqual(typesOf(late).slice(-4), [
    'tool-call-end',
    'citations-lost',
    'choice-end',
    'response-end',
  ])
  const early = decode(said, delta({ annotations }), called, delta({}, 'tool_calls'), '[DONE]')
  assert.ok(!typesOf(early).includes('citations-lost'))
})
