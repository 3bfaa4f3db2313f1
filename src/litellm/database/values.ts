// Values as LiteLLM's rows have them, in Tollgate's units. A value that means nothing is a problem that names its row.
import { BUDGET_MAX, type Nanodollars } from '../../core/money.ts'
import { isObject, numberOf, stringOf, type JsonObject } from '../../core/json.ts'
import { periodOf } from '../periods.ts'
import type { PlannedKey, PlannedLimits, Problems, Tally } from './plan.ts'

/** The columns that keys, teams and budgets share. */
export type LimitColumns = {
  readonly max_budget: number | null
  readonly soft_budget?: number | null
  readonly budget_duration: string | null
  readonly spend: number | null
  readonly tpm_limit: string | null
  readonly rpm_limit: string | null
  readonly max_parallel_requests: number | null
}

export type Row = {
  /** How a person finds it: table and name. */
  readonly place: string
  readonly problems: Problems
  readonly tally: Tally
}

export function limitsOf(row: Row, columns: LimitColumns): PlannedLimits {
  const { max_budget, soft_budget = null, budget_duration, spend } = columns
  const limit = dollars(row, 'max_budget', max_budget)
  const { period, remark, isClose } = periodOf(budget_duration)
  if (max_budget !== null && budget_duration !== null) {
    const about = isClose ? 'a budget has a period of the calendar here' : 'the period of a budget'
    row.tally.note(`${about}: ${remark ?? ''}`)
  }
  const warn = dollars(row, 'soft_budget', soft_budget)
  const alertAt = limit && warn !== null ? Number((warn * 100n) / limit) : null
  if (warn !== null && alertAt === null) {
    row.tally.note('a soft budget without a budget: alerts are at percentages of a budget here')
  }
  return {
    limitNanodollars: limit,
    period: max_budget === null ? 'month' : period,
    spentNanodollars: dollars(row, 'spend', spend) ?? 0n,
    rpm: count(row, 'rpm_limit', columns.rpm_limit),
    tpm: count(row, 'tpm_limit', columns.tpm_limit),
    concurrency: count(row, 'max_parallel_requests', columns.max_parallel_requests),
    alertAt: alertAt === null || alertAt < 1 || alertAt > 100 ? null : alertAt,
  }
}

/** A float there. Rounded up: what was spent is never less here. */
function dollars({ place, problems, tally }: Row, column: string, value: number | null) {
  if (value === null) return null
  if (!Number.isFinite(value) || value < 0) {
    problems.add(`${place}: ${column} is ${value}, which is no amount`)
    return null
  }
  const amount: Nanodollars =
    value > 1e7 ? BUDGET_MAX : BigInt(Math.ceil(Number((value * 1e9).toPrecision(15))))
  if (amount < BUDGET_MAX || column === 'spend') return amount
  tally.note('a budget is at most 9,000,000 USD here')
  return BUDGET_MAX
}

/** Null: no limit. */
function count({ place, problems }: Row, column: string, value: string | number | null) {
  if (value === null) return null
  const number = Number(value)
  if (Number.isSafeInteger(number) && number >= 0) return number === 0 ? null : number
  problems.add(`${place}: ${column} is ${value}, which is no limit`)
  return null
}

/** A limit of 0 allows nothing there. */
export function isClosed({ rpm_limit, tpm_limit, max_parallel_requests }: LimitColumns): boolean {
  return [rpm_limit, tpm_limit, max_parallel_requests].some(
    (limit) => limit !== null && Number(limit) === 0,
  )
}

/** `{"gpt-5": {"budget_limit": 1, "time_period": "1d"}}`, in two spellings. */
export function modelBudgetsOf(row: Row, json: unknown): PlannedKey['modelBudgets'] {
  return Object.entries(isObject(json) ? json : {}).flatMap(([model, value]) => {
    const written: JsonObject = isObject(value) ? value : { max_budget: value }
    const amount = numberOf(written['max_budget']) ?? numberOf(written['budget_limit']) ?? null
    const limitNanodollars = dollars(row, `model_max_budget of ${model}`, amount)
    const duration = stringOf(written['budget_duration']) ?? stringOf(written['time_period'])
    if (limitNanodollars === null) return []
    return [{ model, limitNanodollars, period: periodOf(duration ?? null).period }]
  })
}
