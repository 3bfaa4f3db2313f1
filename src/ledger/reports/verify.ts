// Do the books balance? Checks every invariant of the ledger in one statement: the same figures from both sides, as the
// accounts state them and as holds and usage rows add up, leg by leg. It sees one moment, so it can run beside running
// servers without stopping them. Reads only; repairs nothing.
import { sql, type RawBuilder } from 'kysely'
import { formatUsd } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import { MAIN, POSITIONS, type FurtherBudget, WINDOW } from '../../store/accounts/budgets.ts'
import { atOneMoment } from '../../store/backup/transaction.ts'
import { findDamage } from '../../store/damage.ts'
import type { Store } from '../../store/database/store.ts'
import { databaseNow } from '../../store/database/store.ts'
import { FRAME_ID, KEYS_AFTER } from '../../store/database/tables.ts'

type Sql = RawBuilder<unknown>

/** A row that breaks an invariant, as the database returns it. */
type Finding = {
  readonly check_name: string
  readonly account_id: string
  readonly budget: string
  readonly period_seq: number | null
  readonly expected_nanodollars: bigint | null
  readonly found_nanodollars: bigint | null
}

/** Found only when nothing may run: not an imbalance, but money that is not settled yet. */
export const OPEN_HOLD = 'quiescent_holds'

type LegColumns = { readonly account: Sql; readonly budget: Sql; readonly seq: string }

/** Where holds and usage rows name their legs: the columns behind `legsOf`. */
const KEY_LEGS: readonly LegColumns[] = [
  { account: sql`key_id`, budget: sql.lit(MAIN), seq: 'key_period' },
  { account: sql`key_id`, budget: sql.lit(WINDOW), seq: 'key_window' },
  { account: sql`key_id`, budget: sql`'model:' || model_asked`, seq: 'model_cap' },
]
const GROUP_LEGS: readonly LegColumns[] = [
  { account: sql`group_id`, budget: sql.lit(MAIN), seq: 'group_period' },
  { account: sql`group_id`, budget: sql.lit(WINDOW), seq: 'group_window' },
]
const FRAME_LEGS: readonly LegColumns[] = [
  { account: sql.lit(FRAME_ID), budget: sql.lit(MAIN), seq: 'frame_period' },
  { account: sql.lit(FRAME_ID), budget: sql.lit(WINDOW), seq: 'frame_window' },
]
const ALL_LEGS = [...KEY_LEGS, ...GROUP_LEGS, ...FRAME_LEGS]

/** Each row of a table once for each of its legs. */
function eachLeg(table: string, legs: readonly LegColumns[], amounts: Sql): Sql {
  const parts = legs.map(
    ({ account, budget, seq }) => sql`
  SELECT ${account} AS account_id, ${budget} AS budget, ${sql.ref(seq)} AS period_seq, ${amounts}
  FROM ${sql.table(table)} WHERE ${sql.ref(seq)} IS NOT NULL`,
  )
  return sql.join(parts, sql` UNION ALL `)
}

/** The same rule as `overrunOf`. */
const OVERRUN = sql`CASE WHEN cost_nanodollars > held_nanodollars
      THEN cost_nanodollars - held_nanodollars ELSE 0 END`

const HELD = sql`
  SELECT account_id, budget, period_seq, sum(amount) AS amount
  FROM (${eachLeg('holds', ALL_LEGS, sql`held_nanodollars AS amount`)}) AS legs
  GROUP BY account_id, budget, period_seq`

const IN_FLIGHT = sql`
  SELECT key_id AS account_id, count(*) AS amount FROM holds GROUP BY key_id
  UNION ALL
  SELECT group_id, count(*) FROM holds WHERE group_id IS NOT NULL GROUP BY group_id
  UNION ALL
  SELECT ${sql.lit(FRAME_ID)}, count(*) FROM holds`

