// Durations and sizes as people write them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, formatSize, HOUR_MS, parseDuration, parseSize, timeDistance } from './units.ts'

test('durations are read as milliseconds', () => {
  for (const [text, ms] of [
    ['500ms', 500],
    ['0.2s', 200],
    ['3s', 3_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['0', 0],
    ['3', undefined],
    ['-1s', undefined],
    ['1.2.3s', undefined],
    ['.5s', undefined],
    ['3 weeks', undefined],
  ] as const) {
    assert.equal(parseDuration(text), ms, text)
  }
})

test('sizes are read as bytes', () => {
  for (const [text, bytes] of [
    ['1B', 1],
    ['512KB', 524_288],
    ['32 mb', 33_554_432],
    ['1GB', 1_073_741_824],
    ['32', undefined],
    ['1.5MB', undefined],
    ['1TB', undefined],
  ] as const) {
    assert.equal(parseSize(text), bytes, text)
  }
})

test('sizes are written in the largest unit that divides them', () => {
  for (const [bytes, text] of [
    [1, '1 B'],
    [1_024, '1 KB'],
    [1_536, '1536 B'],
    [512 * 1_024, '512 KB'],
    [32 * 1_048_576, '32 MB'],
    [1_073_741_824, '1 GB'],
  ] as const) {
    assert.equal(formatSize(bytes), text)
  }
})

// A distance in time has the unit and the count that people would use.

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
