// Answers kept so that a later request can name them as `previous_response_id`. The bytes are sealed by the caller;
// every look-up is within one key, so that no key ever reaches another's.
import { sql } from 'kysely'
import type { Store } from './database/store.ts'
import type { Values } from './database/tables.ts'

type SealedResponse = Omit<Values<'responses'>, 'createdAt'>

/** Where an answer is kept: under an id, and for the key that it belongs to. */
export type ResponseName = Pick<SealedResponse, 'id' | 'keyId'>

/** Stores an answer and whatever belongs to it at once, replacing what the key stored under the same ids. */
export async function putResponses(
  store: Store,
  responses: readonly SealedResponse[],
): Promise<void> {
  const created_at = store.clock.now()
  const rows = responses.map(({ keyId: key_id, expiresAt: expires_at, ...same }) => {
    return { ...same, key_id, created_at, expires_at }
  })
  await store.db
    .insertInto('responses')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((row) => ({
          sealed: row.ref('excluded.sealed'),
          created_at: row.ref('excluded.created_at'),
          expires_at: row.ref('excluded.expires_at'),
        }))
        .whereRef('responses.key_id', '=', 'excluded.key_id'),
    )
    .execute()
}

export async function getResponse(
  store: Store,
  { id, keyId }: ResponseName,
): Promise<Uint8Array | undefined> {
  const row = await store.db
    .selectFrom('responses')
    .select('sealed')
    .where('id', '=', id)
    .where('key_id', '=', keyId)
    .where('expires_at', '>', store.clock.now())
    .executeTakeFirst()
  return row?.sealed
}

/** Whether there was one to delete. */
export async function deleteResponse(store: Store, { id, keyId }: ResponseName): Promise<boolean> {
  const { numDeletedRows } = await store.db
    .deleteFrom('responses')
    .where('id', '=', id)
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Deletes expired answers, at most `limit` at a time so that nobody waits for it; true = there may be more. */
export async function purgeResponses(store: Store, limit = 500): Promise<boolean> {
  const { numDeletedRows } = await store.db
    .deleteFrom('responses')
    .where('id', 'in', (query) =>
      query
        .selectFrom('responses')
        .select('id')
        .where('expires_at', '<=', store.clock.now())
        .orderBy('expires_at')
        .limit(limit),
    )
    .executeTakeFirst()
  return numDeletedRows === BigInt(limit)
}

const TRIMMED_AT_ONCE = 500
const BYTES = sql<number>`length(sealed)`.as('bytes')

/** Deletes the oldest answers of a key until it has no more than this stored, and returns how many those were. */
export async function trimResponses(
  store: Store,
  keyId: string,
  bytesMax: number,
): Promise<number> {
  const ofKey = store.db.selectFrom('responses').where('key_id', '=', keyId)
  const sizes = await ofKey.select(sql<number | null>`sum(length(sealed))`.as('bytes')).execute()
  let surplus = (sizes[0]?.bytes ?? 0) - bytesMax
  let deleted = 0
  while (surplus > 0) {
    const oldest = ofKey.select(['id', BYTES]).orderBy('created_at').limit(TRIMMED_AT_ONCE)
    const ids: string[] = []
    for (const { id, bytes } of await oldest.execute()) {
      if (surplus <= 0) break
      surplus -= bytes
      ids.push(id)
    }
    // Another node may have deleted the rest.
    if (ids.length === 0) break
    await store.db.deleteFrom('responses').where('id', 'in', ids).execute()
    deleted += ids.length
  }
  return deleted
}
