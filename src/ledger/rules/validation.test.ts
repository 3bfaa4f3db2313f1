// What may cross to the books, and what is stopped before it can fail the others in its batch.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_ASK as ask } from '../../../test/samples/ledger-rows.ts'
import { NO_COST } from '../../catalog/worst-case.ts'
import { assertCount, assertNanodollars, assertPicodollars, checkedAsk } from './validation.ts'

test('an ask crosses to the books without the signal of its client', () => {
  assert.deepEqual(checkedAsk({ ...ask, signal: AbortSignal.abort() }), {
    ...ask,
    isLastTry: false,
  })
})

test('a figure that is not a whole, non-negative number is stopped', () => {
  for (const wrong of [0.5, -1, NaN, Infinity, 2 ** 53]) {
    for (const name of ['outputTokens', 'outputTokensMinimum']) {
      const broken = { ...ask, candidates: [NO_COST, { ...NO_COST, [name]: wrong }] }
      assert.throws(() => checkedAsk(broken), { name: 'AssertionError' }, `${name} ${wrong}`)
    }
    const broken = { ...ask, estimatedTokens: wrong }
    assert.throws(() => checkedAsk(broken), { name: 'AssertionError' }, `estimated ${wrong}`)
  }
  for (const name of ['fixedPicodollars', 'outputTokenPicodollars']) {
    const broken = { ...ask, candidates: [{ ...NO_COST, [name]: -1n }] }
    assert.throws(() => checkedAsk(broken), { name: 'AssertionError' }, name)
  }
})

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
