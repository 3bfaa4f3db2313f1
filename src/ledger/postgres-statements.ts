// What the writer says to PostgreSQL. Each statement takes lists or JSON, so that its text, and with it its kept plan,
// is the same for one item and for many.
import {
  ACCOUNT_CHANGE_COLUMNS,
  ACCOUNT_COLUMNS,
  ENTRY_COLUMNS,
  HOLD_COLUMNS,
  PERIOD_COLUMNS,
  ROLLUP_KEY_COLUMNS,
  ROLLUP_SUM_COLUMNS,
  USAGE_COLUMNS,
} from './rows.ts'

const [, ...accountChanges] = ACCOUNT_CHANGE_COLUMNS

export const STATEMENTS = {
  // Serialises with fencing: a node that is being fenced either commits first or finds out here.
  liveNode: "SELECT 1 FROM nodes WHERE id = $1 AND status = 'live' FOR SHARE",
  // One order for everybody, so that two nodes cannot wait for each other; the frame last, because all wait for it. The
  // outer query sees a row once it is locked, so the time in the last row is later than all locks.
  lockAccounts: `SELECT locked.*, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM (
      SELECT ${ACCOUNT_COLUMNS.join(', ')} FROM accounts WHERE id = ANY ($1)
      ORDER BY id = 'frame', id FOR NO KEY UPDATE
    ) AS locked`,
  // The locking statement's own snapshot is older than its locks: what they protect is read after it.
  holds: `SELECT ${HOLD_COLUMNS.join(', ')} FROM holds WHERE id = ANY ($1)`,
  usage: `SELECT ${USAGE_COLUMNS.join(', ')} FROM usage WHERE id = ANY ($1)`,
  insertPeriods: insertFromJson('account_periods', PERIOD_COLUMNS),
  changePeriods: `UPDATE account_periods SET
      spent_nanodollars = account_periods.spent_nanodollars + change.spent_nanodollars,
      held_nanodollars = account_periods.held_nanodollars + change.held_nanodollars,
      overrun_nanodollars = account_periods.overrun_nanodollars + change.overrun_nanodollars
    FROM json_populate_recordset(NULL::account_periods, $1) AS change
    WHERE account_periods.account_id = change.account_id AND account_periods.seq = change.seq`,
  // What nearly every batch writes, as one statement: most of the cost of a small one is its being one.
  write: `WITH
    new_holds AS (${insertFromJson('holds', HOLD_COLUMNS)}),
    closed_holds AS (DELETE FROM holds WHERE id = ANY ($2)),
    new_usage AS (${insertFromJson('usage', USAGE_COLUMNS, 3)}),
    new_rollups AS (${insertFromJson('rollups', [...ROLLUP_KEY_COLUMNS, ...ROLLUP_SUM_COLUMNS], 4)}
      ON CONFLICT (${ROLLUP_KEY_COLUMNS.join(', ')}) DO UPDATE SET
      ${assignments(ROLLUP_SUM_COLUMNS, (column) => `rollups.${column} + excluded.${column}`)})
    UPDATE accounts SET ${assignments(accountChanges, (column) => `change.${column}`)}
    FROM json_populate_recordset(NULL::accounts, $5) AS change WHERE accounts.id = change.id`,
  changeHolds: `UPDATE holds SET amount_nanodollars = change.amount_nanodollars
    FROM json_populate_recordset(NULL::holds, $1) AS change WHERE holds.id = change.id`,
  replaceUsage: `${insertFromJson('usage', USAGE_COLUMNS)}
    ON CONFLICT (id) DO UPDATE SET ${assignments(USAGE_COLUMNS, (column) => `excluded.${column}`)}`,
  insertEntries: insertFromJson('ledger_entries', ENTRY_COLUMNS),
  insertPrices: `${insertFromJson('prices', ['version', 'figures'])} ON CONFLICT DO NOTHING`,
} as const satisfies Record<string, string>

export type StatementName = keyof typeof STATEMENTS

function insertFromJson(table: string, columns: readonly string[], parameter = 1): string {
  const list = columns.join(', ')
  return `INSERT INTO ${table} (${list})
    SELECT ${list} FROM json_populate_recordset(NULL::${table}, $${parameter})`
}

function assignments(columns: readonly string[], value: (column: string) => string): string {
  return columns.map((column) => `${column} = ${value(column)}`).join(', ')
}
