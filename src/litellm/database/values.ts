// Values as LiteLLM's rows have them, in Tollgate's units and words: budgets, limits, and lists of models, which are
// explicit here. A value that means nothing is a problem that names its row.
import { isObject, stringOf, type JsonObject } from '../../core/json.ts'
import { BUDGET_MAX, type Nanodollars } from '../../core/money.ts'
import { periodOf } from '../units.ts'
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
  if (columns.max_parallel_requests !== null) row.tally.note(CONCURRENCY)
  const warn = dollars(row, 'soft_budget', soft_budget)
  const alertAt = limit && warn !== null ? Number((warn * 100n) / limit) : null
  if (warn !== null) {
    row.tally.note(
      alertAt === null
        ? 'a soft budget without a budget: alerts are at percentages of a budget here'
        : 'a soft budget is an alert at that part of the budget here',
    )
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

const CONCURRENCY = 'max_parallel_requests is concurrency here, and exact across nodes'

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
    const amount = written['max_budget'] ?? written['budget_limit'] ?? null
    const limitNanodollars = dollars(
      row,
      `model_max_budget of ${model}`,
      // In JSON a number may also be written as text.
      amount === null || amount === '' ? null : Number(amount),
    )
    const duration = stringOf(written['budget_duration']) ?? stringOf(written['time_period'])
    if (limitNanodollars === null) return []
    return [{ model, limitNanodollars, period: periodOf(duration ?? null).period }]
  })
}

// What LiteLLM's lists of models mean, by name: empty lists, wildcards, access groups and names with a provider. Lists
// are explicit here.

export type KnownModels = {
  /** The public names that the configuration has here. */
  readonly names: ReadonlySet<string>
  readonly accessGroups: ReadonlyMap<string, readonly string[]>
  /** What stands for every model; null: the operator has not said. */
  readonly every: readonly string[] | null
}

export const UNDECIDED =
  'keys may call every model there, and lists are explicit here: say --all-models-as every, or which'

/** Null: every model. */
type Meant = readonly string[] | null

export class Allowlists {
  readonly #known: KnownModels
  readonly #tally: Tally

  constructor(known: KnownModels, tally: Tally) {
    this.#known = known
    this.#tally = tally
  }

  /** Of a team: null if it may call every model. */
  ofTeam(models: readonly string[]): Meant {
    return models.length === 0 ? null : this.#named(models, null)
  }

  /** Of a key: an empty list is that of its team. `every`: what stands for all models. */
  ofKey(models: readonly string[], team: Meant): readonly string[] {
    const meant = models.length === 0 ? team : this.#named(models, team)
    if (meant !== null) return meant
    this.#tally.note(
      this.#known.every === null
        ? UNDECIDED
        : 'keys may call every model there: they get the models of today',
    )
    return this.#known.every ?? []
  }

  #named(models: readonly string[], team: Meant): Meant {
    const all: string[] = []
    for (const name of models) {
      const meant = name === 'all-team-models' ? team : this.#meaningOf(name)
      if (meant === null) return null
      all.push(...meant)
    }
    return [...new Set(all)]
  }

  #meaningOf(name: string): Meant {
    const { names, accessGroups } = this.#known
    if (name === '*' || name === 'all-proxy-models') return null
    if (name === 'no-default-models') return []
    const group = accessGroups.get(name)
    if (names.has(name)) return [name]
    if (group !== undefined) return group
    if (name.includes('*')) return this.#matching(name)
    const plain = name.slice(name.indexOf('/') + 1)
    if (names.has(plain)) return [plain]
    this.#tally.note(
      `the model ${name} is on lists, but not in the configuration: it stays on them`,
    )
    // Names here have neither spaces nor commas.
    return /^[^\s,]{1,200}$/.test(name) ? [name] : []
  }

  #matching(pattern: string): readonly string[] {
    const parts = pattern.split('*').map((part) => RegExp.escape(part))
    const shape = new RegExp(`^${parts.join('.*')}$`)
    const found = [...this.#known.names].filter((name) => shape.test(name))
    this.#tally.note(
      `${pattern} is a wildcard: lists get the ${found.length} models it means today`,
    )
    return found
  }
}
