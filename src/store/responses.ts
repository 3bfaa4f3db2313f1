// Answers kept so that a later request can name them as `previous_response_id`. The bytes are sealed by the caller;
// every look-up is within one key, so that no key ever reaches another's.
import type { Store } from './open.ts'

export type SealedResponse = {
  readonly id: string
  readonly keyId: string
  readonly sealed: Uint8Array
  readonly expiresAt: number
}

/** Where an answer is kept: under an id, and for the key that it belongs to. */
export type ResponseName = Pick<SealedResponse, 'id' | 'keyId'>

/** Stores an answer and whatever belongs to it at once, replacing what the key stored under the same ids. */
export async function putResponses(
  store: Store,
  responses: readonly SealedResponse[],
): Promise<void> {
  const created_at = store.clock.now()
  await store.db
    .insertInto('responses')
    .values(
      responses.map(({ id, keyId, sealed, expiresAt }) => ({
        id,
        key_id: keyId,
        sealed,
        created_at,
        expires_at: expiresAt,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(({ ref }) => ({
          sealed: ref('excluded.sealed'),
          created_at: ref('excluded.created_at'),
          expires_at: ref('excluded.expires_at'),
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
