// The writer's statements for PostgreSQL. Rows travel as lists, one for each column: a statement's text, and with it
// its cached plan, is the same for one row and for many, and no row repeats the names of its columns.
import {
  ACCOUNT_CHANGE_COLUMNS,
  ACCOUNT_COLUMNS,
  ENTRY_COLUMNS,
  HOLD_COLUMNS,
  PERIOD_COLUMNS,
  ROLLUP_KEY_COLUMNS,
  ROLLUP_SUM_COLUMNS,
  USAGE_COLUMNS,
} from '../rules/rows.ts'

/** The columns written to existing rows. */
export const HOLD_CHANGE_COLUMNS = ['id', 'amount_nanodollars'] as const
export const PERIOD_CHANGE_COLUMNS = [
  'account_id',
  'seq',
  'spent_nanodollars',
  'held_nanodollars',
  'overrun_nanodollars',
] as const
export const PRICE_COLUMNS = ['version', 'figures'] as const
export const ROLLUP_COLUMNS = [...ROLLUP_KEY_COLUMNS, ...ROLLUP_SUM_COLUMNS] as const

/** Every other column is an integer. */
const TEXTS = {
  accounts: ['id', 'rate_window'],
  account_periods: ['account_id'],
  holds: ['request_id', 'key_id', 'endpoint', 'model_asked'],
  usage: [
    'request_id',
    'key_id',
    'state',
    'price_version',
    'endpoint',
    'model_asked',
    'model_served',
    'provider',
    'error_code',
    'end_user',
    'tags',
    'attempts',
  ],
  rollups: ['span', 'key_id', 'model'],
  prices: ['version', 'figures'],
  ledger_entries: ['id', 'kind', 'account_id', 'actor', 'reason', 'origin'],
} as const satisfies Record<string, readonly string[]>

type Table = keyof typeof TEXTS

const [, ...accountChanges] = ACCOUNT_CHANGE_COLUMNS

/** Where the lists of each part begin among the parameters of `write`. */
const HOLDS_AT = 1
const CLOSED_AT = HOLDS_AT + HOLD_COLUMNS.length
const USAGE_AT = CLOSED_AT + 1
const ROLLUPS_AT = USAGE_AT + USAGE_COLUMNS.length
const ACCOUNTS_AT = ROLLUPS_AT + ROLLUP_COLUMNS.length

export const STATEMENTS = {
  // Serialises with fencing: a node that is being fenced either commits first or finds out here.
  liveNode: "SELECT 1 FROM nodes WHERE id = $1 AND status = 'live' FOR SHARE",
  // One order for all nodes, so that no two can wait for each other; the frame last, because every batch needs it. The
  // outer query sees a row once it is locked, so the time in the last row is later than all locks.
  lockAccounts: `SELECT locked.*, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM (
      SELECT ${ACCOUNT_COLUMNS.join(', ')} FROM accounts WHERE id = ANY ($1)
      ORDER BY id = 'frame', id FOR NO KEY UPDATE
    ) AS locked`,
  // The locking statement's own snapshot is older than its locks: a later statement reads what they protect.
  holds: `SELECT ${HOLD_COLUMNS.join(', ')} FROM holds WHERE id = ANY ($1)`,
  holdOrUsage: 'SELECT 1 FROM holds WHERE id = $1 UNION ALL SELECT 1 FROM usage WHERE id = $1',
  // Retention deletes rows without locking their accounts: this lock keeps a row until it is corrected.
  usage: `SELECT ${USAGE_COLUMNS.join(', ')} FROM usage WHERE id = ANY ($1) FOR UPDATE`,
  insertPeriods: insert('account_periods', PERIOD_COLUMNS),
  changePeriods: `UPDATE account_periods SET
      spent_nanodollars = account_periods.spent_nanodollars + given.spent_nanodollars,
      held_nanodollars = account_periods.held_nanodollars + given.held_nanodollars,
      overrun_nanodollars = account_periods.overrun_nanodollars + given.overrun_nanodollars
    FROM ${given('account_periods', PERIOD_CHANGE_COLUMNS)}
    WHERE account_periods.account_id = given.account_id AND account_periods.seq = given.seq`,
  // What nearly every batch writes, as one statement: most of a small statement's cost is fixed.
  write: `WITH
    new_holds AS (${insert('holds', HOLD_COLUMNS, HOLDS_AT)}),
    closed_holds AS (DELETE FROM holds WHERE id = ANY ($${CLOSED_AT})),
    new_usage AS (${insert('usage', USAGE_COLUMNS, USAGE_AT)}),
    new_rollups AS (${insert('rollups', ROLLUP_COLUMNS, ROLLUPS_AT)}
      ON CONFLICT (${ROLLUP_KEY_COLUMNS.join(', ')}) DO UPDATE SET
      ${assignments(ROLLUP_SUM_COLUMNS, (column) => `rollups.${column} + excluded.${column}`)})
    UPDATE accounts SET ${assignments(accountChanges, (column) => `given.${column}`)}
    FROM ${given('accounts', ACCOUNT_CHANGE_COLUMNS, ACCOUNTS_AT)} WHERE accounts.id = given.id`,
  changeHolds: `UPDATE holds SET amount_nanodollars = given.amount_nanodollars
    FROM ${given('holds', HOLD_CHANGE_COLUMNS)} WHERE holds.id = given.id`,
  replaceUsage: `${insert('usage', USAGE_COLUMNS)}
    ON CONFLICT (id) DO UPDATE SET ${assignments(USAGE_COLUMNS, (column) => `excluded.${column}`)}`,
  insertEntries: insert('ledger_entries', ENTRY_COLUMNS),
  insertPrices: `${insert('prices', PRICE_COLUMNS)} ON CONFLICT DO NOTHING`,
} as const satisfies Record<string, string>

export type StatementName = keyof typeof STATEMENTS

function insert(table: Table, columns: readonly string[], at = 1): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM ${given(table, columns, at)}`
}

/** The rows whose lists begin at this parameter. */
function given(table: Table, columns: readonly string[], at = 1): string {
  const texts: readonly string[] = TEXTS[table]
  const lists = columns.map((column, index) => {
    return `$${at + index}::${texts.includes(column) ? 'text' : 'bigint'}[]`
  })
  return `unnest(${lists.join(', ')}) AS given (${columns.join(', ')})`
}

function assignments(columns: readonly string[], value: (column: string) => string): string {
  return columns.map((column) => `${column} = ${value(column)}`).join(', ')
}
