// Takes over a database from before the first release: of commit 977cfc19 (schema 1.12), or of the commits after it that
// had its tables (1.13). Every table is set aside and made anew; columns that both have are copied, new ones get their
// default. All of it happens in the transaction of migrate.ts, so a process that is killed
// leaves the old database. This file, its test and its fixtures may be deleted once the first release is out and no such
// database is left.
import { sql } from 'kysely'
import { StoreError } from './errors.ts'
import { run, type DatabaseKind, type Schema, type Version } from './migrations.ts'
import { FRAME_ID, TABLES, type Tables, type Tx } from './tables.ts'

type Table = keyof Tables

const OLDEST_MINOR = 12

/** What tables and columns were called, where that was different. */
const FORMER_TABLES: { readonly [Name in Table]?: string } = {
  identities: 'person_accounts',
  try_counts: 'attempts',
}
const FORMER_COLUMNS: {
  readonly [Name in Table]?: { readonly [Column in keyof Tables[Name]]?: string }
} = {
  accounts: { frame_period: 'frame_period_seq' },
  holds: { held_nanodollars: 'amount_nanodollars', output_tokens_max: 'output_tokens' },
  rollups: { failed: 'errors' },
  ledger_entries: { created_at: 'at' },
  audit: { created_at: 'at' },
  alerts: { created_at: 'at' },
  // They had no names: whoever manages them gives them some.
  alert_destinations: { name: 'id' },
  alert_deliveries: { attempt_count: 'attempts' },
  person_sessions: { person_id: 'user_id' },
  identities: { person_id: 'user_id', subject: 'account_id' },
  two_factors: { person_id: 'user_id' },
  try_counts: { starts_at: 'window_starts_at' },
}

/** False for a database of a release; refuses one that is too old. */
export function mustTakeOver({ major, minor }: Version): boolean {
  if (major > 1) return false
  if (minor >= OLDEST_MINOR) return true
  throw new StoreError(
    'older_schema',
    `this database has schema ${major}.${minor}, which only the Tollgate of commit 977cfc19 can bring up to date: ` +
      `start that one on it once, then this one`,
  )
}

export async function takeOver(tx: Tx, kind: DatabaseKind, schema: Schema): Promise<void> {
  const columns = await columnsByTable(tx, kind)
  const old = tableNames().flatMap((table) => {
    const former = FORMER_TABLES[table] ?? table
    const names = columns.get(former)
    return names === undefined ? [] : [{ table, former, names }]
  })
  // From the last to the first: a table is only referred to by later ones. Dropped and not renamed, so that the names of
  // its indexes and constraints are free for the new one.
  for (const { former } of old.toReversed()) {
    await execute(tx, `CREATE TABLE old_${former} AS SELECT * FROM ${former}`)
    await execute(tx, `DROP TABLE ${former}`)
  }
  await run(tx, kind, schema.tables)
  for (const { table, former, names } of old) {
    const pairs = columnPairs(table, names)
    await execute(
      tx,
      `INSERT INTO ${table} (${pairs.map(([name]) => name).join(', ')})
        SELECT ${pairs.map(([, source]) => source).join(', ')} FROM old_${former}`,
    )
    await execute(tx, `DROP TABLE old_${former}`)
  }
  await run(tx, kind, schema.indexes)
  if (columns.get('accounts')?.has('frame_period_seq') !== true) await addUpFrameParts(tx)
}

function tableNames(): readonly Table[] {
  return Object.keys(TABLES) as Table[]
}

/** Each column that is filled from the old table, and the one it is filled from. */
function columnPairs(table: Table, names: ReadonlySet<string>): readonly [string, string][] {
  const former: { readonly [column: string]: string } = FORMER_COLUMNS[table] ?? {}
  return Object.keys(TABLES[table]).flatMap((name): [string, string][] => {
    const source = former[name] ?? name
    return names.has(source) ? [[name, source]] : []
  })
}

async function columnsByTable(
  tx: Tx,
  kind: DatabaseKind,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  type Found = { readonly table_name: string; readonly column_name: string }
  const query =
    kind === 'sqlite'
      ? sql<Found>`SELECT found.name AS table_name, info.name AS column_name
          FROM sqlite_schema AS found, pragma_table_info(found.name) AS info WHERE found.type = 'table'`
      : sql<Found>`SELECT table_name, column_name FROM information_schema.columns
          WHERE table_schema = current_schema()`
  const byTable = Map.groupBy((await query.execute(tx)).rows, ({ table_name }) => table_name)
  return new Map(
    [...byTable].map(([table, found]) => [
      table,
      new Set(found.map(({ column_name }) => column_name)),
    ]),
  )
}

/** Each key's part of the frame's period, which 977cfc19 did not keep: what its usage rows of that period add up to. */
async function addUpFrameParts(tx: Tx): Promise<void> {
  await sql`UPDATE accounts SET frame_period = spent.frame_period, frame_spent_nanodollars = spent.cost
    FROM (SELECT usage.key_id, usage.frame_period, sum(usage.cost_nanodollars) AS cost
      FROM usage JOIN accounts AS frame ON frame.id = ${FRAME_ID} AND frame.period_seq = usage.frame_period
      GROUP BY usage.key_id, usage.frame_period) AS spent
    WHERE accounts.id = spent.key_id`.execute(tx)
}

async function execute(tx: Tx, statement: string): Promise<void> {
  await sql.raw(statement).execute(tx)
}
