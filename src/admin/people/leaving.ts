// Keys of people who leave a group or the gateway: those who manage them decide first, and nobody leaves before that.
import { sentence } from '../../core/sentences.ts'
import type { Store } from '../../store/database/store.ts'
import { isMember } from '../../store/groups/members.ts'
import { decideOnKeys, undecidedKeys, type KeyDecision } from '../../store/keys/left-keys.ts'
import { findPerson } from '../../store/people/people.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import type { Actor } from './roles.ts'

type Leaver = {
  readonly person: { readonly id: string; readonly email: string }
  /** The group that they leave; undefined = they leave altogether. */
  readonly groupId?: string | undefined
}

/** What becomes of the keys, as callers say it. */
export type Leaving = {
  readonly keys?: 'give' | 'pause' | 'revoke' | 'take' | undefined
  /** Who gets them: an id or an e-mail address. */
  readonly to?: string | undefined
}

/** The keys that are not decided on yet are, if the caller says how. */
export async function decideFor(
  actor: Actor,
  leaver: Leaver,
  decision: KeyDecision | undefined,
): Promise<void> {
  const { store, rights } = actor
  const keys = await undecidedKeys(store, idsOf(leaver))
  if (keys.length === 0 || decision === undefined) return
  const permission = 'configuration:manage'
  if (!rights.has(permission)) {
    const why = sentence('permission_missing', { permission })
    throw new AdminError('not_permitted', why, { permission })
  }
  await decideOnKeys(store, keys, decision)
}

const NAMED_MAX = 5

/** Part of the change that lets them leave: a key may have been made since. */
export async function demandDecided(store: Store, leaver: Leaver): Promise<void> {
  const keys = await undecidedKeys(store, idsOf(leaver))
  if (keys.length === 0) return
  const names = keys.slice(0, NAMED_MAX).map(({ name }) => name)
  const more = keys.length > NAMED_MAX ? ', …' : ''
  const { email } = leaver.person
  const said = { email, count: keys.length, names: `${names.join(', ')}${more}` }
  throw new AdminError('wrong_state', sentence('keys_undecided', said))
}

function idsOf({ person, groupId }: Leaver) {
  return { personId: person.id, groupId }
}

/** Undefined: nothing is decided. `toGroup`: where they move to. */
export async function decisionOf(
  store: Store,
  leaver: Leaver,
  { keys, to, toGroup }: Leaving & { readonly toGroup?: string },
): Promise<KeyDecision | undefined> {
  switch (keys) {
    case undefined:
      return undefined
    case 'pause':
      return { keys }
    case 'revoke':
      return { keys, reason: `its owner ${leaver.person.email} left` }
    case 'give':
      return { keys, to: await receiver(store, leaver, to) }
    case 'take':
      if (toGroup !== undefined) return { keys, to: toGroup }
      throw invalidValue('keys', sentence('unexpected'))
  }
}

/** For those who are confined to groups there are only the people of the group. */
async function receiver(
  { db, scope }: Store,
  { person, groupId }: Leaver,
  named: string | undefined,
): Promise<string> {
  if (named === undefined) throw invalidValue('to', sentence('keys_receiver_needed'))
  const found = await findPerson(db, named.includes('@') ? { email: named } : { id: named })
  const isKnown =
    found !== undefined &&
    found.id !== person.id &&
    (scope === 'everywhere' ||
      (groupId !== undefined && (await isMember(db, { groupId, personId: found.id }))))
  if (isKnown) return found.id
  throw invalidValue('to', sentence('person_unknown', { person: named }))
}
