// JSON inside the strings of a request costs as much to parse as the request itself, so it has a bound of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import type { Codec } from './codec.ts'
import { chatCodec } from './chat/codec.ts'
import { messagesCodec } from './messages/codec.ts'
import { responsesCodec } from './responses/codec.ts'

const FEW = `{"a":[${'{},'.repeat(10_000)}1]}`
const MANY = `{"a":[${'{},'.repeat(600_000)}1]}`
const HALF = `{"a":[${'[],'.repeat(300_000)}1]}`

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
  test(`${what} has at most half a million objects and lists`, () => {
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
