// Transactions that take long: one moment of a whole database, for as long as it takes to read; a whole database in place
// of another; a change of any size. The first keeps no writer waiting, the second needs that there are none.
import { sql } from 'kysely'
import { StoreError } from '../database/errors.ts'
import { ADVISORY_LOCK } from '../database/migrate.ts'
import { run, SCHEMA } from '../database/migrations.ts'
import type { Store } from '../database/store.ts'
import type { Queries, Tx } from '../database/tables.ts'
import { withoutTimeout } from '../postgres/pool.ts'
import { insertPage, TABLE_NAMES, tallyAll, whyUnequal, type Page, type Tallies } from './rows.ts'

/** Queries of `work` see one moment. On SQLite the store must have been opened to look. */
export async function atOneMoment<Result>(
  store: Store,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return withPatience(store, (db) => {
    const transaction = db.transaction()
    if (store.kind === 'sqlite') return transaction.execute(work)
    return transaction
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (tx) => {
        await waitForFile(tx)
        return work(tx)
      })
  })
}

/** A change of any size, all or nothing; other changes wait meanwhile. */
export async function changeAtOnce<Result>(
  store: Store,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return withPatience(store, (db) =>
    db.transaction().execute(async (tx) => {
      if (store.kind === 'postgres') await waitForFile(tx)
      return work(tx)
    }),
  )
}

/** A database to be filled, opened bare. */
type Replacement = {
  readonly pages: AsyncIterable<Page>
  /** What the pages add up to. */
  readonly tallies: Tallies
  /** Called in the transaction, before anything changes. */
  readonly before: (tx: Tx) => Promise<void>
  /** The same, when all rows are there. */
  readonly after: (tx: Tx) => Promise<void>
}

/** All or nothing: whatever fails, or ends this process, leaves the database as it was. */
export async function replaceRows(store: Store, replacement: Replacement): Promise<void> {
  const { pages, tallies, before, after } = replacement
  const { kind } = store
  await withPatience(store, (db) =>
    db.transaction().execute(async (tx) => {
      if (kind === 'postgres') {
        await waitForFile(tx)
        await sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx)
      }
      await before(tx)
      const found = new Set(await tablesIn(store, tx))
      for (const table of TABLE_NAMES.toReversed())
        if (found.has(table)) await sql`DROP TABLE ${sql.table(table)}`.execute(tx)
      await run(tx, kind, SCHEMA.tables)
      for await (const page of pages) await insertPage(tx, kind, page)
      await run(tx, kind, SCHEMA.indexes)
      if (kind === 'postgres') await sql`ANALYZE`.execute(tx)
      const unequal = whyUnequal(tallies, await tallyAll(tx))
      if (unequal !== undefined) throw new Error(`the rows did not arrive as they were: ${unequal}`)
      await after(tx)
    }),
  )
}

/** Names of all tables there, whoever made them. */
export async function tablesIn({ kind }: Store, db: Queries): Promise<readonly string[]> {
  const query =
    kind === 'sqlite'
      ? sql<{ name: string }>`SELECT name FROM sqlite_schema
          WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`
      : sql<{ name: string }>`SELECT tablename AS name FROM pg_tables
          WHERE schemaname = current_schema() ORDER BY tablename`
  return (await query.execute(db)).rows.map(({ name }) => name)
}

/** Refuses a database whose tables would be lost with no way back: those of others, or of a later release. */
export async function refuseForeign(store: Store, database: string): Promise<void> {
  const ours: ReadonlySet<string> = new Set(TABLE_NAMES)
  const foreign = (await tablesIn(store, store.db)).filter((name) => !ours.has(name))
  if (foreign.length === 0) return
  throw new StoreError(
    'not_empty',
    `${database} has tables that this Tollgate does not know (${foreign.join(', ')}): name an empty database`,
  )
}

/** Nothing there waits for this transaction, and a slow disk at its other end must not break it. */
async function waitForFile(tx: Tx): Promise<void> {
  await sql`SET LOCAL statement_timeout = 0`.execute(tx)
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx)
}

async function withPatience<Result>(
  store: Store,
  work: (db: Queries) => Promise<Result>,
): Promise<Result> {
  if (store.kind === 'sqlite') return work(store.db)
  const db = withoutTimeout(store.pool)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}
