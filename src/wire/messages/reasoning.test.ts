// The thoughts of earlier turns are removed: foreign ones, or all of them. The thinking budget is removed too where the
// turn to continue would no longer begin with a thought.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../core/json.ts'
import { packSeal } from '../content/opaque-reasoning.ts'
import { readJsonBody } from '../json/body.ts'
import { readCall } from './call.ts'
import { forwardRequest } from './forward.ts'
import { withoutReasoning } from './reasoning.ts'

const OWN = { type: 'thinking', thinking: 'mine', signature: 'c2ln' }
const FOREIGN = {
  type: 'redacted_thinking',
  data: packSeal({ format: 'responses', kind: 'encrypted', value: 'x' }, 'messages'),
}
const CALL = { type: 'tool_use', id: 't', name: 'f', input: {} }
const ASKS = { role: 'user', content: 'Hello' }
const RESULT = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] }
const BUDGET = { type: 'enabled', budget_tokens: 1024 }
const answers = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content })

test('the budget is removed if the turn to continue no longer begins with a thought', () => {
  const cases: [string, JsonObject[], JsonObject, JsonObject | undefined][] = [
    ['after a call', [ASKS, answers(FOREIGN, CALL), RESULT], BUDGET, undefined],
    ['after its first words', [ASKS, answers(FOREIGN, CALL)], BUDGET, undefined],
    [
      'after a second call',
      [ASKS, answers(FOREIGN, CALL), RESULT, answers(OWN, CALL), RESULT],
      BUDGET,
      undefined,
    ],
    ['thought before', [ASKS, answers(OWN, FOREIGN, CALL), RESULT], BUDGET, BUDGET],
    [
      'in the next turn',
      [ASKS, answers(FOREIGN, CALL), RESULT, answers(OWN), ASKS],
      BUDGET,
      BUDGET,
    ],
    [
      'a model that chooses itself',
      [ASKS, answers(FOREIGN, CALL), RESULT],
      { type: 'adaptive' },
      { type: 'adaptive' },
    ],
    ['as the client sent it', [ASKS, answers(CALL), RESULT], BUDGET, BUDGET],
  ]
  for (const [name, messages, thinking, left] of cases) {
    const body = { model: 'm', max_tokens: 4096, messages, thinking }
    const bytes = Buffer.from(JSON.stringify(body))
    const sent = JSON.parse(
      Buffer.from(forwardRequest(readJsonBody(bytes), { model: 'm' })).toString(),
    ) as JsonObject
    assert.deepEqual(sent['thinking'], left, name)
    const names = readCall(body).droppedAtHome ?? []
    assert.equal(names.includes('thinking'), left === undefined, name)
  }
})

test('all thoughts are removed, along with a turn that held nothing else', () => {
  const messages = [ASKS, answers(OWN), answers(FOREIGN, CALL), RESULT]
  assert.deepEqual(withoutReasoning({ messages }), {
    changes: { messages: [ASKS, answers(CALL), RESULT] },
    dropped: ['messages.content.thinking'],
  })
  assert.equal(withoutReasoning({ messages: [ASKS, answers(CALL), RESULT] }), undefined)
})

test('numbers beside a thought keep all their digits', () => {
  const body = `{"model":"m","messages":[{"role":"assistant","content":[${JSON.stringify(FOREIGN)},{"type":"tool_use","input":{"id":12345678901234567890}}]}]}`
  const sent = Buffer.from(forwardRequest(readJsonBody(Buffer.from(body)), { model: 'm' }))
  assert.match(sent.toString(), /"id":12345678901234567890/)
})
