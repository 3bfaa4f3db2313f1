// The database's clock, the one that all nodes share and that periods follow. SQLite's is this machine's.
import { sql } from 'kysely'

import type { Store } from './store.ts'

export async function databaseNow(store: Store, db = store.db): Promise<number> {
  if (store.kind === 'sqlite') return store.clock.now()
  const { rows } = await sql<{ now: number }>`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`.execute(db)
  return rows[0]?.now ?? store.clock.now()
}