/** The further budgets of accounts, a row each, under `further.value`; nothing for an account without any. */
function further(store: Store): Sql {
  return store.kind === 'sqlite'
    ? sql`CROSS JOIN json_each(nullif(accounts.budgets, '')) AS further`
    : sql`CROSS JOIN LATERAL jsonb_array_elements(nullif(accounts.budgets, '')::jsonb) AS further (value)`
}

function figure(name: keyof FurtherBudget): Sql {
  return sql`CAST(further.value ->> ${sql.lit(POSITIONS[name])} AS BIGINT)`
}

const FURTHER_NAME = sql`further.value ->> ${sql.lit(POSITIONS.name)}`

/** What the running periods of accounts state, as one row for each budget. */
function running(store: Store, accounts: Sql): Sql {
  return sql`
  SELECT accounts.id AS account_id, ${sql.lit(MAIN)} AS budget, period_seq, spent_nanodollars, held_nanodollars,
    overrun_nanodollars, granted_limit_nanodollars FROM ${accounts} WHERE period_seq > 0
  UNION ALL
  SELECT accounts.id, ${FURTHER_NAME}, ${figure('periodSeq')}, ${figure('spent')}, ${figure('held')},
    ${figure('overrun')}, ${figure('grantedLimit')} FROM ${accounts} ${further(store)}`
}

/** In order: the columns of the rows that decide their legs. */
const LEG_NAMES = sql.raw(
  'key_id, group_id, model_asked, key_period, key_window, model_cap, group_period, group_window, frame_period, frame_window',
)

function figures(store: Store): Sql {
  return sql`
WITH stated AS (${running(store, sql`accounts`)}
  UNION ALL
  SELECT account_id, budget, seq, spent_nanodollars, held_nanodollars, overrun_nanodollars,
    granted_limit_nanodollars FROM account_periods
), held AS (${HELD}
), in_flight AS (${IN_FLIGHT}
), rows AS MATERIALIZED (
  SELECT ${LEG_NAMES}, sum(cost_nanodollars) AS cost, sum(${OVERRUN}) AS overrun, count(*) AS requests
  FROM usage GROUP BY ${LEG_NAMES}
), charges AS (
  ${eachLeg('rows', ALL_LEGS, sql`cost, overrun, requests`)}
  UNION ALL
  SELECT account_id, budget, period_seq, cost_nanodollars, overrun_nanodollars, requests FROM purged_usage
), charged AS (
  SELECT account_id, budget, period_seq, sum(cost) AS cost, sum(overrun) AS overrun, sum(requests) AS requests
  FROM charges GROUP BY account_id, budget, period_seq
), spans AS (
  SELECT 'hour' AS span UNION ALL SELECT 'day'
), charged_ever AS (
  SELECT account_id, span, sum(cost) AS cost, sum(requests) AS requests
  FROM charged CROSS JOIN spans WHERE budget = ${sql.lit(MAIN)} GROUP BY account_id, span
), rolled_up AS (
  SELECT key_id AS account_id, span, sum(cost_nanodollars) AS cost, sum(requests) AS requests
  FROM rollups GROUP BY key_id, span
), key_hours AS (
  SELECT reserved_at - reserved_at % ${sql.lit(HOUR_MS)} AS starts_at, key_id, group_id,
    model_asked AS model, sum(cost_nanodollars) AS cost, count(*) AS requests
  FROM usage GROUP BY reserved_at - reserved_at % ${sql.lit(HOUR_MS)}, key_id, group_id, model_asked
), hours AS (
  SELECT starts_at, key_id AS account_id, model, cost, requests FROM key_hours
  UNION ALL
  SELECT starts_at, group_id, model, cost, requests FROM key_hours WHERE group_id IS NOT NULL
  UNION ALL
  SELECT starts_at, ${sql.lit(FRAME_ID)}, model, cost, requests FROM key_hours
), buckets AS (
  ${bucketsOf('hour', HOUR_MS)}
  UNION ALL
  ${bucketsOf('day', DAY_MS)}
), rolled_buckets AS (
  SELECT span, starts_at, key_id AS account_id, model, sum(cost_nanodollars) AS cost, sum(requests) AS requests
  FROM rollups GROUP BY span, starts_at, key_id, model
)`
}

