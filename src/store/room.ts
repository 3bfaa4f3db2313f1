// Room for a query that adds up by a hundred thousand keys: PostgreSQL gives each query 4 MB, and would write the sums to
// disk and sort them there, which takes twice as long. SQLite needs no more than it has.
import { sql, type QueryResult, type RawBuilder } from 'kysely'

import type { Store } from './open.ts'

export async function withRoom<Row>(
  { kind, db }: Store,
  query: RawBuilder<Row>,
): Promise<QueryResult<Row>> {
  if (kind === 'sqlite') return query.execute(db)
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL work_mem = '64MB'`.execute(tx)
    return query.execute(tx)
  })
}
