// A responses answer as clients see it, event by event, and as the official SDK reads it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import OpenAI from 'openai'
import { ANSWER, answerContext, at, BODY } from '../../../test/samples/answer.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { listOf, objectOf } from '../../core/json.ts'
import { writeSse } from '../contract/sse.ts'
import { encodeEvents, encodeResponse } from './answer-encode.ts'

const OUTPUT = [
  {
    id: 'rs_1',
    type: 'reasoning',
    status: 'completed',
    summary: [{ type: 'summary_text', text: 'Let me see.' }],
    encrypted_content:
      'tollgate.1.' +
      Buffer.from('{"format":"messages","kind":"signature","value":"signed"}').toString(
        'base64url',
      ),
  },
  {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'It is sunny.',
        annotations: [
          {
            type: 'url_citation',
            url: 'https://example.com',
            title: 'Sky',
            start_index: 0,
            end_index: 6,
          },
        ],
        logprobs: [],
      },
      { type: 'refusal', refusal: 'No more.' },
    ],
  },
  {
    id: 'fc_1',
    type: 'function_call',
    status: 'completed',
    call_id: 'call_1',
    name: 'weather',
    arguments: '{}',
  },
  {
    id: 'ctc_1',
    type: 'custom_tool_call',
    status: 'completed',
    call_id: 'call_2',
    name: 'patch',
    input: 'a "b"',
  },
  {
    id: 'fc_2',
    type: 'function_call',
    status: 'completed',
    call_id: 'call_3',
    name: 'find',
    namespace: 'crm',
    arguments: '{"id":1}',
  },
]

type Sent = { readonly name: string; readonly data: JsonObject }

function stream(events: readonly CanonicalEvent[], body: JsonObject = BODY): Sent[] {
  const encoder = encodeEvents(answerContext(body))
  return events
    .flatMap((event) => encoder.encode(event))
    .filter((event) => event.data !== '[DONE]')
    .map((event) => ({ name: event.event, data: JSON.parse(event.data) as JsonObject }))
}

function only(sent: readonly Sent[], name: string): JsonObject {
  const found = sent.filter((event) => event.name === name)
  assert.equal(found.length, 1, name)
  return found[0]?.data ?? {}
}

describe('responses: a streamed answer', () => {
  test('names its events after their type and numbers them all', () => {
    const sent = stream(ANSWER)
    assert.deepEqual(
      sent.map((event) => event.name.replace('response.', '')),
      [
        ...['created', 'in_progress'],
        ...['output_item.added', 'reasoning_summary_part.added'],
        ...['reasoning_summary_text.delta', 'reasoning_summary_text.delta'],
        ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done'],
        ...['output_item.added', 'content_part.added', 'output_text.delta', 'output_text.delta'],
        ...['output_text.annotation.added', 'output_text.done', 'content_part.done'],
        ...['content_part.added', 'refusal.delta', 'refusal.done', 'content_part.done'],
        ...['output_item.done', 'output_item.added', 'function_call_arguments.delta'],
        ...['function_call_arguments.done', 'output_item.done'],
        ...['output_item.added', 'custom_tool_call_input.delta', 'custom_tool_call_input.done'],
        ...['output_item.done', 'output_item.added', 'function_call_arguments.delta'],
        ...['function_call_arguments.done', 'output_item.done', 'completed'],
      ],
    )
    sent.forEach((event, index) => {
      assert.equal(event.data['type'], event.name)
      assert.equal(event.data['sequence_number'], index)
    })
  })

  test('ends with its only [DONE]', () => {
    const encoder = encodeEvents(answerContext(BODY))
    const text = ANSWER.flatMap((event) => encoder.encode(event)).map(writeSse)
    assert.deepEqual(
      text.filter((event) => event.includes('[DONE]')),
      ['data: [DONE]\n\n'],
    )
    assert.equal(text.at(-1), 'data: [DONE]\n\n')
  })

  test('ends with the items it announced as done, and equals the whole answer', () => {
    const sent = stream(ANSWER)
    const done = sent.filter((event) => event.name === 'response.output_item.done')
    assert.deepEqual(
      done.map((event) => event.data['item']),
      OUTPUT,
    )
    const { response } = only(sent, 'response.completed')
    assert.deepEqual((response as JsonObject)['output'], OUTPUT)
    assert.deepEqual(response, encodeResponse(ANSWER, answerContext(BODY)))
  })

  test('places a citation at its item and part', () => {
    const { item_id, output_index, content_index, annotation_index } = only(
      stream(ANSWER),
      'response.output_text.annotation.added',
    )
    assert.deepEqual([item_id, output_index, content_index, annotation_index], ['msg_1', 1, 0, 0])
  })
})