function bucketsOf(span: 'hour' | 'day', spanMs: number): Sql {
  const startsAt = sql`starts_at - starts_at % ${sql.lit(spanMs)}`
  return sql`SELECT ${sql.lit(span)} AS span, ${startsAt} AS starts_at, account_id, model,
    sum(cost) AS cost, sum(requests) AS requests FROM hours GROUP BY ${startsAt}, account_id, model`
}

/** Whether two rows are about the same period of the same budget. */
function samePeriod(one: string, other: string): Sql {
  const names = ['account_id', 'budget', 'period_seq']
  const pairs = names.map(
    (name) => sql`${sql.ref(`${one}.${name}`)} = ${sql.ref(`${other}.${name}`)}`,
  )
  return sql.join(pairs, sql` AND `)
}

function wrongSum(check: string, column: string, sum: string): Sql {
  const stated = sql.ref(`stated.${column}`)
  const [table = ''] = sum.split('.')
  const summed = sql`coalesce(${sql.ref(sum)}, 0)`
  return sql`
SELECT ${sql.lit(check)} AS check_name, stated.account_id, stated.budget, stated.period_seq,
  ${summed} AS expected_nanodollars, ${stated} AS found_nanodollars
FROM stated LEFT JOIN ${sql.table(table)} ON ${samePeriod('stated', table)}
WHERE ${stated} <> ${summed}`
}

function withoutPeriod(check: string, sum: string): Sql {
  const [table = ''] = sum.split('.')
  const named = (name: string) => sql.ref(`${table}.${name}`)
  return sql`
SELECT ${sql.lit(check)}, ${named('account_id')}, ${named('budget')}, ${named('period_seq')}, NULL, ${sql.ref(sum)}
FROM ${sql.table(table)} LEFT JOIN stated ON ${samePeriod('stated', table)}
WHERE stated.account_id IS NULL`
}

const ABOVE_LIMIT = sql`
SELECT 'limit', account_id, budget, period_seq, granted_limit_nanodollars + overrun_nanodollars,
  spent_nanodollars + held_nanodollars
FROM stated WHERE spent_nanodollars + held_nanodollars > granted_limit_nanodollars + overrun_nanodollars`

/**
 * A rollup may exceed the sum of its usage rows, because retention deletes rows, but never fall below it. All rollups
 * of an account equal the sum of all its rows, including deleted ones.
 */
function rollupChecks(sum: 'cost' | 'requests'): Sql {
  const amount = sql.ref(sum)
  const inBucket = sql.ref(`buckets.${sum}`)
  const inRollup = sql`coalesce(${sql.ref(`rolled_buckets.${sum}`)}, 0)`
  // Added up side by side: SQLite has no index for a full join.
  return sql`
SELECT ${sql.lit(`rollup_${sum}`)}, account_id, '', NULL, sum(ever), sum(rolled)
FROM (
  SELECT account_id, span, ${amount} AS rolled, 0 AS ever FROM rolled_up
  UNION ALL
  SELECT account_id, span, 0, ${amount} FROM charged_ever
) AS sides GROUP BY account_id, span HAVING sum(rolled) <> sum(ever)
UNION ALL
SELECT ${sql.lit(`bucket_${sum}`)}, buckets.account_id, '', NULL, ${inBucket}, ${inRollup}
FROM buckets LEFT JOIN rolled_buckets ON rolled_buckets.span = buckets.span
  AND rolled_buckets.starts_at = buckets.starts_at AND rolled_buckets.account_id = buckets.account_id
  AND rolled_buckets.model = buckets.model
WHERE ${inRollup} < ${inBucket}`
}

