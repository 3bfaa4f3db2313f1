// Ids sort by the time they were made and do not repeat.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { newId } from './ids.ts'

test('ids sort by time', () => {
  const at = (now: number) => newId('req', { now: () => now, monotonicMs: () => 0 })
  const ids = [at(1), at(40), at(1_800_000_000_000), at(1_800_000_000_001)]
  assert.deepEqual(ids.toSorted(), ids)
  for (const id of ids) assert.match(id, /^req_[0-9a-hjkmnp-tv-z]{26}$/)
})

test('a thousand ids of one moment differ', () => {
  const clock = { now: () => 1_800_000_000_000, monotonicMs: () => 0 }
  const ids = new Set(Array.from({ length: 1000 }, () => newId('key', clock)))
  assert.equal(ids.size, 1000)
})
