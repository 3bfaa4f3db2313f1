// Do the books balance? Checks every invariant of the ledger in one statement: it sees one moment, so it can run beside
// running servers without stopping them. `ledger verify` looks at the database itself first, because a sum over what is
// left of it may well be right. Reads only; repairs nothing.
import { sql, type RawBuilder } from 'kysely'
import { formatUsd } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import { findDamage } from '../../store/damage.ts'
import { databaseNow } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'

export type Violation = {
  readonly check: string
  readonly account: string
  readonly period: number | null
  readonly expected: string
  readonly found: string
}

type VerifyOptions = {
  /** No server is running, so nothing may be held either. */
  readonly quiescent?: boolean
}

/** A row that breaks an invariant, as the database returns it. */
type Finding = {
  readonly check_name: string
  readonly account_id: string
  readonly period_seq: number | null
  readonly expected_nanodollars: bigint | null
  readonly found_nanodollars: bigint | null
}

/** Not an imbalance, but a database that cannot be read as it was written. */
export const DAMAGE = 'damage'
/** Found only when `quiescent`: not an imbalance, but money that is not settled yet. */
export const OPEN_HOLD = 'quiescent_holds'
export const VIOLATIONS_MAX = 100

/** Which findings count things rather than money. */
const COUNTS = new Set([
  'in_flight',
  'closed_twice',
  OPEN_HOLD,
  'rollup_requests',
  'bucket_requests',
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
    const violations = await verifyLedger(store, options)
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

/** All violations, up to a hundred; none = the books balance. */
export async function verifyLedger(
  store: Store,
  options: VerifyOptions = {},
): Promise<readonly Violation[]> {
  const checks = options.quiescent ? sql`${CHECKS} UNION ALL ${QUIESCENT}` : CHECKS
  const { rows } = await sql<Finding>`${FIGURES} ${checks} LIMIT ${VIOLATIONS_MAX}`.execute(
    store.db,
  )
  return rows.map(toViolation)
}

/**
 * The checks that cost next to nothing however much history there is, for running servers: the frame and the accounts
 * that have open holds. What leaks on any key leaks on the frame too.
 */
export async function verifyOpenAccounts(store: Store): Promise<readonly Violation[]> {
  const { rows } = await sql<Finding>`${OPEN_BOOKS} LIMIT ${VIOLATIONS_MAX}`.execute(store.db)
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
    account: row.account_id,
    period: row.period_seq,
    expected: figure(row.check_name, row.expected_nanodollars),
    found: figure(row.check_name, row.found_nanodollars),
  }
}

function figure(check: string, amount: bigint | null): string {
  if (amount === null) return 'nothing'
  return COUNTS.has(check) ? amount.toString() : `${formatUsd(amount)} USD`
}

/** The same rule as `overrunOf`. */
const OVERRUN = sql`CASE WHEN cost_nanodollars > held_nanodollars
      THEN cost_nanodollars - held_nanodollars ELSE 0 END`

const HELD_BY_KEYS = sql`
  SELECT key_id AS account_id, key_period AS period_seq, sum(held_nanodollars) AS amount
  FROM holds GROUP BY key_id, key_period`

const IN_FLIGHT = sql`
  SELECT key_id AS account_id, count(*) AS amount FROM holds GROUP BY key_id
  UNION ALL
  SELECT ${FRAME_ID}, count(*) FROM holds`

/** The same figures from both sides: as the accounts state them, and as holds and usage rows add up. */
const FIGURES = sql`
WITH stated AS (
  SELECT id AS account_id, period_seq, spent_nanodollars, held_nanodollars, overrun_nanodollars,
    granted_limit_nanodollars FROM accounts WHERE period_seq > 0
  UNION ALL
  SELECT account_id, seq, spent_nanodollars, held_nanodollars, overrun_nanodollars,
    granted_limit_nanodollars FROM account_periods
), held AS (${HELD_BY_KEYS}
  UNION ALL
  SELECT ${FRAME_ID}, frame_period, sum(held_nanodollars) FROM holds GROUP BY frame_period
), in_flight AS (${IN_FLIGHT}
), charges AS (
  SELECT key_id AS account_id, key_period AS period_seq, cost_nanodollars AS cost,
    ${OVERRUN} AS overrun, 1 AS requests FROM usage
  UNION ALL
  SELECT ${FRAME_ID}, frame_period, cost_nanodollars, ${OVERRUN}, 1 FROM usage
  UNION ALL
  SELECT account_id, period_seq, cost_nanodollars, overrun_nanodollars, requests FROM purged_usage
), charged AS (
  SELECT account_id, period_seq, sum(cost) AS cost, sum(overrun) AS overrun, sum(requests) AS requests
  FROM charges GROUP BY account_id, period_seq
), spans AS (
  SELECT 'hour' AS span UNION ALL SELECT 'day'
), charged_ever AS (
  SELECT account_id, span, sum(cost) AS cost, sum(requests) AS requests
  FROM charged CROSS JOIN spans GROUP BY account_id, span
), rolled_up AS (
  SELECT key_id AS account_id, span, sum(cost_nanodollars) AS cost, sum(requests) AS requests
  FROM rollups GROUP BY key_id, span
), key_hours AS (
  SELECT reserved_at - reserved_at % ${sql.lit(HOUR_MS)} AS starts_at, key_id AS account_id,
    model_asked AS model, sum(cost_nanodollars) AS cost, count(*) AS requests
  FROM usage GROUP BY reserved_at - reserved_at % ${sql.lit(HOUR_MS)}, key_id, model_asked
), hours AS (
  SELECT starts_at, account_id, model, cost, requests FROM key_hours
  UNION ALL
  SELECT starts_at, ${FRAME_ID}, model, sum(cost), sum(requests) FROM key_hours GROUP BY starts_at, model
), buckets AS (
  SELECT 'hour' AS span, starts_at, account_id, model, cost, requests FROM hours
  UNION ALL
  SELECT 'day', starts_at - starts_at % ${sql.lit(DAY_MS)}, account_id, model, sum(cost), sum(requests)
  FROM hours GROUP BY starts_at - starts_at % ${sql.lit(DAY_MS)}, account_id, model
)`

const CHECKS = sql`
SELECT 'held' AS check_name, stated.account_id, stated.period_seq,
  coalesce(held.amount, 0) AS expected_nanodollars, stated.held_nanodollars AS found_nanodollars
FROM stated LEFT JOIN held ON held.account_id = stated.account_id AND held.period_seq = stated.period_seq
WHERE stated.held_nanodollars <> coalesce(held.amount, 0)
UNION ALL
SELECT 'spent', stated.account_id, stated.period_seq, coalesce(charged.cost, 0), stated.spent_nanodollars
FROM stated LEFT JOIN charged ON charged.account_id = stated.account_id AND charged.period_seq = stated.period_seq
WHERE stated.spent_nanodollars <> coalesce(charged.cost, 0)
UNION ALL
SELECT 'overrun', stated.account_id, stated.period_seq, coalesce(charged.overrun, 0), stated.overrun_nanodollars
FROM stated LEFT JOIN charged ON charged.account_id = stated.account_id AND charged.period_seq = stated.period_seq
WHERE stated.overrun_nanodollars <> coalesce(charged.overrun, 0)
UNION ALL
SELECT 'limit', account_id, period_seq, granted_limit_nanodollars + overrun_nanodollars,
  spent_nanodollars + held_nanodollars
FROM stated WHERE spent_nanodollars + held_nanodollars > granted_limit_nanodollars + overrun_nanodollars
UNION ALL
SELECT 'in_flight', accounts.id, NULL, coalesce(in_flight.amount, 0), accounts.in_flight
FROM accounts LEFT JOIN in_flight ON in_flight.account_id = accounts.id
WHERE accounts.in_flight <> coalesce(in_flight.amount, 0)
UNION ALL
SELECT 'hold_without_period', held.account_id, held.period_seq, NULL, held.amount
FROM held LEFT JOIN stated ON stated.account_id = held.account_id AND stated.period_seq = held.period_seq
WHERE stated.account_id IS NULL
UNION ALL
SELECT 'charge_without_period', charged.account_id, charged.period_seq, NULL, charged.cost
FROM charged LEFT JOIN stated ON stated.account_id = charged.account_id AND stated.period_seq = charged.period_seq
WHERE stated.account_id IS NULL
UNION ALL
SELECT 'closed_twice', holds.key_id, holds.key_period, NULL, holds.id
FROM holds JOIN usage ON usage.id = holds.id
UNION ALL
${rollupChecks('cost', 'cost_nanodollars')}
UNION ALL
${rollupChecks('requests', 'requests')}`

/**
 * A rollup may exceed the sum of its usage rows, because retention deletes rows, but never fall below it. All rollups
 * of an account equal the sum of all its rows, including deleted ones.
 */
function rollupChecks(sum: 'cost' | 'requests', column: string): RawBuilder<unknown> {
  const ever = sql`coalesce(${sql.ref(`charged_ever.${sum}`)}, 0)`
  const rolledUp = sql`coalesce(${sql.ref(`rolled_up.${sum}`)}, 0)`
  const inBucket = sql.ref(`buckets.${sum}`)
  const inRollup = sql`coalesce(${sql.ref(`rollups.${column}`)}, 0)`
  return sql`
SELECT ${sql.lit(`rollup_${sum}`)}, coalesce(rolled_up.account_id, charged_ever.account_id), NULL, ${ever}, ${rolledUp}
FROM rolled_up FULL JOIN charged_ever
  ON charged_ever.account_id = rolled_up.account_id AND charged_ever.span = rolled_up.span
WHERE ${rolledUp} <> ${ever}
UNION ALL
SELECT ${sql.lit(`bucket_${sum}`)}, buckets.account_id, NULL, ${inBucket}, ${inRollup}
FROM buckets LEFT JOIN rollups ON rollups.span = buckets.span AND rollups.starts_at = buckets.starts_at
  AND rollups.key_id = buckets.account_id AND rollups.model = buckets.model
WHERE ${inRollup} < ${inBucket}`
}

const QUIESCENT = sql`
SELECT ${sql.lit(OPEN_HOLD)}, key_id, key_period, NULL, id FROM holds`

const OPEN_BOOKS = sql`
WITH held AS (${HELD_BY_KEYS}
), in_flight AS (${IN_FLIGHT}
)
SELECT 'held' AS check_name, accounts.id AS account_id, accounts.period_seq,
  held.amount AS expected_nanodollars, accounts.held_nanodollars AS found_nanodollars
FROM held JOIN accounts ON accounts.id = held.account_id AND accounts.period_seq = held.period_seq
WHERE accounts.held_nanodollars <> held.amount
UNION ALL
SELECT 'held', accounts.id, accounts.period_seq,
  (SELECT coalesce(sum(held_nanodollars), 0) FROM holds WHERE frame_period = accounts.period_seq),
  accounts.held_nanodollars
FROM accounts WHERE accounts.id = ${FRAME_ID} AND accounts.held_nanodollars <>
  (SELECT coalesce(sum(held_nanodollars), 0) FROM holds WHERE frame_period = accounts.period_seq)
UNION ALL
SELECT 'in_flight', accounts.id, NULL, in_flight.amount, accounts.in_flight
FROM in_flight JOIN accounts ON accounts.id = in_flight.account_id
WHERE accounts.in_flight <> in_flight.amount`

const ACCOUNTS_PER_LOOK = 50
/** With more rows, what a key spent is left to FRAME_CHECK and `ledger verify`: adding up would make requests wait. */
const ROWS_MAX = 500

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
    const findings = last === undefined ? [] : await this.#read(accountChecks(after, last))
    const ahead = last === undefined ? [] : await periodsAhead(this.#store, { after, last })
    this.#last = isRound ? '' : (last ?? '')
    const ofFrame = isRound ? await this.#read(FRAME_CHECK) : []
    return { violations: [...findings, ...ofFrame].map(toViolation), ahead }
  }

  /** One statement, so that it sees one moment. */
  async #read(query: ReturnType<typeof accountChecks>): Promise<readonly Finding[]> {
    return (await query.execute(this.#store.db)).rows
  }
}

const accountChecks = (after: string, last: string) => sql<Finding>`
WITH page AS (
  SELECT accounts.*,
    (SELECT coalesce(sum(held_nanodollars), 0) FROM holds
      WHERE key_id = accounts.id AND key_period = accounts.period_seq) AS holding,
    (SELECT count(*) FROM holds WHERE key_id = accounts.id) AS flying,
    CASE WHEN (SELECT count(*) FROM
        (SELECT 1 FROM usage WHERE key_id = accounts.id LIMIT ${sql.lit(ROWS_MAX + 1)}) AS rows)
      <= ${sql.lit(ROWS_MAX)}
      THEN (SELECT coalesce(sum(cost_nanodollars), 0) FROM usage
          WHERE key_id = accounts.id AND key_period = accounts.period_seq)
        + (SELECT coalesce(sum(cost_nanodollars), 0) FROM purged_usage
          WHERE account_id = accounts.id AND period_seq = accounts.period_seq)
      ELSE spent_nanodollars END AS charged
  FROM accounts WHERE id > ${after} AND id <= ${last} AND id <> ${FRAME_ID} AND period_seq > 0
)
SELECT 'held' AS check_name, id AS account_id, period_seq,
  holding AS expected_nanodollars, held_nanodollars AS found_nanodollars
FROM page WHERE held_nanodollars <> holding
UNION ALL
SELECT 'in_flight', id, NULL, flying, in_flight FROM page WHERE in_flight <> flying
UNION ALL
SELECT 'spent', id, period_seq, charged, spent_nanodollars FROM page WHERE spent_nanodollars <> charged
UNION ALL
SELECT 'limit', id, period_seq, granted_limit_nanodollars + overrun_nanodollars,
  spent_nanodollars + held_nanodollars
FROM page WHERE spent_nanodollars + held_nanodollars > granted_limit_nanodollars + overrun_nanodollars`

/** Over all periods ever: the frame's do not end when those of the keys do. */
const FRAME_CHECK = sql<Finding>`
WITH spent AS (
  SELECT id AS account_id, spent_nanodollars AS amount FROM accounts
  UNION ALL
  SELECT account_id, spent_nanodollars FROM account_periods
), sums AS (
  SELECT sum(CASE WHEN account_id = ${FRAME_ID} THEN 0 ELSE amount END) AS of_keys,
    sum(CASE WHEN account_id = ${FRAME_ID} THEN amount ELSE 0 END) AS of_frame
  FROM spent
)
SELECT 'spent' AS check_name, ${FRAME_ID} AS account_id, NULL AS period_seq,
  of_keys AS expected_nanodollars, of_frame AS found_nanodollars
FROM sums WHERE of_keys <> of_frame`
