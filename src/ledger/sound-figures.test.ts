// Figures at the edge of what the books take, and beyond it.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { assertCount, assertNanodollars, assertPicodollars } from './sound-figures.ts'

const MOST = Number.MAX_SAFE_INTEGER

for (const [name, check, good, bad] of [
  ['nano-dollars', assertNanodollars, [0n, BigInt(MOST)], [-1n, BigInt(MOST) + 1n, 1, undefined]],
  ['pico-dollars', assertPicodollars, [0n, BigInt(MOST) * 1_000n], [-1n, 1, undefined]],
  ['counts', assertCount, [0, MOST], [-1, MOST + 1, 0.5, NaN, Infinity, 1n, undefined]],
] as const)
  test(`${name} are whole, not negative, and small enough to add up`, () => {
    const checked = check as (what: string, value: unknown) => void
    for (const value of good) checked('figure', value)
    for (const value of bad)
      assert.throws(() => checked('figure', value), {
        message: `${value} is no figure that the books take`,
      })
  })
