// In every format a conversation is identified by its own key, else by its beginning.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Format } from '../../core/endpoints.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { CODECS } from '../codecs.ts'

const text = (value: string): JsonObject => ({ type: 'text', text: value })
const user = (content: Json): JsonObject => ({ role: 'user', content })
const SYSTEM = { role: 'system', content: 'Be brief.' }
const TURNS = [user([{ type: 'image_url' }, text('One')]), { role: 'assistant', content: 'x' }]
const BILLING = text('x-anthropic-billing-header: cc=1; h=0')
const SESSION = JSON.stringify({ device_id: 'd', session_id: 's-1' })
const LONG = 'x'.repeat(5000)
const CUT = 'x'.repeat(1024)

const CASES: readonly [Format, JsonObject, expected: string][] = [
  ['chat', { messages: [SYSTEM, ...TURNS] }, 'Be brief.\nOne'],
  ['chat', { messages: [SYSTEM, ...TURNS, user('Two')] }, 'Be brief.\nOne'],
  ['chat', { messages: [{ role: 'system', content: LONG }, user('One')] }, `${CUT}\nOne`],
  ['chat', { messages: [user('One')], prompt_cache_key: 'mine' }, 'mine'],
  ['messages', { messages: [user('One')] }, 'One'],
  ['messages', { system: [BILLING, text('Be kind.')], messages: TURNS }, 'Be kind.\nOne'],
  ['messages', { system: LONG, messages: TURNS }, `${CUT}\nOne`],
  ['messages', { messages: TURNS, metadata: { user_id: 'user-7' } }, 'One'],
  ['messages', { messages: TURNS, metadata: { user_id: SESSION } }, 's-1'],
  ['responses', { input: 'One' }, 'One'],
  ['responses', { instructions: 'Be brief.', input: [...TURNS, user('Two')] }, 'Be brief.\nOne'],
  ['responses', { input: [{ role: 'developer', content: LONG }, ...TURNS] }, `${CUT}\nOne`],
  ['responses', { input: 'One', prompt_cache_key: 'mine' }, 'mine'],
  ['embeddings', { input: ['One', 'Two'] }, 'One'],
  ['embeddings', { input: [1, 2, 3] }, '1,2,3'],
]

for (const [format, body, expected] of CASES) {
  test(`${format}: ${JSON.stringify(body).slice(0, 70)}`, () => {
    assert.equal(CODECS[format].affinityOf({ model: 'm', ...body }), expected)
  })
}
