// The arguments of calls: as many as models write are translated, more are refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { SAMPLE_CONVERSATION } from '../core/sample-conversation.ts'
import type { Message } from '../core/request.ts'
import { refuseLongInputs } from './tool-input.ts'

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