/** The days of keys that are summed up, and no others, are what their day rollups add up to. */
function keyDayCheck(sum: 'cost_nanodollars' | 'requests'): Sql {
  const amount = sql.ref(sum)
  return sql`
SELECT ${sql.lit(sum === 'requests' ? 'day_requests' : 'day_cost')}, account_id, '', NULL, sum(rolled), sum(summed)
FROM (
  SELECT key_id AS account_id, starts_at, rollups.group_id, ${amount} AS rolled, 0 AS summed
  FROM rollups JOIN accounts AS frame ON frame.id = ${sql.lit(FRAME_ID)}
  WHERE span = 'day' AND key_id > ${sql.lit(KEYS_AFTER)}
    AND (starts_at < summed_day OR starts_at = summed_day AND key_id <= summed_key)
  UNION ALL
  SELECT key_id, starts_at, group_id, 0, ${amount} FROM key_days
) AS sides GROUP BY account_id, starts_at, group_id HAVING sum(rolled) <> sum(summed)`
}

const QUIESCENT = sql`
SELECT ${sql.lit(OPEN_HOLD)}, key_id, '', key_period, NULL, id FROM holds`

/** Every invariant, in one statement, so that it sees one moment. */
function allChecks(store: Store, isQuiescent: boolean): RawBuilder<Finding> {
  const checks = [
    wrongSum('held', 'held_nanodollars', 'held.amount'),
    wrongSum('spent', 'spent_nanodollars', 'charged.cost'),
    wrongSum('overrun', 'overrun_nanodollars', 'charged.overrun'),
    ABOVE_LIMIT,
    sql`
SELECT 'in_flight', accounts.id, '', NULL, coalesce(in_flight.amount, 0), accounts.in_flight
FROM accounts LEFT JOIN in_flight ON in_flight.account_id = accounts.id
WHERE accounts.in_flight <> coalesce(in_flight.amount, 0)`,
    withoutPeriod('hold_without_period', 'held.amount'),
    withoutPeriod('charge_without_period', 'charged.cost'),
    sql`
SELECT 'closed_twice', holds.key_id, '', holds.key_period, NULL, holds.id
FROM holds JOIN usage ON usage.id = holds.id`,
    rollupChecks('cost'),
    rollupChecks('requests'),
    keyDayCheck('cost_nanodollars'),
    keyDayCheck('requests'),
    ...(isQuiescent ? [QUIESCENT] : []),
  ]
  return sql<Finding>`${figures(store)} ${sql.join(checks, sql` UNION ALL `)}`
}

/** What costs next to nothing: the frame, and the accounts that have open holds. */
function openChecks(store: Store): RawBuilder<Finding> {
  const heldOnFrame = sql`(SELECT coalesce(sum(held_nanodollars), 0) FROM holds WHERE frame_period = accounts.period_seq)`
  return sql<Finding>`
WITH held AS (${HELD}
), in_flight AS (${IN_FLIGHT}
)
SELECT 'held' AS check_name, accounts.id AS account_id, held.budget, held.period_seq,
  held.amount AS expected_nanodollars, accounts.held_nanodollars AS found_nanodollars
FROM held JOIN accounts ON accounts.id = held.account_id AND accounts.period_seq = held.period_seq
WHERE held.budget = ${sql.lit(MAIN)} AND accounts.held_nanodollars <> held.amount
UNION ALL
SELECT 'held', accounts.id, held.budget, held.period_seq, held.amount, ${figure('held')}
FROM held JOIN accounts ON accounts.id = held.account_id ${further(store)}
WHERE held.budget = ${FURTHER_NAME} AND held.period_seq = ${figure('periodSeq')}
  AND ${figure('held')} <> held.amount
UNION ALL
SELECT 'held', accounts.id, '', accounts.period_seq, ${heldOnFrame}, accounts.held_nanodollars
FROM accounts WHERE accounts.id = ${FRAME_ID} AND accounts.held_nanodollars <> ${heldOnFrame}
UNION ALL
SELECT 'in_flight', accounts.id, '', NULL, in_flight.amount, accounts.in_flight
FROM in_flight JOIN accounts ON accounts.id = in_flight.account_id
WHERE accounts.in_flight <> in_flight.amount`
}

/** With more rows, what an account spent is left to FRAME_CHECK and `ledger verify`: adding up would make requests wait. */
const ROWS_MAX = 500

