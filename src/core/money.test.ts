// Amounts survive reading and writing exactly; what is not an amount is refused with a reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  formatUsd,
  parseBudget,
  parseUsd,
  pricePerMillion,
  roundUpToNanodollars,
  tighterLimit,
} from './money.ts'

test('USD text converts to nano-USD and back', () => {
  for (const [text, amount] of [
    ['0', 0n],
    ['12', 12_000_000_000n],
    ['0.5', 500_000_000n],
    ['0.000000001', 1n],
    ['9000000', 9_000_000_000_000_000n],
    ['1.230000001', 1_230_000_001n],
  ] as const) {
    assert.equal(parseUsd(text), amount)
    assert.equal(formatUsd(amount), text)
  }
  assert.equal(parseUsd(' 1.50\n'), 1_500_000_000n)
  assert.equal(formatUsd(-1n), '-0.000000001')
})

test('text that is not an amount is refused', () => {
  for (const text of ['', '-1', '1e3', 'NaN', '.5', '5.', '1.0000000001', '0x10', 'ten']) {
    assert.throws(() => parseUsd(text), RangeError, text)
  }
  assert.equal(parseBudget('9000000'), 9_000_000_000_000_000n)
  assert.throws(() => parseBudget('9000000.000000001'), /at most 9000000 USD/)
})

test('the lower of two limits applies, and a missing one is ignored', () => {
  assert.deepEqual([tighterLimit(1n, 2n), tighterLimit(2n, 1n)], [1n, 1n])
  assert.deepEqual([tighterLimit(0n, null), tighterLimit(null, 0n)], [0n, 0n])
  assert.equal(tighterLimit(null, null), null)
})

test('fractions of a nano-dollar round up', () => {
  assert.equal(roundUpToNanodollars(0n), 0n)
  assert.equal(roundUpToNanodollars(1n), 1n)
  assert.equal(roundUpToNanodollars(1000n), 1n)
  assert.equal(roundUpToNanodollars(1001n), 2n)
  assert.throws(() => roundUpToNanodollars(-1n), RangeError)
})

test('prices per million tokens are exact, and finer ones round up', () => {
  assert.equal(pricePerMillion(0), 0n)
  assert.equal(pricePerMillion(1), 1_000_000n)
  assert.equal(pricePerMillion(0.075), 75_000n)
  for (const usd of [0.1, 0.07, 1.1, 4.35, 0.000001, 999_999.999999]) {
    assert.equal(pricePerMillion(usd), BigInt(usd.toFixed(6).replace('.', '')), String(usd))
  }
  assert.equal(pricePerMillion(1 / 3), 333_334n, 'what is finer rounds up, as costs do')
  assert.equal(pricePerMillion(0.08333333333333334), 83_334n)
  assert.equal(pricePerMillion(0.0000001), 1n, 'and is never free')
  assert.throws(() => pricePerMillion(-0.0000001), RangeError)
  assert.throws(() => pricePerMillion(-1), RangeError)
  assert.throws(() => pricePerMillion(Number.NaN), RangeError)
})
