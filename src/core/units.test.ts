// Durations and sizes as people write them.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { formatSize, parseDuration, parseSize } from './units.ts'

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
