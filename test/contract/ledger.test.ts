// The ledger's contract, on both databases.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import type { Database } from './ledger-fixture.ts'
import { ledgerNodesContract } from './ledger-nodes.ts'
import { ledgerContract } from './ledger.ts'

const options = { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] }
/** Gives up after twenty seconds instead of five: the disk that all tests share may stall for longer than that. */
const patient = {
  ...options,
  clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 4 },
}

for (const [name, open] of [
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
] as const) {
  ledgerContract(name, () => open(patient))
  ledgerNodesContract(name, () => open(options))
}
// Alone, a node decides by itself, and brings what it decided into the database later.
ledgerContract('SQLite, one node', () => openSqlite(patient), 1)

type Lockable = Database & { readonly url: string; lock(): Promise<() => Promise<void>> }

async function openSqlite(how: StoreOptions): Promise<Lockable> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'))
  const url = `sqlite:${join(folder, 'test.db')}`
  return {
    url,
    store: await openStore(url, how),
    lock: () => lockAccounts(url),
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

async function openPostgres(how: StoreOptions): Promise<Lockable> {
  const { url, drop } = await freshDatabase()
  return { url, store: await openStore(url, how), lock: () => lockAccounts(url), drop }
}

/** Holds a lock that every batch needs; the returned function releases it. */
async function lockAccounts(url: string): Promise<() => Promise<void>> {
  const store = await openStore(url, options)
  const { promise: isOver, resolve: letGo } = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = store.db.transaction().execute(async (tx) => {
    // Tollgate's own timeout would end the transaction.
    if (store.kind === 'postgres')
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx)
    await sql`UPDATE accounts SET status = status`.execute(tx)
    locked.resolve()
    await isOver
  })
  await locked.promise
  return async () => {
    letGo()
    await holding
    await store.close()
  }
}
