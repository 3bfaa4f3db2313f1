// Custom tools come back as what the client declared, whatever the provider made of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { CanonicalEvent } from '../core/events.ts'
import { chatCodec } from './chat/codec.ts'
import { restoreCustomCalls, unwrapCustomInput } from './custom-tools.ts'

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