const REASONS = [
  ['stop', 'completed', null, 'completed'],
  ['pause', 'completed', null, 'completed'],
  ['limit', 'incomplete', { reason: 'max_output_tokens' }, 'incomplete'],
  ['context', 'incomplete', { reason: 'max_output_tokens' }, 'incomplete'],
  ['refusal', 'incomplete', { reason: 'content_filter' }, 'incomplete'],
] as const

for (const [reason, status, details, itemStatus] of REASONS) {
  test(`responses: an answer that ends with ${reason} is ${status}`, () => {
    const sent = stream([
      { type: 'response-start', id: 'x', model: 'x' },
      { type: 'text-start', ...at(0) },
      { type: 'text-delta', ...at(0), text: 'Hi' },
      { type: 'text-end', ...at(0) },
      { type: 'choice-end', choice: 0, reason },
      { type: 'response-end' },
    ])
    const response = only(sent, `response.${status}`)['response'] as JsonObject
    assert.equal(response['status'], status)
    assert.deepEqual(response['incomplete_details'], details)
    const [item] = response['output'] as JsonObject[]
    assert.equal(item?.['status'], itemStatus)
    assert.equal(response['completed_at'], status === 'completed' ? 1_700_000_002 : null)
  })
}

test('responses: the provider’s explanation becomes the refusal', () => {
  const explanation = 'This could do harm.'
  const sent = stream([
    { type: 'response-start', id: 'x', model: 'x' },
    { type: 'choice-end', choice: 0, reason: 'refusal', explanation },
    { type: 'response-end' },
  ])
  assert.equal(only(sent, 'response.refusal.delta')['delta'], explanation)
  const { output } = only(sent, 'response.incomplete')['response'] as JsonObject
  const [{ content } = {}] = output as JsonObject[]
  assert.deepEqual(content, [{ type: 'refusal', refusal: explanation }])
})

