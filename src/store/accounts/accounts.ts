// An account as people see it: limit, spent, held, remaining, and when its period ends. Only the ledger moves money and
// opens periods; here a period that has ended is merely shown as the new one that the next request will open.
import type { Nanodollars } from '../../core/money.ts'
import { periodAt, type PeriodRule } from '../../core/periods.ts'
import { databaseNow, type Store } from '../database/store.ts'
import { valuesOf, type Row, type Tx, type Values } from '../database/tables.ts'

export type AccountView = PeriodRule &
  Pick<Values<'accounts'>, 'limitNanodollars' | 'spentNanodollars' | 'heldNanodollars'> &
  Pick<
    Values<'accounts'>,
    'topUpNanodollars' | 'periodStartsAt' | 'rpm' | 'tpm' | 'concurrency'
  > & {
    /** limit + this period's top-up - spent - held, never below 0; null without a limit. */
    readonly remainingNanodollars: Nanodollars | null
    readonly resetsAt: number | null
  }

/** By this machine's clock, for display only. Admission is decided by the ledger, by the database's clock. */
export function viewAccount(store: Store, row: Row<'accounts'>): AccountView {
  const rule = ruleOf(row)
  const now = store.clock.now()
  const isOver = hasEnded(row, now)
  const { startsAt, endsAt } = isOver
    ? periodAt(rule, now)
    : { startsAt: row.period_starts_at, endsAt: row.period_ends_at }
  const spentNanodollars = isOver ? 0n : row.spent_nanodollars
  const heldNanodollars = isOver ? 0n : row.held_nanodollars
  const limit = {
    limitNanodollars: row.limit_nanodollars,
    topUpNanodollars: isOver ? 0n : row.top_up_nanodollars,
  }
  return {
    ...rule,
    ...limit,
    spentNanodollars,
    heldNanodollars,
    remainingNanodollars: remaining(limitWithTopUp(limit), spentNanodollars + heldNanodollars),
    periodStartsAt: startsAt,
    resetsAt: endsAt,
    rpm: row.rpm,
    tpm: row.tpm,
    concurrency: row.concurrency,
  }
}

type OwnLimit<Limit> = {
  readonly limitNanodollars: Limit
  readonly topUpNanodollars: Nanodollars
}

/** What may be spent in this period; null without a limit. */
export function limitWithTopUp(account: OwnLimit<Nanodollars>): Nanodollars
export function limitWithTopUp(account: OwnLimit<Nanodollars | null>): Nanodollars | null
export function limitWithTopUp(account: OwnLimit<Nanodollars | null>): Nanodollars | null {
  const { limitNanodollars: limit, topUpNanodollars: topUp } = account
  return limit === null ? null : limit + topUp
}

export type PastPeriod = Values<'account_periods'>

/** Periods that are over, newest first. */
export async function pastPeriods(
  store: Store,
  accountId: string,
  limit: number,
): Promise<readonly PastPeriod[]> {
  const rows = await store.db
    .selectFrom('account_periods')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  return rows.map(valuesOf)
}

/** Every change of an account begins with this: it locks the account, as the ledger does, and raises its version. */
export function lockAccount(tx: Tx, id: string): Promise<Row<'accounts'>> {
  return tx
    .updateTable('accounts')
    .set((column) => ({ allow_version: column('allow_version', '+', 1) }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** What is spent stays spent until the new end. A period that is already over is left to the ledger. */
export async function movedPeriodEnd(
  store: Store,
  tx: Tx,
  change: { readonly from: Row<'accounts'>; readonly to: Partial<PeriodRule> },
): Promise<{ period_ends_at?: number | null }> {
  const before = ruleOf(change.from)
  const after = { ...before, ...change.to }
  const isSame =
    before.period === after.period &&
    before.timezone === after.timezone &&
    before.weekStart === after.weekStart
  if (isSame) return {}
  const now = await databaseNow(store, tx)
  return hasEnded(change.from, now) ? {} : { period_ends_at: periodAt(after, now).endsAt }
}

export function hasEnded({ period_ends_at: endsAt }: Row<'accounts'>, now: number): boolean {
  return endsAt !== null && endsAt <= now
}

function ruleOf(row: Row<'accounts'>): PeriodRule {
  return { period: row.period, timezone: row.timezone, weekStart: row.week_start }
}

function remaining(limit: Nanodollars | null, used: Nanodollars): Nanodollars | null {
  if (limit === null) return null
  return limit > used ? limit - used : 0n
}
