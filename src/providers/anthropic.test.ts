// Which of a client's betas are passed on to a cloud, and which are reported back to the client instead.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takenBetas, untakenBetas } from './anthropic.ts'

test('every beta in the header is either passed on or reported', () => {
  for (const [header, taken, named] of [
    ['', [], []],
    [' , ', [], []],
    ['interleaved-thinking-2025-05-14', ['interleaved-thinking-2025-05-14'], []],
    ['oauth-2025-04-20', [], ['anthropic-beta.oauth-2025-04-20']],
    [
      'a-1,computer-use-2025-01-24 ,a-1,context-management-2025-06-27',
      ['computer-use-2025-01-24', 'context-management-2025-06-27'],
      ['anthropic-beta.a-1'],
    ],
  ] as const) {
    const headers = new Map([['anthropic-beta', header]])
    assert.deepEqual([takenBetas(headers), untakenBetas(headers)], [taken, named], header)
  }
  assert.deepEqual([takenBetas(new Map()), untakenBetas(new Map())], [[], []])
})
