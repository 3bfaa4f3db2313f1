// The masked secrets of keys, and when each was last used. After a rotation two secrets open a key for a while, and
// before people end the old one they want to see that nobody calls with it any more.
import type { Store } from './store.ts'

/** The newest, and the one from before the last rotation while it still opens the key. */
export type ShownSecrets = {
  readonly masked: string
  /** Null without an old secret: the key's last use says the same. */
  readonly lastUsedAt: number | null
  readonly old: OldSecret | undefined
}

export type OldSecret = {
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

export async function findOldSecret(store: Store, keyId: string): Promise<OldSecret | undefined> {
  return (await shownSecrets(store, [keyId])).get(keyId)?.old
}