/** The accounts after one id, up to another, without the frame. */
function accountChecks(
  store: Store,
  { after, last }: { readonly after: string; readonly last: string },
): RawBuilder<Finding> {
  const few = (accounts: Sql, column: string): Sql => sql`
  SELECT id FROM page WHERE ${accounts} AND (SELECT count(*) FROM
    (SELECT 1 FROM usage WHERE ${sql.ref(column)} = page.id LIMIT ${sql.lit(ROWS_MAX + 1)}) AS rows)
    <= ${sql.lit(ROWS_MAX)}`
  const amounts = sql`cost_nanodollars AS cost`
  // Materialized and crossed, so that SQLite begins with the few: else it counted the rows of a key for every usage row.
  return sql<Finding>`
WITH page AS (
  SELECT * FROM accounts WHERE id > ${after} AND id <= ${last} AND id <> ${FRAME_ID}
), stated AS (${running(store, sql`page AS accounts`)}
), held AS (${HELD}
), in_flight AS (${IN_FLIGHT}
), few_keys AS MATERIALIZED (${few(sql`id > ${sql.lit(KEYS_AFTER)}`, 'key_id')}
), few_groups AS MATERIALIZED (${few(sql`id < ${sql.lit(KEYS_AFTER)}`, 'group_id')}
), few AS (SELECT id FROM few_keys UNION ALL SELECT id FROM few_groups
), rows_of_keys AS (SELECT usage.* FROM few_keys CROSS JOIN usage WHERE usage.key_id = few_keys.id
), rows_of_groups AS (SELECT usage.* FROM few_groups CROSS JOIN usage WHERE usage.group_id = few_groups.id
), charges AS (
  ${eachLeg('rows_of_keys', KEY_LEGS, amounts)}
  UNION ALL
  ${eachLeg('rows_of_groups', GROUP_LEGS, amounts)}
  UNION ALL
  SELECT account_id, budget, period_seq, cost_nanodollars FROM purged_usage
  WHERE account_id IN (SELECT id FROM few)
), charged AS (
  SELECT account_id, budget, period_seq, sum(cost) AS cost FROM charges
  GROUP BY account_id, budget, period_seq
)
${wrongSum('held', 'held_nanodollars', 'held.amount')}
UNION ALL
${wrongSum('spent', 'spent_nanodollars', 'charged.cost')} AND stated.account_id IN (SELECT id FROM few)
UNION ALL
${ABOVE_LIMIT}
UNION ALL
SELECT 'in_flight', page.id, '', NULL, coalesce(in_flight.amount, 0), page.in_flight
FROM page LEFT JOIN in_flight ON in_flight.account_id = page.id
WHERE page.in_flight <> coalesce(in_flight.amount, 0)`
}

/** Over all periods ever: the frame's do not end when those of the keys do. */
const FRAME_CHECK = sql<Finding>`
WITH spent AS (
  SELECT id AS account_id, spent_nanodollars AS amount FROM accounts
  UNION ALL
  SELECT account_id, spent_nanodollars FROM account_periods WHERE budget = ${sql.lit(MAIN)}
), sums AS (
  SELECT sum(CASE WHEN account_id > ${sql.lit(KEYS_AFTER)} THEN amount ELSE 0 END) AS of_keys,
    sum(CASE WHEN account_id = ${sql.lit(FRAME_ID)} THEN amount ELSE 0 END) AS of_frame
  FROM spent
)
SELECT 'spent' AS check_name, ${sql.lit(FRAME_ID)} AS account_id, '' AS budget, NULL AS period_seq,
  of_keys AS expected_nanodollars, of_frame AS found_nanodollars
FROM sums WHERE of_keys <> of_frame`

// Running the checks. `ledger verify` looks at the database itself first, because a sum over what is left of it may well
// be right.

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
    expected: figureText(row.check_name, row.expected_nanodollars),
    found: figureText(row.check_name, row.found_nanodollars),
  }
}

function figureText(check: string, amount: bigint | null): string {
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
