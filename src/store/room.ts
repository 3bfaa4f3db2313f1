// Memory for a query that groups by a hundred thousand keys: PostgreSQL gives each query 4 MB, and would write the sums
// to disk and sort them there, which takes twice as long. It also expects 200 groups and not 100,000, and then has
// several processes each add up nearly all of them, sort them and merge them, which takes longer than one process
// alone. SQLite needs no more than it has.
import { sql, type QueryResult, type RawBuilder } from 'kysely'

import type { Store } from './store.ts'

export async function withRoom<Row>(
  { kind, db }: Store,
  query: RawBuilder<Row>,
): Promise<QueryResult<Row>> {
  if (kind === 'sqlite') return query.execute(db)
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL work_mem = '64MB'`.execute(tx)
    await sql`SET LOCAL max_parallel_workers_per_gather = 0`.execute(tx)
    return query.execute(tx)
  })
}
