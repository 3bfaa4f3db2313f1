// What follows from one account's row alone: its limit, its balance, and whether its period is over.
import type { Nanodollars } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import type { Balance, Balances, RateBalance } from '../ledger.ts'
import { windowEndsAt } from './rates.ts'
import type { Account, ClosedPeriod } from './rows.ts'

/** What may be spent in this period, top-ups included; null = no limit but the frame's. */
export function limitOf(account: Account): Nanodollars | null {
  return account.limit === null ? null : account.limit + account.topUp
}

/** What is left, at least 0: a limit may be lowered below what is spent. Null = no limit but the frame's. */
export function remainingOf(account: Account): Nanodollars | null {
  const limit = limitOf(account)
  if (limit === null) return null
  const remaining = limit - account.spent - account.held
  return remaining > 0n ? remaining : 0n
}

/** Whether its rate window is kept. */
export function hasRates({ rpm, tpm }: Account): boolean {
  return rpm !== null || tpm !== null
}

/**
 * Starts the next period if the current one is over, and returns the closed one, which keeps its open holds. A clock
 * that is set back never reopens a closed period: the current one runs on to its end.
 */
export function openPeriod(account: Account, now: number): ClosedPeriod | undefined {
  if (account.periodEndsAt === null || now < account.periodEndsAt) return undefined
  const closed = closePeriod(account, account.periodEndsAt)
  const { startsAt, endsAt } = periodAt(account, now)
  account.periodStartsAt = startsAt
  account.periodEndsAt = endsAt
  // Sequence 0 is that of an account never used: there is no period to record.
  return closed.seq === 0 ? undefined : closed
}

/** Ends the current period at `endsAt` and clears the account's amounts; the caller sets when the next period ends. */
export function closePeriod(account: Account, endsAt: number): ClosedPeriod {
  const closed: ClosedPeriod = {
    accountId: account.id,
    seq: account.periodSeq,
    startsAt: account.periodStartsAt,
    endsAt,
    limit: limitOf(account),
    spent: account.spent,
    held: account.held,
    overrun: account.overrun,
    grantedLimit: account.grantedLimit,
  }
  account.periodSeq += 1
  account.periodStartsAt = endsAt
  account.topUp = 0n
  account.spent = 0n
  account.held = 0n
  account.overrun = 0n
  account.grantedLimit = 0n
  return closed
}

export function balancesOf(key: Account, frame: Account, now: number): Balances {
  return {
    key: balanceOf(key),
    frame: balanceOf(frame),
    ...rateBalances(key, now),
    concurrency: { limit: key.concurrency, inFlight: key.inFlight },
  }
}

function balanceOf(account: Account): Balance {
  return {
    limitNanodollars: limitOf(account),
    spentNanodollars: account.spent,
    heldNanodollars: account.held,
    remainingNanodollars: remainingOf(account),
    resetsAt: account.periodEndsAt,
  }
}

function rateBalances(
  key: Account,
  now: number,
): { readonly requests: RateBalance | null; readonly tokens: RateBalance | null } {
  if (!hasRates(key)) return { requests: null, tokens: null }
  const window = key.rateWindow
  const resetsAt = windowEndsAt(window, now)
  const left = (limit: number | null, used: number): RateBalance | null =>
    limit === null ? null : { limit, remaining: Math.max(0, limit - used), resetsAt }
  return { requests: left(key.rpm, window.requests), tokens: left(key.tpm, window.tokens) }
}
