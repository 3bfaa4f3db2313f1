// Records when keys and secrets were last used. The serving process writes this in batches, and it does not count as a
// change that servers watch for.
import { sql } from 'kysely'

import { pieces } from '../core/text.ts'
import type { Store } from './store.ts'

/** Times of use, by the ids of keys and by the hashes of secrets. */
export type Used = {
  readonly keys: ReadonlyMap<string, number>
  readonly secrets: ReadonlyMap<string, number>
}

export async function recordUse(store: Store, { keys, secrets }: Used): Promise<void> {
  await record(store, { table: 'keys', column: 'id' }, keys)
  await record(store, { table: 'secrets', column: 'hash' }, secrets)
}

type Place =
  | { readonly table: 'keys'; readonly column: 'id' }
  | { readonly table: 'secrets'; readonly column: 'hash' }

async function record(
  store: Store,
  place: Place,
  usedAt: ReadonlyMap<string, number>,
): Promise<void> {
  const table = sql.table(place.table)
  const named = sql.ref(`${place.table}.${place.column}`)
  // In one order, so that two nodes never wait for each other's rows.
  const inOrder = [...usedAt].toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const piece of pieces(inOrder, 500)) {
    const rows = piece.map(([name, at]) => sql`(${name}, CAST(${at} AS BIGINT))`)
    await sql`
      WITH used (name, used_at) AS (VALUES ${sql.join(rows)})
      UPDATE ${table} SET last_used_at = used.used_at FROM used
      WHERE ${named} = used.name AND (last_used_at IS NULL OR last_used_at < used.used_at)`.execute(
      store.db,
    )
  }
}
