// The writer's statements for PostgreSQL. Rows travel as lists, one for each column: a statement's text, and with it
// its cached plan, is the same for one row and for many, and no row repeats the names of its columns.
import {
  ACCOUNT,
  ACCOUNT_CHANGE,
  CLOSED_PERIOD,
  ENTRY,
  HOLD,
  HOLD_CHANGE,
  KEY_DAY,
  KEY_DAY_KEYS,
  PERIOD_DELTA,
  PRICE,
  ROLLUP,
  ROLLUP_KEYS,
  USAGE,
} from '../rules/rows.ts'

/** What of a layout a statement says. */
type Columns = {
  readonly names: readonly string[]
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

const [, ...accountChanges] = ACCOUNT_CHANGE.names

/** Where the lists of each part begin among the parameters of `write`, and those of the guard after them. */
const HOLDS_AT = 1
const CLOSED_AT = HOLDS_AT + HOLD.names.length
const USAGE_AT = CLOSED_AT + 1
const ROLLUPS_AT = USAGE_AT + USAGE.names.length
const ACCOUNTS_AT = ROLLUPS_AT + ROLLUP.names.length
const GUARD_AT = ACCOUNTS_AT + ACCOUNT_CHANGE.names.length

const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now'

/** Every change of a row, by whomever, gives it another one. */
const VERSION = 'accounts.xmin AS version'

export const STATEMENTS = {
  // Serialises with fencing: a node that is being fenced either commits first or finds out here.
  liveNode: "SELECT 1 FROM nodes WHERE id = $1 AND status = 'live' FOR SHARE",
  // In the order of the list (`accountsOf`). The outer query sees a row once it is locked, so the time in the last row is
  // later than all locks.
  lockAccounts: `SELECT locked.*, ${NOW} FROM (
      SELECT ${ACCOUNT.names.map((name) => `accounts.${name}`).join(', ')}, ${VERSION}
      FROM (SELECT unnest($1::text[]) AS id, ${position('$1')}) AS named
      JOIN accounts ON accounts.id = named.id
      ORDER BY named.position FOR NO KEY UPDATE OF accounts
    ) AS locked`,
  // The locking statement's own snapshot is older than its locks: a later statement reads what they protect.
  holds: `SELECT ${HOLD.names.join(', ')} FROM holds WHERE id = ANY ($1)`,
  holdOrUsage: 'SELECT 1 FROM holds WHERE id = $1 UNION ALL SELECT 1 FROM usage WHERE id = $1',
  // Retention deletes rows without locking their accounts: this lock keeps a row until it is corrected.
  usage: `SELECT ${USAGE.names.join(', ')} FROM usage WHERE id = ANY ($1) FOR UPDATE`,
  insertPeriods: insert('account_periods', CLOSED_PERIOD),
  changePeriods: `UPDATE account_periods SET
      spent_nanodollars = account_periods.spent_nanodollars + given.spent_nanodollars,
      held_nanodollars = account_periods.held_nanodollars + given.held_nanodollars,
      overrun_nanodollars = account_periods.overrun_nanodollars + given.overrun_nanodollars
    FROM ${given(PERIOD_DELTA)}
    WHERE account_periods.account_id = given.account_id AND account_periods.budget = given.budget
      AND account_periods.seq = given.seq`,
  // What nearly every batch writes. It tells the version that the rows of accounts have from now on.
  write: `WITH ${writing('true')} SELECT version FROM new_accounts LIMIT 1`,
  // The same, and a transaction by itself, if what was known of the books is still true; else it writes nothing.
  writeIfTrue: `WITH ${guard(GUARD_AT)}, ${writing('(SELECT holds FROM guard)')}
    SELECT now, holds, (SELECT version FROM new_accounts LIMIT 1) FROM guard`,
  changeHolds: `UPDATE holds SET held_nanodollars = given.held_nanodollars
    FROM ${given(HOLD_CHANGE)} WHERE holds.id = given.id`,
  replaceUsage: `${insert('usage', USAGE)}
    ON CONFLICT (id) DO UPDATE SET ${assignments(USAGE.names, (name) => `excluded.${name}`)}`,
  addKeyDays: `${insert('key_days', KEY_DAY)} ${adding('key_days', KEY_DAY, KEY_DAY_KEYS)}`,
  insertEntries: insert('ledger_entries', ENTRY),
  insertPrices: `${insert('prices', PRICE)} ON CONFLICT DO NOTHING`,
} as const satisfies Record<string, string>

export type StatementName = keyof typeof STATEMENTS

/**
 * Locks as `lockAccounts` and `liveNode` do, and then says whether the accounts (ids, versions) are as they were known,
 * the node is live, and the time lies in between.
 */
function guard(at: number): string {
  const [ids, versions, node, from, until] = [0, 1, 2, 3, 4].map((index) => `$${at + index}`)
  return `
    locked AS MATERIALIZED (SELECT ${NOW} FROM (
      SELECT FROM (SELECT unnest(${ids}::text[]) AS id, unnest(${versions}::xid[]) AS version, ${position(`${ids}`)}) AS known
      JOIN accounts ON accounts.id = known.id AND accounts.xmin = known.version
      ORDER BY known.position FOR NO KEY UPDATE OF accounts
    ) AS accounts),
    live AS MATERIALIZED (SELECT FROM nodes WHERE id = ${node} AND status = 'live' FOR SHARE),
    guard AS MATERIALIZED (SELECT max(now) AS now,
      count(*) = cardinality(${ids}::text[]) AND EXISTS (SELECT FROM live)
        AND max(now) BETWEEN ${from} AND ${until} AS holds FROM locked)`
}

function position(ids: string): string {
  return `generate_series(1, cardinality(${ids}::text[])) AS position`
}

/** As one statement: most of a small statement's cost is fixed. */
function writing(condition: string): string {
  return `
    new_holds AS (${insert('holds', HOLD, HOLDS_AT)} WHERE ${condition}),
    closed_holds AS (DELETE FROM holds WHERE id = ANY ($${CLOSED_AT}) AND ${condition}),
    new_usage AS (${insert('usage', USAGE, USAGE_AT)} WHERE ${condition}),
    new_rollups AS (${insert('rollups', ROLLUP, ROLLUPS_AT)} WHERE ${condition}
      ${adding('rollups', ROLLUP, ROLLUP_KEYS)}),
    new_accounts AS (UPDATE accounts SET ${assignments(accountChanges, (name) => `given.${name}`)}
      FROM ${given(ACCOUNT_CHANGE, ACCOUNTS_AT)} WHERE accounts.id = given.id AND ${condition}
      RETURNING ${VERSION})`
}

function insert(table: string, layout: Columns, at = 1): string {
  return `INSERT INTO ${table} (${layout.names.join(', ')}) SELECT * FROM ${given(layout, at)}`
}

/** To rows that are there already; the first columns are their key, the others sums. */
function adding(table: string, { names }: Columns, keys: number): string {
  const sums = assignments(names.slice(keys), (name) => `${table}.${name} + excluded.${name}`)
  return `ON CONFLICT (${names.slice(0, keys).join(', ')}) DO UPDATE SET ${sums}`
}

/**
 * The rows whose lists begin at this parameter. Not `FROM unnest(…)`: that keeps the values of each list in a store of
 * its own, which took a third of a batch's time.
 */
function given({ columns }: Columns, at = 1): string {
  const values = columns.map(
    ({ name, type }, index) => `unnest($${at + index}::${type}[]) AS ${name}`,
  )
  return `(SELECT ${values.join(', ')}) AS given`
}

function assignments(names: readonly string[], value: (name: string) => string): string {
  return names.map((name) => `${name} = ${value(name)}`).join(', ')
}
