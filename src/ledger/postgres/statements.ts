// The writer's statements for PostgreSQL. Rows travel as lists, one for each column: a statement's text, and with it
// its cached plan, is the same for one row and for many, and no row repeats the names of its columns.
import { EMIT_MESSAGE } from '../../store/postgres/pool.ts'
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

const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now'

/** Every change of a row, by whomever, gives it another one. */
const VERSION = 'accounts.xmin AS version'

/**
 * Locks as `lockAccounts` and `liveNode` do, and then says whether the accounts ($1, of the versions $2) are as they were
 * known, the node ($3) is live, and the time lies between $4 and $5.
 */
const GUARD = `
    locked AS MATERIALIZED (SELECT ${NOW} FROM (
      SELECT FROM (SELECT unnest($1::text[]) AS id, unnest($2::xid[]) AS version, ${position('$1')}) AS known
      JOIN accounts ON accounts.id = known.id AND accounts.xmin = known.version
      ORDER BY known.position FOR NO KEY UPDATE OF accounts
    ) AS accounts),
    live AS MATERIALIZED (SELECT FROM nodes WHERE id = $3 AND status = 'live' FOR SHARE),
    guard AS MATERIALIZED (SELECT max(now) AS now,
      count(*) = cardinality($1::text[]) AND EXISTS (SELECT FROM live)
        AND max(now) BETWEEN $4 AND $5 AS holds FROM locked)`

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
  write: writing(['opened', 'closed']),
  // The same, and a transaction by itself, if what was known of the books is still true; else it writes nothing.
  writeIfTrue: writingIfTrue(['opened', 'closed']),
  // Where it only opens holds, or opens none, as for one call alone: each list costs something even without a row.
  openIfTrue: writingIfTrue(['opened']),
  closeIfTrue: writingIfTrue(['closed']),
  // A transaction that changes no row, and is durable only when everything before it is, on replicas as well where commits
  // wait for them. Nobody reads the message.
  flush: `SELECT ${EMIT_MESSAGE}(true, 'tollgate', '')`,
  changeHolds: `UPDATE holds SET held_nanodollars = given.held_nanodollars
    FROM ${given(HOLD_CHANGE)} WHERE holds.id = given.id`,
  replaceUsage: `${insert('usage', USAGE)}
    ON CONFLICT (id) DO UPDATE SET ${assignments(USAGE.names, (name) => `excluded.${name}`)}`,
  addKeyDays: `${insert('key_days', KEY_DAY)} ${adding('key_days', KEY_DAY, KEY_DAY_KEYS)}`,
  insertEntries: insert('ledger_entries', ENTRY),
  insertPrices: `${insert('prices', PRICE)} ON CONFLICT DO NOTHING`,
} as const satisfies Record<string, string>

export type StatementName = keyof typeof STATEMENTS

function position(ids: string): string {
  return `generate_series(1, cardinality(${ids}::text[])) AS position`
}

/** What a batch writes beside accounts: holds that it opens, and what comes of holds that it closes or calls it refuses. */
type Part = 'opened' | 'closed'

/** Its lists: first those of the accounts, then those of each part. */
function writing(parts: readonly Part[]): string {
  return `WITH ${changes(parts, { at: 1, condition: 'true' })} SELECT version FROM new_accounts LIMIT 1`
}

/** Its parameters: first those of the guard, then the same lists. */
function writingIfTrue(parts: readonly Part[]): string {
  return `WITH ${GUARD}, ${changes(parts, { at: 6, condition: '(SELECT holds FROM guard)' })}
    SELECT now, holds, (SELECT version FROM new_accounts LIMIT 1) FROM guard`
}

/** As one statement: most of a small statement's cost is fixed. */
function changes(
  parts: readonly Part[],
  { at, condition }: { readonly at: number; readonly condition: string },
): string {
  let next = at
  const listsOf = ({ names }: Pick<Columns, 'names'>): number => {
    const first = next
    next += names.length
    return first
  }
  const written = [
    `new_accounts AS (UPDATE accounts SET ${assignments(accountChanges, (name) => `given.${name}`)}
      FROM ${given(ACCOUNT_CHANGE, listsOf(ACCOUNT_CHANGE))} WHERE accounts.id = given.id AND ${condition}
      RETURNING ${VERSION})`,
  ]
  if (parts.includes('opened')) {
    written.push(`new_holds AS (${insert('holds', HOLD, listsOf(HOLD))} WHERE ${condition})`)
  }
  if (parts.includes('closed')) {
    const closed = listsOf({ names: ['id'] })
    written.push(
      `closed_holds AS (DELETE FROM holds WHERE id = ANY ($${closed}) AND ${condition})`,
      `new_usage AS (${insert('usage', USAGE, listsOf(USAGE))} WHERE ${condition})`,
      `new_rollups AS (${insert('rollups', ROLLUP, listsOf(ROLLUP))} WHERE ${condition}
        ${adding('rollups', ROLLUP, ROLLUP_KEYS)})`,
    )
  }
  return written.join(', ')
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
