// A provider's answer is read whatever its size; what is no JSON object is the provider's failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GatewayError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { readJsonAnswer } from './answer-json.ts'

test('a provider’s answer may have any number of values', () => {
  const data = Array.from({ length: 2_000_000 }, (_, index) => index % 7)
  const body = readJsonAnswer(Buffer.from(JSON.stringify({ data, model: 'a' })))
  assert.equal((body.value['data'] as Json[]).length, data.length)
})

test('what is not JSON is the provider’s failure, and none of it is told', () => {
  for (const text of ['', 'my private answer', '[1]', '{"a":']) {
    assert.throws(
      () => readJsonAnswer(Buffer.from(text)),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'provider_failed' &&
        error.cause === undefined &&
        !error.message.includes('private'),
      text,
    )
  }
})
