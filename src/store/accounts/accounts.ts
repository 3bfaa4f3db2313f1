// An account as people see it: limit, spent, held, remaining, and when its period ends. Only the ledger moves money and
// opens periods; here a period that has ended is merely shown as the new one that the next request will open.
import { sql } from 'kysely'
import { formatUsd, type Nanodollars } from '../../core/money.ts'
import { periodAt, type Period, type PeriodRule } from '../../core/periods.ts'
import { iso, usd } from '../../core/units.ts'
import { databaseNow, type Store } from '../database/store.ts'
import { FRAME_ID, valuesOf, type Row, type Tx, type Values } from '../database/tables.ts'
import {
  cappedModel,
  MAIN,
  remainingOf,
  unpackBudgets,
  WINDOW,
  type Budget,
  type FurtherBudget,
} from './budgets.ts'
import type { AccountSettings, Some } from './settings.ts'

/** A budget of an account: its main one, or a further one. */
type BudgetView = {
  readonly period: Period
  /** Null: only the other budgets limit it. */
  readonly limitNanodollars: Nanodollars | null
  readonly spentNanodollars: Nanodollars
  readonly heldNanodollars: Nanodollars
  /** Added to the limit until the period ends. */
  readonly topUpNanodollars: Nanodollars
  /** limit + this period's top-up - spent - held, never below 0; null without a limit. */
  readonly remainingNanodollars: Nanodollars | null
  readonly periodStartsAt: number
  readonly resetsAt: number | null
}

/** A further budget always has a limit. */
type FurtherView = BudgetView & {
  readonly limitNanodollars: Nanodollars
  readonly remainingNanodollars: Nanodollars
}

export type ModelBudgetView = FurtherView & { readonly model: string }

export type AccountView = PeriodRule &
  BudgetView & {
    /** The budget of a second period. */
    readonly window: FurtherView | null
    /** What a key may spend on single models. */
    readonly modelBudgets: readonly ModelBudgetView[]
    readonly requestCostMaxNanodollars: Nanodollars | null
    readonly rpm: number | null
    readonly tpm: number | null
    readonly concurrency: number | null
  }

/** Nothing is left of one of its budgets: the tighter decides. */
export function isExhausted({ remainingNanodollars, window }: AccountView): boolean {
  return remainingNanodollars === 0n || window?.remainingNanodollars === 0n
}

/** By this machine's clock, for display only. Admission is decided by the ledger, by the database's clock. */
export function viewAccount(store: Store, row: Row<'accounts'>): AccountView {
  const rule = ruleOf(row)
  const now = store.clock.now()
  const further = unpackBudgets(row.budgets)
  const window = further.find(({ name }) => name === WINDOW)
  return {
    ...rule,
    ...viewBudget(mainBudget(row), rule, now),
    window: window === undefined ? null : viewFurther(window, rule, now),
    modelBudgets: further.flatMap((budget) => {
      const model = cappedModel(budget.name)
      return model === undefined ? [] : [{ model, ...viewFurther(budget, rule, now) }]
    }),
    requestCostMaxNanodollars: row.request_cost_max_nanodollars,
    rpm: row.rpm,
    tpm: row.tpm,
    concurrency: row.concurrency,
  }
}

function viewBudget(budget: Budget, rule: PeriodRule, now: number): BudgetView {
  const { period } = budget
  const isOver = budget.periodEndsAt !== null && budget.periodEndsAt <= now
  const { startsAt, endsAt } = isOver
    ? periodAt({ ...rule, period }, now)
    : { startsAt: budget.periodStartsAt, endsAt: budget.periodEndsAt }
  const current = isOver ? { ...budget, topUp: 0n, spent: 0n, held: 0n } : budget
  return {
    period,
    limitNanodollars: budget.limit,
    topUpNanodollars: current.topUp,
    spentNanodollars: current.spent,
    heldNanodollars: current.held,
    remainingNanodollars: remainingOf(current),
    periodStartsAt: startsAt,
    resetsAt: endsAt,
  }
}

function viewFurther(budget: FurtherBudget, rule: PeriodRule, now: number): FurtherView {
  const view = viewBudget(budget, rule, now)
  const { limitNanodollars, remainingNanodollars } = view
  return {
    ...view,
    limitNanodollars: limitNanodollars ?? 0n,
    remainingNanodollars: remainingNanodollars ?? 0n,
  }
}

function mainBudget(row: Row<'accounts'>): Budget {
  return {
    period: row.period,
    limit: row.limit_nanodollars,
    topUp: row.top_up_nanodollars,
    spent: row.spent_nanodollars,
    held: row.held_nanodollars,
    overrun: row.overrun_nanodollars,
    grantedLimit: row.granted_limit_nanodollars,
    periodSeq: row.period_seq,
    periodStartsAt: row.period_starts_at,
    periodEndsAt: row.period_ends_at,
  }
}

/** For the command line and the admin API. */
export function budgetJson(budget: FurtherView) {
  return {
    budget: usd(budget.limitNanodollars),
    limit: usd(budget.limitNanodollars + budget.topUpNanodollars),
    period: budget.period,
    starts_at: iso(budget.periodStartsAt),
    spent: usd(budget.spentNanodollars),
    held: usd(budget.heldNanodollars),
    remaining: usd(budget.remainingNanodollars),
    resets_at: iso(budget.resetsAt),
  }
}

/** As people write it, for the audit record: `5/day`. */
export function budgetText({ limitNanodollars, period }: FurtherView): string {
  return `${formatUsd(limitNanodollars)}/${period}`
}

/** The columns of an account that its settings fill. What is undefined stays as it is, or gets its default. */
export function accountColumns(settings: Some<AccountSettings>) {
  return {
    limit_nanodollars: settings.limitNanodollars,
    rpm: settings.rpm,
    tpm: settings.tpm,
    concurrency: settings.concurrency,
    period: settings.period,
    timezone: settings.timezone,
    week_start: settings.weekStart,
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

/** Periods of its main budget that are over, newest first. */
export async function pastPeriods(
  store: Store,
  accountId: string,
  limit: number,
): Promise<readonly PastPeriod[]> {
  const rows = await store.db
    .selectFrom('account_periods')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('budget', '=', MAIN)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  return rows.map(valuesOf)
}

export function accountOf({ db }: Store, id: string): Promise<Row<'accounts'>> {
  return db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
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

/** The frame's value, read by the statement that needs it. */
export function ofFrame<Column extends 'timezone' | 'week_start'>(
  column: Column,
  otherwise: Row<'accounts'>[Column],
) {
  return sql<Row<'accounts'>[Column]>`coalesce(
    (SELECT ${sql.ref(column)} FROM accounts WHERE id = ${FRAME_ID}), ${otherwise})`
}
