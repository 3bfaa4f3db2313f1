// Calls that share an id in a conversation are kept apart, each with its own result.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTEXT } from '../../../test/samples/answer-context.ts'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { TargetFormat } from '../../core/endpoints.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message, ToolCallPart } from '../../core/request.ts'
import { chatCodec } from '../chat/codec.ts'
import { UPSTREAM_CODECS } from '../codecs.ts'
import { messagesCodec } from '../messages/codec.ts'
import { responsesCodec } from '../responses/codec.ts'
import { refuseLongInputs, withUniqueCallIds } from './tools.ts'

const call = (id: string, name: string): ToolCallPart => ({
  type: 'tool-call',
  id,
  name,
  input: '{}',
  custom: false,
})
const called = (...parts: ToolCallPart[]): Message => ({ role: 'assistant', parts })
const result = (callId: string, text: string): Message => ({
  role: 'tool',
  callId,
  parts: [{ type: 'text', text }],
})
const asks: Message = { role: 'user', parts: [{ type: 'text', text: 'When?' }] }

/** As made by a server that reuses the same ids in every answer. */
const REPEATED: readonly Message[] = [
  asks,
  called(call('call_0', 'one'), call('call_1', 'two')),
  result('call_1', 'of two'),
  result('call_0', 'of one'),
  called(call('call_0', 'three')),
  result('call_0', 'of three'),
]

test('a call that reuses an earlier id gets a new one, and so does its result', () => {
  assert.deepEqual(withUniqueCallIds(REPEATED), [
    ...REPEATED.slice(0, 4),
    called(call('call_0_2', 'three')),
    result('call_0_2', 'of three'),
  ])
})

test('a new id does not collide with an existing one', () => {
  const messages = [called(call('a', 'f'), call('a_2', 'f'), call('a', 'f')), result('a', 'x')]
  assert.deepEqual(withUniqueCallIds(messages), [
    called(call('a', 'f'), call('a_2', 'f'), call('a_3', 'f')),
    result('a_3', 'x'),
  ])
})

test('unique ids stay as they are', () => {
  const messages = REPEATED.slice(0, 4)
  assert.equal(withUniqueCallIds(messages), messages)
})

for (const format of ['messages', 'converse', 'gemini'] as const satisfies TargetFormat[]) {
  test(`${format}: every call has a unique id, and every result belongs to its call`, () => {
    const { encodeRequest } = UPSTREAM_CODECS[format]
    const text = JSON.stringify(encodeRequest({ ...SAMPLE_CONVERSATION, messages: REPEATED }))
    const ids = [...text.matchAll(/"(?:id|toolUseId)":"([^"]+)","name"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, text)
    if (format !== 'gemini') return assert.match(text, /call_0_2"[^}]*of three/)
    const results = [...text.matchAll(/"functionResponse":\{"name":"(\w+)"[^}]*of (\w+)/g)]
    assert.deepEqual(
      results.map(([, name]) => name),
      results.map(([, , said]) => said),
      text,
    )
  })
}

/** A whole answer that calls a tool twice, with the same id or none. */
const TWO_CALLS: Record<TargetFormat, (id: object) => JsonObject> = {
  chat: (id) => ({
    choices: [
      {
        message: {
          tool_calls: [
            { ...id, function: FUNCTION },
            { ...id, function: FUNCTION },
          ],
        },
      },
    ],
  }),
  responses: (id) => ({
    output: [0, 1].map(() => ({ ...id, ...FUNCTION, type: 'function_call' })),
  }),
  messages: (id) => ({ content: [0, 1].map(() => ({ ...id, type: 'tool_use', name: 'f' })) }),
  gemini: (id) => ({
    candidates: [
      {
        content: { parts: [0, 1].map(() => ({ functionCall: { ...id, name: 'f' } })) },
        finishReason: 'STOP',
      },
    ],
  }),
  converse: () => ({
    output: { message: { content: [0, 1].map(() => ({ toolUse: { name: 'f', input: {} } })) } },
    stopReason: 'tool_use',
  }),
}
const FUNCTION = { name: 'f', arguments: '{}' }

for (const [format, answer] of Object.entries(TWO_CALLS)) {
  for (const id of [{}, { id: '', call_id: '' }]) {
    test(`calls of a ${format} provider that have ${'id' in id ? 'empty ids' : 'no ids'} get some`, () => {
      const events = UPSTREAM_CODECS[format as TargetFormat].decodeResponse(answer(id))
      const ids = events.flatMap((event) => (event.type === 'tool-call-start' ? [event.id] : []))
      assert.equal(new Set(ids).size, 2, ids.join())
      for (const each of ids) assert.match(each, /^call_/)
    })
  }
}

for (const codec of [chatCodec, responsesCodec, messagesCodec]) {
  test(`${codec.format}: an id that a provider gives to two calls reaches the client once`, () => {
    const events = UPSTREAM_CODECS.gemini.decodeResponse(TWO_CALLS.gemini({ id: 'call_0' }))
    const text = JSON.stringify(codec.encodeResponse(events, SAMPLE_CONTEXT))
    assert.equal(text.split('"call_0"').length - 1, 1, text)
    assert.match(text, /"(call|toolu)_new"/)
  })
}

// The arguments of calls: as many as models write are translated, more are refused.

function callsOf(times: number, characters: number): Message[] {
  return Array.from({ length: times }, (_, index) => ({
    role: 'assistant',
    parts: [
      {
        type: 'tool-call',
        id: `c${index}`,
        name: 'f',
        input: 'x'.repeat(characters),
        custom: false,
      },
    ],
  }))
}

test('the arguments of all calls together may have fifty thousand fields', () => {
  const input = JSON.stringify(
    Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`a:${index}`, ':'])),
  )
  const calls = (times: number): Message[] =>
    callsOf(times, 0).map((message) => ({
      ...message,
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c', name: 'f', input, custom: false }],
    }))
  refuseLongInputs({ ...SAMPLE_CONVERSATION, messages: calls(1) })
  assert.throws(() => refuseLongInputs({ ...SAMPLE_CONVERSATION, messages: calls(2) }), {
    code: 'invalid_request',
    message: /60000 fields in their arguments; at most 50000/,
  })
})

test('the arguments of all calls together may have four million characters', () => {
  refuseLongInputs({ ...SAMPLE_CONVERSATION, messages: callsOf(4, 1_000_000) })
  assert.throws(
    () => refuseLongInputs({ ...SAMPLE_CONVERSATION, messages: callsOf(5, 1_000_000) }),
    {
      code: 'invalid_request',
      message: /5000000 characters of arguments; at most 4000000/,
    },
  )
})
