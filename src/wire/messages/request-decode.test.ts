// Parts of a messages request that other formats cannot express.
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
  assert.deepEqual(reasoning, { effort: 'high' })
  assert.deepEqual(dropped, ['thinking.display'])
  const known = decode({ thinking: { type: 'adaptive', display: 'omitted' } })
  assert.deepEqual(known.reasoning, { effort: 'high', display: 'omitted' })
  assert.deepEqual(known.dropped, [])
})

test('an effort beside thinking that is switched off is named', () => {
  const thinking = { type: 'disabled' }
  const { reasoning, dropped } = decode({ thinking, output_config: { effort: 'high' } })
  assert.deepEqual([reasoning, dropped], [{ effort: 'none' }, ['output_config.effort']])
  assert.deepEqual(decode({ thinking }).dropped, [])
})

test('thinking between tools alone is little thinking elsewhere, and named', () => {
  const thinking = { type: 'between_tools', display: 'omitted' }
  const { reasoning, dropped } = decode({ thinking })
  assert.deepEqual([reasoning, dropped], [{ effort: 'low', display: 'omitted' }, ['thinking.type']])
})

test('thinking as the model likes is a high effort, as this format has it', () => {
  assert.deepEqual(decode({ thinking: { type: 'adaptive' } }).reasoning, { effort: 'high' })
})
