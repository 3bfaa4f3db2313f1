// The thoughts of earlier turns are removed from a chat request: those that another format sealed, or all of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../core/json.ts'
import { packSeal } from '../content/opaque-reasoning.ts'
import { readJsonBody } from '../json/body.ts'
import { readCall } from './call.ts'
import { forwardRequest } from './forward.ts'
import { withoutReasoning } from './reasoning.ts'

const OWN = { type: 'reasoning.text', text: 'mine', signature: 'c2ln' }
const FOREIGN = {
  type: 'reasoning.text',
  text: 'theirs',
  signature: packSeal({ format: 'messages', kind: 'signature', value: 'x' }, 'chat'),
}
const ASKS = { role: 'user', content: 'tollgate.1. is a word like any other' }
const said = (more: JsonObject): JsonObject => ({ role: 'assistant', content: 'Hello', ...more })

test('thoughts sealed by another format are dropped and named, and the rest is passed on', () => {
  const cases: [JsonObject, JsonObject, readonly string[] | undefined][] = [
    [said({ reasoning_details: [OWN] }), said({ reasoning_details: [OWN] }), undefined],
    [
      said({ reasoning_details: [FOREIGN, OWN] }),
      said({ reasoning_details: [OWN] }),
      ['messages.reasoning_details'],
    ],
    [said({ reasoning_details: [FOREIGN] }), said({}), ['messages.reasoning_details']],
  ]
  for (const [message, left, names] of cases) {
    const body = { model: 'm', messages: [ASKS, message] }
    const bytes = Buffer.from(JSON.stringify(body))
    const sent = forwardRequest(readJsonBody(bytes), { model: 'm' })
    assert.deepEqual(JSON.parse(Buffer.from(sent).toString()), { ...body, messages: [ASKS, left] })
    assert.deepEqual(readCall(body).droppedAtHome, names)
  }
})

test('all thoughts are removed, whatever their field is called', () => {
  const thoughts = { reasoning: 'a', reasoning_content: 'b', reasoning_details: [OWN, FOREIGN] }
  assert.deepEqual(withoutReasoning({ messages: [ASKS, said(thoughts)] }), {
    changes: { messages: [ASKS, said({})] },
    dropped: ['messages.reasoning_details'],
  })
  assert.equal(withoutReasoning({ messages: [ASKS, said({ reasoning: null })] }), undefined)
})
