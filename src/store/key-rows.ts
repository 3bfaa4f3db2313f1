// The rows that belong to a key: its allowlist and the hashes of its secrets. Written only inside the transaction that
// changes the key.
import { hashSecret, maskSecret } from '../core/secret.ts'
import { sentence } from '../core/sentences.ts'
import { StoreError } from './errors.ts'
import { checkSettings } from './key-settings.ts'
import type { Key } from './keys.ts'
import type { Store } from './open.ts'
import type { Tx } from './tables.ts'

type ModelChange = {
  readonly before: readonly string[]
  readonly models: readonly string[] | undefined
  readonly addModels: readonly string[]
  readonly removeModels: readonly string[]
}

export async function changeModels(tx: Tx, keyId: string, change: ModelChange): Promise<void> {
  const before = new Set(change.before)
  const after = new Set(change.models ?? before)
  for (const model of change.addModels) after.add(model)
  for (const model of change.removeModels) {
    if (after.delete(model)) continue
    throw new StoreError('invalid_value', sentence('key_model_missing', { model }), {
      field: 'models',
    })
  }
  const { models } = checkSettings({ models: [...after] })
  await tx.updateTable('keys').set({ model_count: models.length }).where('id', '=', keyId).execute()
  const gone = before.difference(new Set(models))
  if (gone.size > 0) {
    await tx
      .deleteFrom('key_models')
      .where('key_id', '=', keyId)
      .where('model', 'in', [...gone])
      .execute()
  }
  await addModels(
    tx,
    keyId,
    models.filter((model) => !before.has(model)),
  )
}

export async function addModels(tx: Tx, keyId: string, models: readonly string[]): Promise<void> {
  const rows = models.map((model) => ({ key_id: keyId, model }))
  if (rows.length > 0) await tx.insertInto('key_models').values(rows).execute()
}

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
