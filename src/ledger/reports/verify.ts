// Do the books balance? Checks every invariant of the ledger in one statement: it sees one moment, so it can run beside
// running servers without stopping them. `ledger verify` looks at the database itself first, because a sum over what is
// left of it may well be right. Reads only; repairs nothing.
import { sql, type RawBuilder } from 'kysely'
import { formatUsd } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import { HOUR_MS } from '../../core/units.ts'
import { MAIN } from '../../store/accounts/budgets.ts'
import { atOneMoment } from '../../store/backup/transaction.ts'
import { findDamage } from '../../store/damage.ts'
import { databaseNow } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import {
  accountChecks,
  allChecks,
  FRAME_CHECK,
  OPEN_HOLD,
  openChecks,
  type Finding,
} from './checks.ts'

export type Violation = {
  readonly check: string
  /** Its id, and where it is not the main budget, which one. */
  readonly account: string
  readonly period: number | null
  readonly expected: string
  readonly found: string
}

type VerifyOptions = {
  /** No server is running, so nothing may be held either. */
  readonly quiescent?: boolean
}

/** Not an imbalance, but a database that cannot be read as it was written. */
export const DAMAGE = 'damage'
export const VIOLATIONS_MAX = 100

/** Which findings count things rather than money. */
const COUNTS = new Set([
  'in_flight',
  'closed_twice',
  OPEN_HOLD,
  'rollup_requests',
  'bucket_requests',
  'day_requests',
])

export type Examination = {
  readonly violations: readonly Violation[]
  /** What could not be told, a line each. */
  readonly notChecked: readonly string[]
  readonly ahead: readonly PeriodAhead[]
}

/** Everything that `ledger verify` reports. */
export async function examineLedger(store: Store, options: VerifyOptions): Promise<Examination> {
  const { faults, notChecked } = await findDamage(store)
  if (faults.length === 0) {
    const violations = await verifyAtLeisure(store, options)
    return { violations, notChecked, ahead: await periodsAhead(store) }
  }
  return {
    violations: faults.map((found) => ({
      check: DAMAGE,
      account: '-',
      period: null,
      expected: 'nothing',
      found,
    })),
    notChecked: ['whether the books balance: a damaged database cannot tell', ...notChecked],
    ahead: [],
  }
}

/** Adding up ten million rows takes longer than PostgreSQL lets other statements take. */
function verifyAtLeisure(store: Store, options: VerifyOptions): Promise<readonly Violation[]> {
  if (store.kind === 'sqlite') return verifyLedger(store, options)
  return atOneMoment(store, (tx) => verifyLedger({ ...store, db: tx }, options))
}

/** All violations, up to a hundred; none = the books balance. */
export async function verifyLedger(
  store: Store,
  options: VerifyOptions = {},
): Promise<readonly Violation[]> {
  return find(store, allChecks(store, options.quiescent === true))
}

/**
 * The checks that cost next to nothing however much history there is, for running servers: the frame and the accounts
 * that have open holds. What leaks on any key leaks on the frame too.
 */
export async function verifyOpenAccounts(store: Store): Promise<readonly Violation[]> {
  return find(store, openChecks(store))
}

/** One statement, so that it sees one moment. */
async function find(store: Store, checks: RawBuilder<Finding>): Promise<readonly Violation[]> {
  const { rows } = await sql<Finding>`${checks} LIMIT ${VIOLATIONS_MAX}`.execute(store.db)
  return rows.map(toViolation)
}

/** A period that was opened by a clock which ran ahead: until it ends, its budget is not renewed. */
export type PeriodAhead = {
  readonly account: string
  readonly startsAt: number
  readonly endsAt: number
}

/** A clock set back by less is forgiven: such a period begins soon. */
const AHEAD_MS_MIN = HOUR_MS

/** Such periods of accounts after one id, up to another; by default of all, up to a hundred. */
export async function periodsAhead(
  store: Store,
  { after = '', last }: { readonly after?: string; readonly last?: string } = {},
): Promise<readonly PeriodAhead[]> {
  const now = await databaseNow(store)
  let query = store.db
    .selectFrom('accounts')
    .select(['id', 'period', 'timezone', 'week_start', 'period_starts_at', 'period_ends_at'])
    .where('period_starts_at', '>', now + AHEAD_MS_MIN)
    .where('limit_nanodollars', 'is not', null)
    .where('status', '!=', 'revoked')
    .where('id', '>', after)
  if (last !== undefined) query = query.where('id', '<=', last)
  const rows = await query.orderBy('id').limit(VIOLATIONS_MAX).execute()
  return rows.flatMap((row) => {
    const { period, timezone, week_start: weekStart } = row
    const { period_starts_at: startsAt, period_ends_at: endsAt } = row
    // A changed rule has set the right end already.
    const rightly = periodAt({ period, timezone, weekStart }, now).endsAt
    if (endsAt === null || rightly === null || endsAt <= rightly) return []
    return [{ account: row.id, startsAt, endsAt }]
  })
}

function toViolation(row: Finding): Violation {
  return {
    check: row.check_name,
    account: row.budget === MAIN ? row.account_id : `${row.account_id} (${row.budget})`,
    period: row.period_seq,
    expected: figure(row.check_name, row.expected_nanodollars),
    found: figure(row.check_name, row.found_nanodollars),
  }
}

function figure(check: string, amount: bigint | null): string {
  if (amount === null) return 'nothing'
  return COUNTS.has(check) ? amount.toString() : `${formatUsd(amount)} USD`
}

const ACCOUNTS_PER_LOOK = 50

/**
 * Checks all accounts beside running servers, in endless rounds, a few at a time: whether the held and spent figures of
 * each match its holds and usage rows, within what was granted; and after each round, whether the frame has spent what
 * all keys have. And whether a period begins in the future. Costs next to nothing however many keys there are.
 */
export class Auditor {
  readonly #store: Store
  /** The last account that was checked; '' before the first. */
  #last = ''

  constructor(store: Store) {
    this.#store = store
  }

  /** What is wrong with the next few accounts. */
  async look(): Promise<{
    readonly violations: readonly Violation[]
    readonly ahead: readonly PeriodAhead[]
  }> {
    const { db } = this.#store
    const page = await db
      .selectFrom('accounts')
      .select('id')
      .where('id', '>', this.#last)
      .orderBy('id')
      .limit(ACCOUNTS_PER_LOOK)
      .execute()
    const last = page.at(-1)?.id
    const isRound = page.length < ACCOUNTS_PER_LOOK
    const after = this.#last
    const checks = last === undefined ? undefined : accountChecks(this.#store, { after, last })
    const found = checks === undefined ? [] : await find(this.#store, checks)
    const ahead = last === undefined ? [] : await periodsAhead(this.#store, { after, last })
    this.#last = isRound ? '' : (last ?? '')
    const ofFrame = isRound ? await find(this.#store, FRAME_CHECK) : []
    return { violations: [...found, ...ofFrame], ahead }
  }
}
