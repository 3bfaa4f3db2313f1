// Custom tools come back as what the client declared, whatever the provider made of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TargetFormat } from '../../core/endpoints.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { chatCodec } from '../chat/codec.ts'
import { UPSTREAM_CODECS } from '../codecs.ts'
import { restoreCustomCalls, unwrapCustomInput } from './tools.ts'

const at = (block: number) => ({ choice: 0, block })

function called(block: number, name: string, pieces: readonly string[]): CanonicalEvent[] {
  return [
    { type: 'tool-call-start', ...at(block), id: `call_${block}`, name, custom: false },
    ...pieces.map((text): CanonicalEvent => ({ type: 'tool-call-delta', ...at(block), text })),
    { type: 'tool-call-end', ...at(block) },
  ]
}

test('a wrapped input is unwrapped at its end, and other calls stay as they are', () => {
  const restore = restoreCustomCalls(new Set(['patch']))
  const plain = called(1, 'weather', ['{"city":', '"Rome"}'])
  const events = [...called(0, 'patch', ['{"inp', 'ut":"*** Begin"}']), ...plain]
  assert.deepEqual(
    events.flatMap((event) => restore(event)),
    [
      { type: 'tool-call-start', ...at(0), id: 'call_0', name: 'patch', custom: true },
      { type: 'tool-call-delta', ...at(0), text: '*** Begin' },
      { type: 'tool-call-end', ...at(0) },
      ...plain,
    ],
  )
})

test('a wrapping that the model broke is passed on as the input', () => {
  for (const text of ['', 'free text', '{"input":1}', '[]']) {
    assert.equal(unwrapCustomInput(text), text)
  }
})

test('a chat client gets a custom call back as such', () => {
  const answer = chatCodec.encodeResponse(
    [
      { type: 'response-start', id: 'x', model: 'y' },
      ...called(0, 'patch', ['{"input":"*** Begin"}']),
      { type: 'choice-end', choice: 0, reason: 'tool-call' },
      { type: 'response-end' },
    ],
    {
      model: 'm',
      body: { tools: [{ type: 'custom', custom: { name: 'patch' } }] },
      createdAt: 0,
      now: () => 0,
      requestId: 'req_1',
      newId: (prefix) => prefix,
    },
  )
  const [choice] = answer['choices'] as { message: { tool_calls: unknown } }[]
  assert.deepEqual(choice?.message.tool_calls, [
    { id: 'call_0', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
  ])
})

// The names of tools that providers call.

/** A whole answer that calls one tool. */
const CALLS: Record<TargetFormat, (name: Json) => JsonObject> = {
  chat: (name) => ({
    choices: [{ message: { tool_calls: [{ function: { name, arguments: '{}' } }] } }],
  }),
  responses: (name) => ({ output: [{ type: 'function_call', name, arguments: '{}' }] }),
  messages: (name) => ({ content: [{ type: 'tool_use', name, input: {} }] }),
  gemini: (name) => ({
    candidates: [{ content: { parts: [{ functionCall: { name } }] }, finishReason: 'STOP' }],
  }),
  converse: (name) => ({
    output: { message: { content: [{ toolUse: { name, input: {} } }] } },
    stopReason: 'tool_use',
  }),
}

for (const [format, answer] of Object.entries(CALLS)) {
  test(`a ${format} provider that calls a tool without naming it has failed`, () => {
    const { decodeResponse } = UPSTREAM_CODECS[format as TargetFormat]
    for (const name of ['', null, 7, {}])
      assert.throws(() => decodeResponse(answer(name)), {
        code: 'provider_failed',
        message: /called a tool without naming it/,
      })
    decodeResponse(answer('f'))
  })
}
