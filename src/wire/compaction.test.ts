// A provider that compacts a conversation reads it twice and writes a summary, and no hold covers that. The request to
// do so is taken out of every format, also where its provider speaks the client's format, and named.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { JsonObject } from '../core/json.ts'
import { codecOf } from './codecs.ts'
import { readJsonBody } from './json.ts'

const COMPACTION = [{ type: 'compaction', compact_threshold: 1000 }]
const SEARCH = [{ type: 'web_search' }]

const REQUESTS: readonly (readonly ['chat' | 'responses' | 'messages', JsonObject])[] = [
  ['chat', { messages: [] }],
  ['responses', { input: 'Hi' }],
  ['messages', { messages: [], max_tokens: 9 }],
]

for (const [format, request] of REQUESTS) {
  test(`${format}: a list of compactions is dropped and named`, () => {
    const { readCall, forwardRequest } = codecOf(format)
    const body = { model: 'm', ...request, context_management: COMPACTION }
    assert.deepEqual(readCall(body).dropped, ['context_management'])
    const sent = forwardRequest(readJsonBody(Buffer.from(JSON.stringify(body))), { model: 'up' })
    assert.equal(sent.includes('context_management'), false)
    assert.deepEqual(readCall({ ...body, context_management: null }).dropped, [])
  })
}

test('responses: it is also named where the request may search', () => {
  const body = { model: 'm', input: 'Hi', tools: SEARCH, context_management: COMPACTION }
  assert.deepEqual(codecOf('responses').readCall(body).search?.dropped, ['context_management'])
})
