// How soon a page shows new spending.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyQuery, limitsQuery } from './queries.ts'

test('the page of a key shows the cost of a call within three seconds', () => {
  for (const { refetchInterval } of [keyQuery('key_1'), limitsQuery('key_1', undefined)])
    assert.ok(Number(refetchInterval) <= 3_000, String(refetchInterval))
})
