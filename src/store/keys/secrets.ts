// The secrets that open a key, known by their hashes and shown masked, and when keys and secrets were last used. After a
// rotation two secrets open a key for a while, and before people end the old one they want to see that nobody calls
// with it any more.
import { sql } from 'kysely'
import { hashSecret, maskSecret } from '../../core/secret.ts'
import { chunk } from '../../core/text.ts'
import type { Store } from '../database/store.ts'
import type { Tx } from '../database/tables.ts'
import type { Key } from './keys.ts'

/** The newest, and the one from before the last rotation while it still opens the key. */
export type ShownSecrets = {
  readonly masked: string
  /** Null without an old secret: the key's last use says the same. */
  readonly lastUsedAt: number | null
  readonly old: OldSecret | undefined
}

type OldSecret = {
  readonly masked: string
  readonly validUntil: number
  readonly lastUsedAt: number | null
}

export async function shownSecrets(
  store: Store,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, ShownSecrets>> {
  // PostgreSQL does not accept an empty list.
  if (keyIds.length === 0) return new Map()
  const now = store.clock.now()
  const rows = await store.db
    .selectFrom('secrets')
    .select(['key_id', 'masked', 'valid_until', 'last_used_at'])
    .where('key_id', 'in', keyIds)
    .where((column) =>
      column.or([column('valid_until', 'is', null), column('valid_until', '>', now)]),
    )
    .execute()
  const shown = new Map<string, ShownSecrets>()
  for (const [id, secrets] of Map.groupBy(rows, (row) => row.key_id)) {
    const newest = secrets.find(({ valid_until }) => valid_until === null)
    const [old] = secrets.flatMap(({ masked, valid_until: validUntil, last_used_at: lastUsedAt }) =>
      validUntil === null ? [] : [{ masked, validUntil, lastUsedAt }],
    )
    const lastUsedAt = old === undefined ? null : (newest?.last_used_at ?? null)
    shown.set(id, { masked: newest?.masked ?? '', lastUsedAt, old })
  }
  return shown
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

/** As much of a secret as is kept. */
export type KnownSecret = { readonly hash: string; readonly masked: string }

export function secretOf(secret: string): KnownSecret {
  return { hash: hashSecret(secret), masked: maskSecret(secret) }
}

/** Before the end of a secret in another form, where Tollgate's own have the beginning. */
const FOREIGN = '…'

/** A secret that another gateway made, of which only the hash and the end are known. */
export function foreignSecretOf({
  hash,
  end,
}: {
  readonly hash: string
  readonly end: string
}): KnownSecret {
  return { hash, masked: `${FOREIGN}${end}` }
}

export async function addSecrets(
  store: Store,
  tx: Tx,
  secrets: readonly (KnownSecret & { readonly keyId: string })[],
): Promise<void> {
  const rows = secrets.map(({ keyId, hash, masked }) => ({
    hash,
    key_id: keyId,
    masked,
    created_at: store.clock.now(),
    valid_until: null,
  }))
  await tx.insertInto('secrets').values(rows).execute()
}

export type ForeignSecret = { readonly hash: string; readonly createdAt: number }

const FOREIGN_PAGE = 10_000

/** The secrets of other gateways that were added at a time or later. */
export async function foreignSecrets(
  store: Store,
  since: number,
): Promise<readonly ForeignSecret[]> {
  const found: ForeignSecret[] = []
  for (let last = ''; ; last = found.at(-1)?.hash ?? '') {
    const rows = await store.db
      .selectFrom('secrets')
      .select(['hash', 'created_at as createdAt'])
      .where('created_at', '>=', since)
      .where('masked', 'like', `${FOREIGN}%`)
      .where('hash', '>', last)
      .orderBy('hash')
      .limit(FOREIGN_PAGE)
      .execute()
    found.push(...rows)
    if (rows.length < FOREIGN_PAGE) return found
  }
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

/** Times of use, by the ids of keys and by the hashes of secrets. */
export type Used = {
  readonly keys: ReadonlyMap<string, number>
  readonly secrets: ReadonlyMap<string, number>
}

/** The serving process writes this in batches; it does not count as a change that servers watch for. */
export async function recordUse(store: Store, { keys, secrets }: Used): Promise<void> {
  await record(store, 'keys.id', keys)
  await record(store, 'secrets.hash', secrets)
}

async function record(
  store: Store,
  column: 'keys.id' | 'secrets.hash',
  usedAt: ReadonlyMap<string, number>,
): Promise<void> {
  const [table = ''] = column.split('.')
  // In one order, so that two nodes never wait for each other's rows.
  const inOrder = [...usedAt].toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const part of chunk(inOrder, 500)) {
    const rows = part.map(([name, at]) => sql`(${name}, CAST(${at} AS BIGINT))`)
    await sql`
      WITH used (name, used_at) AS (VALUES ${sql.join(rows)})
      UPDATE ${sql.table(table)} SET last_used_at = used.used_at FROM used
      WHERE ${sql.ref(column)} = used.name AND (last_used_at IS NULL OR last_used_at < used.used_at)`.execute(
      store.db,
    )
  }
}
