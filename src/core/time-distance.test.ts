// A distance in time has the unit and the count that people would use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS } from './durations.ts'
import { timeDistance } from './time-distance.ts'

const distances = [
  [0, 0, 'second'],
  [499, 0, 'second'],
  [59_000, 59, 'second'],
  [-59_999, -59, 'second'],
  [80_000, 1, 'minute'],
  [-125_000, -2, 'minute'],
  [-2 * HOUR_MS, -2, 'hour'],
  [-DAY_MS, -1, 'day'],
  [16 * DAY_MS, 16, 'day'],
  [7 * DAY_MS - 1_000, 7, 'day'],
  [1_000 - 7 * DAY_MS, -6, 'day'],
  [45 * DAY_MS, 2, 'month'],
  [400 * DAY_MS, 1, 'year'],
  [-800 * DAY_MS, -2, 'year'],
] as const

for (const [ms, count, unit] of distances)
  test(`${ms} ms: ${count} × ${unit}`, () => assert.deepEqual(timeDistance(ms), { unit, count }))

test('less than a second ago counts as zero', () => assert.ok(timeDistance(-900).count === 0))
