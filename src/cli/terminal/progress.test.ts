// The bar that long work shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barText } from './progress.ts'

for (const [part, filled, percent] of [
  [0, 0, 0],
  [0.5, 15, 50],
  [0.999, 29, 99],
  [1, 30, 100],
  // More rows than were counted, and none at all.
  [1.2, 30, 100],
  [NaN, 30, 100],
] as const)
  test(`a bar at ${part} has ${filled} strokes and says ${percent} %`, () => {
    const bar = '━'.repeat(filled) + '┄'.repeat(30 - filled)
    assert.equal(barText('Writing', part), `Writing  ${bar}  ${percent} %`)
  })
