// Figures that cross to the books must be whole, not negative, and small enough to be added up exactly. The code that
// computes them ensures that. This second check makes a bad figure fail only its own request, not the whole batch.
import { AssertionError } from 'node:assert'

import type { Nanodollars, Picodollars } from '../core/money.ts'

/** A price, or a cost computed from one: it is compared with budgets, so it needs no upper bound of its own. */
export function assertPicodollars(what: string, value: Picodollars): void {
  if (typeof value !== 'bigint' || value < 0n) fail(what, value)
}

const NANODOLLARS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** No budget pays for more than this, and sums of larger amounts would not be exact. */
export function assertNanodollars(what: string, value: Nanodollars): void {
  if (typeof value !== 'bigint' || value < 0n || value > NANODOLLARS_MAX) fail(what, value)
}

export function assertCount(what: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) fail(what, value)
}

/** The message is built only on failure: as an argument of `assert` it cost more than the check. */
function fail(what: string, value: number | bigint): never {
  throw new AssertionError({ message: `${value} is no ${what} that the books take` })
}