/** The keys that the Open Responses suite requires in every response object; null where it may be null. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  string: ['id', 'object', 'status', 'model', 'truncation', 'service_tier'],
  number: [
    ...['created_at', 'top_p', 'presence_penalty', 'frequency_penalty'],
    ...['top_logprobs', 'temperature'],
  ],
  boolean: ['parallel_tool_calls', 'store', 'background'],
  object: ['output', 'tools', 'text', 'reasoning', 'metadata'],
  any: [
    ...['completed_at', 'incomplete_details', 'previous_response_id', 'instructions', 'error'],
    ...['tool_choice', 'usage', 'max_output_tokens', 'max_tool_calls', 'safety_identifier'],
    ...['prompt_cache_key', 'access_programs'],
  ],
}

test('responses: the response object has every key in every state', () => {
  const encoder = encodeEvents(answerContext({ model: 'm', input: 'x' }))
  const begun: readonly CanonicalEvent[] = [{ type: 'response-start', id: 'x', model: 'x' }]
  const sent = [
    ...begun.flatMap((event) => encoder.encode(event)),
    ...encoder.fail(new GatewayError('provider_failed', 'gone')),
    ...encodeEvents(answerContext()).encode({ type: 'response-end' }),
  ]
  const responses = sent
    .filter((event) => event.data.includes('"response":'))
    .map((event) => (JSON.parse(event.data) as { response: JsonObject }).response)
  assert.equal(responses.length, 4)
  for (const response of responses) {
    for (const [type, names] of Object.entries(KEYS)) {
      for (const name of names) {
        const value = response[name]
        assert.notEqual(value, undefined, name)
        if (type !== 'any') assert.equal(typeof value, type, name)
      }
    }
    assert.equal('user' in response, false)
  }
})

test('responses: the response object repeats the request', () => {
  const response = encodeResponse(ANSWER, answerContext(BODY))
  assert.equal(response['instructions'], 'Be brief.')
  assert.equal(response['temperature'], 0.5)
  assert.equal(response['previous_response_id'], 'resp_0')
  assert.deepEqual(response['metadata'], { a: 'b' })
  const [weather, , crm, search] = response['tools'] as JsonObject[]
  assert.deepEqual(weather, {
    type: 'function',
    name: 'weather',
    parameters: { type: 'object' },
    description: null,
    strict: null,
  })
  assert.equal(crm?.['name'], 'crm')
  assert.equal(search, undefined, 'a hosted tool is not in effect')
  assert.deepEqual(response['usage'], {
    input_tokens: 20,
    input_tokens_details: {
      cached_tokens: 4,
      cache_write_tokens: 6,
      cache_write_tokens_details: { ttl_30m_tokens: 4, ttl_12h_tokens: 2 },
    },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 29,
  })
})

test('responses: a failure is an error in both shapes, then a failed response, and nothing more', () => {
  const encoder = encodeEvents(answerContext(BODY))
  const begun = encoder.encode({ type: 'response-start', id: 'x', model: 'x' })
  const [error, failed, ...more] = encoder.fail(
    new GatewayError('provider_overloaded', 'try later'),
  )
  assert.deepEqual(more, [])
  const told = {
    message: 'try later',
    type: 'server_error',
    param: null,
    code: 'server_error',
    tollgate_code: 'provider_overloaded',
  }
  assert.equal(error?.event, 'error')
  assert.deepEqual(JSON.parse(error?.data ?? ''), {
    type: 'error',
    sequence_number: begun.length,
    code: 'server_error',
    message: 'try later',
    param: null,
    tollgate_code: 'provider_overloaded',
    error: told,
  })
  const data = JSON.parse(failed?.data ?? '') as { response: JsonObject }
  assert.equal(data.response['status'], 'failed')
  assert.equal(data.response['id'], 'resp_1')
  assert.deepEqual(data.response['error'], told)
})

test('responses: the code of a failure is one of OpenAI’s own, with Tollgate’s beside it', () => {
  const judged = (code: string) => ({ provider: { status: 400, code } })
  const failures: [GatewayError, code: string, tollgate_code: string][] = [
    [new GatewayError('provider_failed', 'x'), 'server_error', 'provider_failed'],
    [new GatewayError('revoked_api_key', 'x'), 'server_error', 'revoked_api_key'],
    [
      new GatewayError('provider_rate_limited', 'x'),
      'rate_limit_exceeded',
      'provider_rate_limited',
    ],
    [
      new GatewayError('invalid_request', 'x', judged('context_length_exceeded')),
      'invalid_prompt',
      'context_length_exceeded',
    ],
    [
      new GatewayError('invalid_request', 'x', judged('image_too_large')),
      'image_too_large',
      'image_too_large',
    ],
  ]
  for (const [failure, code, tollgate_code] of failures) {
    const [error, failed] = encodeEvents(answerContext(BODY)).fail(failure)
    const flat = JSON.parse(error?.data ?? '') as JsonObject
    const { response } = JSON.parse(failed?.data ?? '') as JsonObject
    for (const told of [flat, objectOf(flat['error']), objectOf(objectOf(response)['error'])]) {
      assert.deepEqual([told['code'], told['tollgate_code']], [code, tollgate_code])
    }
  }
})

function client(text: string): OpenAI {
  return new OpenAI({
    apiKey: 'none',
    baseURL: 'http://gateway.invalid/v1',
    maxRetries: 0,
    fetch: () =>
      Promise.resolve(
        new Response(text, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }),
      ),
  })
}

function written(events: readonly CanonicalEvent[]): string {
  const encoder = encodeEvents(answerContext(BODY))
  return events
    .flatMap((event) => encoder.encode(event))
    .map(writeSse)
    .join('')
}

test('a whole answer has as many log probabilities as tokens, however long it is', () => {
  const logprob = { token: 'a', logprob: -1, bytes: [97], top: [] }
  const logprobs = Array.from({ length: 200_000 }, () => logprob)
  const { output } = encodeResponse(
    [
      { type: 'response-start', id: 'x', model: 'x' },
      { type: 'text-start', ...at(0) },
      { type: 'text-delta', ...at(0), text: 'a'.repeat(logprobs.length), logprobs },
      { type: 'text-end', ...at(0) },
      { type: 'choice-end', choice: 0, reason: 'stop' },
      { type: 'usage', usage: NO_USAGE },
      { type: 'response-end' },
    ],
    answerContext(BODY),
  )
  const [message] = listOf(output).map(objectOf)
  const [part] = listOf(message?.['content']).map(objectOf)
  assert.equal(listOf(part?.['logprobs']).length, logprobs.length)
})

describe('responses: the official SDK', () => {
  test('assembles the stream', async () => {
    const stream = client(written(ANSWER)).responses.stream({ model: 'public-model', input: 'hi' })
    const response = await stream.finalResponse()
    assert.equal(response.output_text, 'It is sunny.')
    assert.equal(response.status, 'completed')
    assert.deepEqual(
      response.output.map((item) => item.type),
      ['reasoning', 'message', 'function_call', 'custom_tool_call', 'function_call'],
    )
    assert.equal(response.usage?.total_tokens, 29)
  })

  test('throws a failure after the first byte', async () => {
    const encoder = encodeEvents(answerContext(BODY))
    const text = [
      ...encoder.encode({ type: 'response-start', id: 'x', model: 'x' }),
      ...encoder.fail(new GatewayError('provider_failed', 'the provider is gone')),
    ]
      .map(writeSse)
      .join('')
    const stream = await client(text).responses.create({ model: 'm', input: 'hi', stream: true })
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, /the provider is gone/)
  })

  test('reads an empty answer', async () => {
    const text = written([
      { type: 'response-start', id: 'x', model: 'x' },
      { type: 'choice-end', choice: 0, reason: 'stop' },
      { type: 'usage', usage: NO_USAGE },
      { type: 'response-end' },
    ])
    const stream = client(text).responses.stream({ model: 'public-model', input: 'hi' })
    assert.equal((await stream.finalResponse()).output_text, '')
  })
})
