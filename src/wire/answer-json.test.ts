// A provider's answer is read whatever its size; anything but a JSON object is the provider's failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GatewayError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { processorMs } from '../core/sample-time.ts'
import { readJsonAnswer } from './answer-json.ts'

test('a provider’s answer may have any number of values', () => {
  const data = Array.from({ length: 2_000_000 }, (_, index) => index % 7)
  const body = readJsonAnswer(Buffer.from(JSON.stringify({ data, model: 'a' })))
  assert.equal((body.value['data'] as Json[]).length, data.length)
})

test('an answer nested millions of levels deep is the provider’s failure, and found quickly', () => {
  const deep = `${'['.repeat(8_000_000)}${']'.repeat(8_000_000)}`
  const startedMs = processorMs()
  assert.throws(() => readJsonAnswer(Buffer.from(`{"a":${deep}}`)), /is not JSON/)
  // Parsing it would take ten times as long, and writing it again an hour.
  assert.ok(processorMs() - startedMs < 5_000)
})

test('an answer that is not JSON is the provider’s failure, and none of it is quoted', () => {
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
