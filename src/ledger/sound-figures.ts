// What crosses to the books must be whole, not negative, and small enough to be added up exactly. Whoever computed it has
// seen to that; this is the second look, and a figure that fails it fails the one request that brought it, not its batch.
import { AssertionError } from 'node:assert'

import type { Nanodollars, Picodollars } from '../core/money.ts'

/** A price, or what follows from one: it is compared with budgets, and needs no limit of its own. */
export function assertPicodollars(what: string, value: Picodollars): void {
  if (typeof value !== 'bigint' || value < 0n) fail(what, value)
}

const NANODOLLARS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** More than any budget pays for would be too much for the sums. */
export function assertNanodollars(what: string, value: Nanodollars): void {
  if (typeof value !== 'bigint' || value < 0n || value > NANODOLLARS_MAX) fail(what, value)
}

export function assertCount(what: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) fail(what, value)
}

/** Spelled out only when it happens: as arguments of an assertion the texts cost more than the check. */
function fail(what: string, value: number | bigint): never {
  throw new AssertionError({ message: `${value} is no ${what} that the books take` })
}
