// Ids sort by the time they were made and do not repeat.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { firstIdAt, newId } from './ids.ts'

test('ids sort by time', () => {
  const at = (now: number) => newId('req', { now: () => now, monotonicMs: () => 0 })
  const ids = [at(1), at(40), at(1_800_000_000_000), at(1_800_000_000_001)]
  assert.deepEqual(ids.toSorted(), ids)
  for (const id of ids) assert.match(id, /^req_[0-9a-hjkmnp-tv-z]{26}$/)
})

test('a chat completion has an id of the form that clients know', () => {
  const id = newId('chatcmpl', { now: () => 1_800_000_000_000, monotonicMs: () => 0 })
  assert.match(id, /^chatcmpl-[0-9a-hjkmnp-tv-z]{26}$/)
})

test('a range of ids may begin at any date', () => {
  const made = newId('req', { now: () => 1_800_000_000_000, monotonicMs: () => 0 })
  const dates = ['-271821-04-20', '1969-12-31', '1970-01-01', '9999-12-31', '+275760-09-13']
  const firsts = dates.map((date) => firstIdAt('req', Date.parse(date)))
  for (const first of firsts) assert.match(first, /^req_[0-9a-hjkmnp-tv-z]{10}$/)
  assert.deepEqual(firsts.toSorted(), firsts)
  assert.deepEqual(
    firsts.map((first) => first <= made),
    [true, true, true, false, false],
  )
})

test('a thousand ids of one millisecond differ', () => {
  const clock = { now: () => 1_800_000_000_000, monotonicMs: () => 0 }
  const ids = new Set(Array.from({ length: 1000 }, () => newId('key', clock)))
  assert.equal(ids.size, 1000)
})
