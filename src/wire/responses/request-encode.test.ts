// Canonical requests as a responses provider expects them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Conversation, Message } from '../../core/request.ts'
import { encodeRequest } from './request-encode.ts'

function encoded(rest: Partial<Conversation>): JsonObject {
  return encodeRequest({ ...SAMPLE_CONVERSATION, model: 'gpt-up', messages: [], ...rest })
}

const items = (...messages: readonly Message[]): Json | undefined => encoded({ messages })['input']

test('responses: a provider is told to store nothing and to return its reasoning encrypted', () => {
  assert.deepEqual(encoded({}), {
    model: 'gpt-up',
    input: [],
    store: false,
    include: ['reasoning.encrypted_content'],
  })
  for (const model of ['gpt-4o-mini', 'ft:gpt-4.1:x', 'gpt-3.5-turbo', 'gpt-5-chat-latest']) {
    assert.equal(encoded({ model })['include'], undefined, model)
  }
})

test('responses: only reasoning of this format is sent to its provider', () => {
  const opaque = { format: 'messages', kind: 'signature', value: 's' } as const
  assert.deepEqual(
    items({
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'foreign', opaque },
        { type: 'reasoning', text: 'bare' },
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    }),
    [
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a', annotations: [] },
          { type: 'output_text', text: 'b', annotations: [] },
        ],
      },
    ],
  )
})

test('responses: tool results, errors and long ids are encoded', () => {
  const image = { type: 'url', url: 'https://example.com/a.png' } as const
  assert.deepEqual(
    items(
      {
        role: 'assistant',
        parts: [
          { type: 'tool-call', id: 'a', name: 'f', input: '', custom: false },
          { type: 'tool-call', id: 'x'.repeat(70), name: 'c', input: '', custom: true },
        ],
      },
      { role: 'tool', callId: 'a', parts: [{ type: 'text', text: 'no' }], isError: true },
      { role: 'tool', callId: 'a', parts: [{ type: 'image', source: image }], isError: true },
      { role: 'tool', callId: 'x'.repeat(70), parts: [] },
    ),
    [
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: LONG_ID, name: 'c', input: '' },
      { type: 'function_call_output', call_id: 'a', output: 'Error: no' },
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'Error:' },
          { type: 'input_image', image_url: image.url, detail: 'auto' },
        ],
      },
      { type: 'custom_tool_call_output', call_id: LONG_ID, output: '' },
    ],
  )
})

/** An id that is too long becomes its hash, in the call and in the result alike. */
const LONG_ID = 'c71bd109227e23434ecf71fd0a344a209136c79ae5a0bda2b5ca442d699a3cd9'

test('responses: a result has the kind of the call it answers', () => {
  const call = (custom: boolean): Message => ({
    role: 'assistant',
    parts: [{ type: 'tool-call', id: 'call_0', name: 'f', input: '{}', custom }],
  })
  const result: Message = { role: 'tool', callId: 'call_0', parts: [] }
  const told = items(call(true), result, call(false), result) as JsonObject[]
  assert.deepEqual(
    told.map(({ type }) => type),
    ['custom_tool_call', 'custom_tool_call_output', 'function_call', 'function_call_output'],
  )
})

test('responses: text files become text, and other files get a name', () => {
  const content = (part: Extract<Message, { role: 'user' }>['parts'][number]): Json | undefined =>
    items({ role: 'user', parts: [part] })
  const file = (part: JsonObject): JsonObject[] => [
    { type: 'message', role: 'user', content: [part] },
  ]
  assert.deepEqual(
    content({ type: 'file', source: { type: 'text', text: 'words' }, name: 'a.txt' }),
    file({ type: 'input_text', text: 'a.txt\n\nwords' }),
  )
  assert.deepEqual(
    content({
      type: 'file',
      source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' },
    }),
    file({
      type: 'input_file',
      filename: 'document.pdf',
      file_data: 'data:application/pdf;base64,AAAA',
    }),
  )
})

test('responses: a tool is not strict unless it says so', () => {
  const [tool] = encoded({ tools: [{ type: 'function', name: 'f', schema: {} }] })[
    'tools'
  ] as JsonObject[]
  assert.equal(tool?.['strict'], false)
})

const REASONING = [
  [{ effort: 'low' }, { effort: 'low' }],
  [{ tokensMax: 5000 }, { effort: 'high', summary: 'auto' }],
  [{ tokensMax: 5000, display: 'omitted' }, { effort: 'high' }],
  [{ display: 'omitted' }, undefined],
] as const
for (const [reasoning, expected] of REASONING) {
  test(`responses: reasoning ${JSON.stringify(reasoning)} is encoded`, () => {
    assert.deepEqual(encoded({ reasoning })['reasoning'], expected)
  })
}

test('responses: names of users and caches are shortened to 64 characters', () => {
  const body = encoded({ endUser: 'u'.repeat(200), cacheKey: 'k'.repeat(200) })
  assert.equal(String(body['safety_identifier']).length, 64)
  assert.equal(String(body['prompt_cache_key']).length, 64)
})
