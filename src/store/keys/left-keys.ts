// Keys of people who leave: before somebody leaves a group, or altogether, those who manage their keys decide on each. It
// is given to somebody else, paused, revoked, or moves along to another group.
import { listKeys, type Key } from './keys.ts'
import type { Store } from '../database/store.ts'
import { pauseKey, revokeKey, updateKey } from './lifecycle.ts'

export type KeyDecision =
  | { readonly keys: 'give'; readonly to: string }
  | { readonly keys: 'pause' }
  | { readonly keys: 'revoke'; readonly reason: string }
  /** To this group. */
  | { readonly keys: 'take'; readonly to: string }

type Leaver = {
  readonly personId: string
  /** Undefined: wherever they own keys. */
  readonly groupId?: string | undefined
}

/** The keys that somebody owns and nobody has decided on: neither revoked, nor paused by those who manage them. */
export async function undecidedKeys(store: Store, leaver: Leaver): Promise<readonly Key[]> {
  let query = store.db
    .selectFrom('keys')
    .select('id')
    .where('owner_person_id', '=', leaver.personId)
    .where('revoked_at', 'is', null)
  if (leaver.groupId !== undefined) query = query.where('group_id', '=', leaver.groupId)
  const ids = (await query.orderBy('id').execute()).map(({ id }) => id)
  const keys = ids.length === 0 ? [] : await listKeys(store, ids)
  return keys.filter(({ pausedBy }) => pausedBy !== 'manager')
}

/** One after the other: what fails leaves those before it decided, and can be repeated. */
export async function decideOnKeys(
  store: Store,
  keys: readonly Key[],
  decision: KeyDecision,
): Promise<void> {
  for (const { id } of keys) await decideOn(store, id, decision)
}

function decideOn(store: Store, id: string, decision: KeyDecision): Promise<Key> {
  switch (decision.keys) {
    case 'give':
      return updateKey(store, id, { ownerPersonId: decision.to })
    case 'pause':
      return pauseKey(store, id)
    case 'revoke':
      return revokeKey(store, id, decision.reason)
    case 'take':
      return updateKey(store, id, { legs: { groupId: decision.to } })
  }
}
