// Every spelling of a retry delay that was seen in the wild.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterOf } from './answers.ts'

test('every spelling of a retry delay becomes seconds', () => {
  const date = 'Sun, 15 Nov 2026 12:00:00 GMT'
  const cases: readonly [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '7', 'retry-after-ms': '250' }, 0.25],
    [{ 'retry-after': 'Sun, 15 Nov 2026 12:00:30 GMT', date }, 30],
    [{ 'retry-after': 'Sun, 15 Nov 2026 11:00:00 GMT', date }, undefined],
    [{ 'retry-after': 'Sun, 15 Nov 2026 12:00:30 GMT' }, undefined],
    [{ 'retry-after': 'soon', date }, undefined],
  ]
  for (const [headers, seconds] of cases) {
    assert.equal(retryAfterOf(new Map(Object.entries(headers))), seconds, JSON.stringify(headers))
  }
})
