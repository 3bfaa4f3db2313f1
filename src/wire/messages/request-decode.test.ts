// What a messages request may say that other formats have no word for.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { JsonObject } from '../../core/json.ts'
import { decodeRequest } from './request-decode.ts'

const decode = (fields: JsonObject) =>
  decodeRequest({
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'x' }],
    ...fields,
  })

test('a new way of showing thoughts is dropped and named, not refused', () => {
  const { reasoning, dropped } = decode({ thinking: { type: 'adaptive', display: 'updates' } })
  assert.deepEqual(reasoning, {})
  assert.deepEqual(dropped, ['thinking.display'])
  const known = decode({ thinking: { type: 'adaptive', display: 'omitted' } })
  assert.deepEqual(known.reasoning, { display: 'omitted' })
  assert.deepEqual(known.dropped, [])
})
