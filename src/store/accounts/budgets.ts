// A budget: a bound on what may be spent in a period, and what is spent and held of it. An account's main budget is its
// row; its further ones, a second window and caps for models, are kept in that row as one text. Pure: the ledger moves
// their money, budget-changes.ts sets them.
import type { Nanodollars } from '../../core/money.ts'
import { periodAt, type Period, type PeriodRule } from '../../core/periods.ts'
import { integer, layout, money, nullable, text, type Packed } from '../database/layout.ts'

/** What a main budget and a further one have in common: an account is a budget. */
export type Budget = {
  readonly period: Period
  /** Null = nothing but the other budgets limits it. */
  readonly limit: Nanodollars | null
  /** Added to the limit until the period ends. */
  topUp: Nanodollars
  spent: Nanodollars
  held: Nanodollars
  overrun: Nanodollars
  /** The highest limit a hold of this period was granted under; null = one was granted without a limit. */
  grantedLimit: Nanodollars | null
  /** Counts the periods of this budget; a number is never used twice. */
  periodSeq: number
  periodStartsAt: number
  periodEndsAt: number | null
}

export type FurtherBudget = Budget & { readonly name: FurtherName }

/** The name of a budget within its account: empty for the main one. */
export type BudgetName = typeof MAIN | FurtherName
type FurtherName = typeof WINDOW | `model:${string}`

export const MAIN = ''
/** The budget of a second period. */
export const WINDOW = 'window'
const CAP = 'model:'

/** The budget that caps what a key spends on one model, by its public name. */
export function capOf(model: string): FurtherName {
  return `${CAP}${model}`
}

/** The model that a budget caps; undefined for other budgets. */
export function cappedModel(name: BudgetName): string | undefined {
  return name.startsWith(CAP) ? name.slice(CAP.length) : undefined
}

/** What may be spent in this period, top-ups included; null = no limit. */
export function limitOf({ limit, topUp }: Pick<Budget, 'limit' | 'topUp'>): Nanodollars | null {
  return limit === null ? null : limit + topUp
}

/** What is left, at least 0: a limit may be lowered below what is spent. Null = no limit. */
export function remainingOf(budget: Budget): Nanodollars | null {
  const limit = limitOf(budget)
  if (limit === null) return null
  const remaining = limit - budget.spent - budget.held
  return remaining > 0n ? remaining : 0n
}

/** What a period was when it ended; holds that are still open then change it later. */
export type ClosedBudget = {
  readonly seq: number
  readonly startsAt: number
  readonly endsAt: number
  readonly limit: Nanodollars | null
  readonly spent: Nanodollars
  readonly held: Nanodollars
  readonly overrun: Nanodollars
  readonly grantedLimit: Nanodollars | null
}

export function closedBudget(budget: Budget, endsAt: number): ClosedBudget {
  return {
    seq: budget.periodSeq,
    startsAt: budget.periodStartsAt,
    endsAt,
    limit: limitOf(budget),
    spent: budget.spent,
    held: budget.held,
    overrun: budget.overrun,
    grantedLimit: budget.grantedLimit,
  }
}

type NewBudget = Pick<FurtherBudget, 'name' | 'limit' | 'periodSeq'>

/** Begins in mid-period with nothing spent; holds that are open do not count in it. */
export function newBudget(given: NewBudget, rule: PeriodRule, now: number): FurtherBudget {
  return {
    ...given,
    period: rule.period,
    topUp: 0n,
    spent: 0n,
    held: 0n,
    overrun: 0n,
    grantedLimit: 0n,
    periodStartsAt: now,
    periodEndsAt: periodAt(rule, now).endsAt,
  }
}

const BUDGET = layout<FurtherBudget>({
  name: text('name'),
  period: text('period'),
  limit: nullable(money('limit')),
  topUp: money('topUp'),
  spent: money('spent'),
  held: money('held'),
  overrun: money('overrun'),
  grantedLimit: nullable(money('grantedLimit')),
  periodSeq: integer('periodSeq'),
  periodStartsAt: integer('periodStartsAt'),
  periodEndsAt: nullable(integer('periodEndsAt')),
})

/** Where each figure stands in the list of a budget, for SQL. */
export const POSITIONS = Object.fromEntries(
  BUDGET.columns.map(({ field }, position) => [field, position]),
) as Readonly<Record<keyof FurtherBudget, number>>

/** Most accounts have none, so that must cost next to nothing. */
const NONE: readonly FurtherBudget[] = []

export function packBudgets(budgets: readonly FurtherBudget[]): string {
  return budgets.length === 0 ? '' : JSON.stringify(budgets.map(BUDGET.pack))
}

export function unpackBudgets(packed: string): readonly FurtherBudget[] {
  if (packed === '') return NONE
  return (JSON.parse(packed) as readonly (readonly Packed[])[]).map(BUDGET.unpack)
}

/** A further budget as people set it. */
export type BudgetSetting = {
  readonly name: FurtherName
  readonly period: Period
  readonly limit: Nanodollars
}

type Setting = {
  readonly wanted: readonly BudgetSetting[]
  /** The rule of the account, before and after the change; the period is each budget's own. */
  readonly rule: Omit<PeriodRule, 'period'>
  readonly formerRule: Omit<PeriodRule, 'period'>
  readonly now: number
  /** The number for the first period of a budget that is new: above all that it had before, if it was once removed. */
  readonly firstSeq: (name: FurtherName) => number
}

/**
 * What the further budgets of an account become. One that stays keeps what it has spent: a new amount changes its limit
 * alone, a new calendar moves the end of its period. Those that are removed must be recorded as closed periods, because
 * holds may still be open in them.
 */
export function setBudgets(
  budgets: readonly FurtherBudget[],
  { wanted, rule, formerRule, now, firstSeq }: Setting,
): { readonly budgets: readonly FurtherBudget[]; readonly removed: readonly FurtherBudget[] } {
  const isSameRule =
    rule.timezone === formerRule.timezone && rule.weekStart === formerRule.weekStart
  const after = wanted.map(({ name, period, limit }): FurtherBudget => {
    const known = budgets.find((each) => each.name === name)
    if (known === undefined) {
      return newBudget({ name, limit, periodSeq: firstSeq(name) }, { ...rule, period }, now)
    }
    // A period that is already over is left to the ledger.
    const isOver = known.periodEndsAt !== null && known.periodEndsAt <= now
    if (isOver || (isSameRule && period === known.period)) return { ...known, period, limit }
    return { ...known, period, limit, periodEndsAt: periodAt({ ...rule, period }, now).endsAt }
  })
  const names = new Set(wanted.map(({ name }) => name))
  return { budgets: after, removed: budgets.filter(({ name }) => !names.has(name)) }
}

/** When the period of a budget ended, or ends because the budget is removed now. */
export function endedAt({ periodEndsAt }: Budget, now: number): number {
  return periodEndsAt === null ? now : Math.min(periodEndsAt, now)
}
