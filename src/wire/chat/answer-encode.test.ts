// Canonical events as chunks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeEvents } from './answer-encode.ts'

test('a ping of the provider is not passed on: the gateway keeps its own connections alive', () => {
  const encoder = encodeEvents({
    model: 'public-model',
    body: {},
    createdAt: 1,
    now: () => 2,
    requestId: 'req_1',
    newId: (prefix) => `${prefix}_1`,
  })
  assert.deepEqual(encoder.encode({ type: 'ping' }), [])
})
