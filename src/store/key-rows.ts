// The rows that belong to a key: its allowlist and the hashes of its secrets. Written only inside the transaction that
// changes the key.
import { hashSecret, maskSecret } from '../core/secret.ts'
import type { Key } from './keys.ts'
import type { Store } from './store.ts'
import type { Tx } from './tables.ts'

/** The use of secrets is recorded only while there are two; otherwise the last use of the key is the newest one's. */
export async function newestUsedAt(
  tx: Tx,
  { id, lastUsedAt }: Pick<Key, 'id' | 'lastUsedAt'>,
): Promise<number | null> {
  const secrets = await tx
    .selectFrom('secrets')
    .select(['valid_until', 'last_used_at'])
    .where('key_id', '=', id)
    .execute()
  const wasOlder = secrets.some(
    ({ valid_until, last_used_at }) =>
      valid_until !== null && last_used_at !== null && last_used_at === lastUsedAt,
  )
  if (!wasOlder) return lastUsedAt
  return secrets.find(({ valid_until }) => valid_until === null)?.last_used_at ?? null
}

export async function addSecret(
  store: Store,
  tx: Tx,
  { keyId, secret }: { readonly keyId: string; readonly secret: string },
): Promise<void> {
  await tx
    .insertInto('secrets')
    .values({
      hash: hashSecret(secret),
      key_id: keyId,
      masked: maskSecret(secret),
      created_at: store.clock.now(),
      valid_until: null,
    })
    .execute()
}

/** Ends the overlap of the last rotation, if it is still running. */
export async function endOldSecret(tx: Tx, keyId: string, now: number): Promise<void> {
  await tx
    .updateTable('secrets')
    .set({ valid_until: now })
    .where('key_id', '=', keyId)
    .where('valid_until', '>', now)
    .execute()
}
