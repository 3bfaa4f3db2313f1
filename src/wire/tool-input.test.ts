// The arguments of calls: as many as models write are translated, more are refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { SAMPLE_CONVERSATION } from '../core/sample-conversation.ts'
import type { Message } from '../core/request.ts'
import { refuseLongInputs } from './tool-input.ts'

function called(times: number, characters: number): Message[] {
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

test('the arguments of all calls together may have four million characters', () => {
  refuseLongInputs({ ...SAMPLE_CONVERSATION, messages: called(4, 1_000_000) })
  assert.throws(
    () => refuseLongInputs({ ...SAMPLE_CONVERSATION, messages: called(5, 1_000_000) }),
    {
      code: 'invalid_request',
      message: /5000000 characters of arguments; at most 4000000/,
    },
  )
})
