// JSON inside the strings of a request costs as much to parse as the request itself, so it has a bound of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { chatCodec } from '../chat/codec.ts'
import { CODECS } from '../codecs.ts'
import { readCountCall } from '../messages/call.ts'
import { messagesCodec } from '../messages/codec.ts'
import { responsesCodec } from '../responses/codec.ts'
import type { Codec } from './codec.ts'
import { textsOf } from './measure.ts'

const FEW = `{"a":[${'{},'.repeat(199_000)}1]}`
const MANY = `{"a":[${'{},'.repeat(200_000)}1]}`
const HALF = `{"a":[${'[],'.repeat(100_000)}1]}`

const REQUESTS: Readonly<Record<string, readonly [Codec, (text: string) => JsonObject]>> = {
  'a tool call in chat': [chatCodec, (text) => ({ messages: [chatCall(text)] })],
  'a tool result in chat': [
    chatCodec,
    (content) => ({ messages: [{ role: 'tool', tool_call_id: 'a', content }] }),
  ],
  'a tool call in responses': [
    responsesCodec,
    (text) => ({ input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: text }] }),
  ],
  'a tool result in responses': [
    responsesCodec,
    (output) => ({ input: [{ type: 'function_call_output', call_id: 'a', output }] }),
  ],
  'a tool result in messages': [
    messagesCodec,
    (content) => ({
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] }],
    }),
  ],
}

for (const [what, [codec, request]] of Object.entries(REQUESTS)) {
  test(`${what} has at most two hundred thousand objects and lists`, () => {
    codec.readCall({ model: 'm', ...request(FEW) })
    assert.throws(() => codec.readCall({ model: 'm', ...request(MANY) }), isTooComplex)
  })
}

test('the tool calls of a request are counted together', () => {
  const body = { model: 'm', messages: [chatCall(HALF), chatCall(HALF)] }
  assert.throws(() => chatCodec.readCall(body), isTooComplex)
})

function chatCall(text: string): JsonObject {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: text } }
  return { role: 'assistant', tool_calls: [call] }
}

function isTooComplex(error: unknown): boolean {
  return error instanceof GatewayError && error.status === 400 && /objects and/.test(error.message)
}

// A tokenizer is shown everything that was measured in a body, byte for byte, except opaque reasoning.

const textsIn = (format: Format, body: JsonObject): string[] =>
  textsOf(CODECS[format].readCall, { model: 'm', ...body })

test('the texts of chat, responses and messages bodies are collected', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const tool = { type: 'function', function: { name: 'f' } }
  const chat = [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
    { role: 'a long word', content: '' },
  ]
  assert.deepEqual(
    textsIn('chat', { messages: chat, tools: [tool] }).filter((text) => text !== ''),
    ['be brief', 'look', 'a long word', JSON.stringify(tool)],
  )
  const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { city: 'Bonn' } }
  const document = { type: 'document', source: { type: 'text', data: 'once upon a time' } }
  assert.deepEqual(
    textsIn('messages', {
      max_tokens: 9,
      system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }] },
        { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'c2ln' }, call] },
        { role: 'user', content: [document, { type: 'tool_result', content: 'rain' }] },
      ],
    }),
    ['be brief', 'hm', JSON.stringify(call), 'once upon a time', 'rain'],
  )
  const reasoning = { type: 'reasoning', summary: [], encrypted_content: 'c2ln' }
  const more = { type: 'additional_tools', tools: [{ type: 'function', name: 'g' }] }
  assert.deepEqual(textsIn('responses', { instructions: 'be brief', input: [reasoning, more] }), [
    'be brief',
    '[]',
    JSON.stringify(more.tools[0]),
  ])
})

const FORMATS = ['chat', 'responses', 'messages', 'embeddings'] as const

test('every measured byte of any body is either shown or opaque', () => {
  fc.assert(
    fc.property(fc.constantFrom(...FORMATS), anyBody, (format, body) => {
      assertAllShown(format, body)
    }),
    { numRuns: 2_000 },
  )
})

test('the texts of a count request are collected alike', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'four' }] }
  assert.deepEqual(textsOf(readCountCall, body), ['four'])
})

function assertAllShown(format: Format, body: JsonObject): void {
  const codec = CODECS[format]
  let measured
  try {
    measured = codec.readCall(body).input
  } catch (error) {
    // A body that is refused is never counted.
    assert.ok(error instanceof GatewayError, String(error))
    return
  }
  const { textBytes, jsonBytes, opaqueBytes = 0 } = measured
  const texts = textsOf(codec.readCall, body)
  const shownBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  assert.equal(shownBytes + opaqueBytes, textBytes + jsonBytes)
}

/** Names that some format knows, for members with any content. */
const NAMES = [
  ...['type', 'role', 'content', 'text', 'data', 'source', 'title', 'input', 'output', 'name'],
  ...['summary', 'encrypted_content', 'signature', 'thinking', 'tools', 'parameters', 'arguments'],
  ...['tool_calls', 'function', 'refusal', 'image_url', 'cache_control', 'id', 'lore'],
]
const TYPES = [
  ...['text', 'input_text', 'output_text', 'document', 'thinking', 'redacted_thinking', 'message'],
  ...['reasoning', 'function_call', 'function_call_output', 'additional_tools', 'tool_use'],
  ...['tool_result', 'search_result', 'image', 'image_url', 'input_image', 'file', 'hologram'],
  ...['function', 'refusal', 'content', 'user', 'assistant', 'tool'],
]
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...TYPES),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}))
const anyBody: fc.Arbitrary<JsonObject> = fc
  .record({
    messages: fc.array(anyValue, { maxLength: 3 }),
    input: fc.oneof(fc.string(), fc.array(anyValue, { maxLength: 3 })),
    system: anyValue,
    instructions: anyValue,
    tools: fc.array(anyValue, { maxLength: 2 }),
    response_format: anyValue,
    text: anyValue,
    lore: anyValue,
  })
  .map((body) => ({ ...body, model: 'm', max_tokens: 9 }))
