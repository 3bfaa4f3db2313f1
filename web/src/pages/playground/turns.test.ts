// An answer grows with the events of its call, and only what the model said is told to it again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlayEvent } from '../../../../src/admin/contract/trial.ts'
import { heard, saidIn, type Turn } from './turns.ts'

const result: PlayEvent = {
  type: 'result',
  ...{ request_id: 'req_1', model: 'm', passes: true, status: 200, error: null },
  ...{ text: 'Hello there', target: 'p/m', input_tokens: 3, output_tokens: 2, cost: '0.001' },
  ...{ latency_ms: 90, first_token_ms: 40 },
}
const cutOff = { ...result, passes: false, text: null }
const progress = (text: string, latency_ms: number) =>
  ({ type: 'progress', text, output_tokens: 1, cost: '0.0005', latency_ms }) as const
const waiting: Turn = { role: 'assistant', content: '', call: { key: 'key_1' } }

test('words are added as they come, and the time of the first one is kept', () => {
  const events = [
    { type: 'began', request_id: 'req_1' } as const,
    ...[progress('', 15), progress('Hello', 42), progress(' there', 80)],
  ]
  const answer = events.reduce(heard, waiting)
  assert.equal(answer.content, 'Hello there')
  assert.equal(answer.call?.requestId, 'req_1')
  assert.equal(answer.call?.firstTokenMs, 42)
  assert.equal(answer.call?.progress?.latency_ms, 80)
  assert.equal(answer.call?.result, undefined)
})

test('the result has the last word, unless the call failed midway', () => {
  const begun = heard(waiting, progress('Hello', 42))
  assert.equal(heard(begun, result).content, 'Hello there')
  assert.equal(heard(begun, cutOff).content, 'Hello')
})

test('refusals and silence are not told to the model', () => {
  const question: Turn = { role: 'user', content: 'Hi' }
  const refused = heard(heard(waiting, progress('Half', 1)), {
    ...result,
    passes: false,
    text: null,
  })
  const answered = heard(waiting, result)
  assert.deepEqual(saidIn([question, refused, question, waiting, question, answered]), [
    question,
    question,
    question,
    { role: 'assistant', content: 'Hello there' },
  ])
})
