// What managers of people can do to them. Each is one change, allowed by the rules of roles.ts and recorded in the same
// transaction. Nobody leaves before what becomes of their keys is decided.
import { newId } from '../../core/ids.ts'
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import { recordChange, type AuditAction } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
import { isMember } from '../../store/groups/members.ts'
import { decideOnKeys, type KeyDecision, undecidedKeys } from '../../store/keys/left-keys.ts'
import {
  deletePerson,
  deleteTwoFactor,
  findPerson,
  insertPerson,
  listPeople,
  markJoined,
  type Person,
  updatePerson,
} from '../../store/people/people.ts'
import {
  deleteIdentities,
  deleteSessions,
  identityText,
  setPassword,
} from '../../store/people/sign-in.ts'
import { deleteAccessTokens, deleteOpenLinks } from '../../store/people/tokens.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import type { PersonAnswer } from '../contract/people.ts'
import { permissionsAnywhere } from '../http/guard.ts'
import { assignEmail, checkedEmail, refuseTaken } from './credentials.ts'
import { rightsOf } from './identity.ts'
import {
  type Actor,
  change,
  demandRights,
  listRoles,
  type Role,
  roleById,
  roleNamed,
} from './roles.ts'

export type Invited = {
  readonly email: string
  readonly name?: string | undefined
  /** An id or a name. */
  readonly role: string
  /** Only from the command line: then the person needs no link. */
  readonly passwordHash?: string | undefined
}

export async function answerPeople(db: Queries): Promise<readonly PersonAnswer[]> {
  const roles = await listRoles(db)
  return (await listPeople(db)).map((person) => personAnswer(person, roles))
}

export async function answerPerson(db: Queries, idOrEmail: string): Promise<PersonAnswer> {
  return personAnswer(await known(db, idOrEmail), await listRoles(db))
}

/** Adds a person, who joins by a link unless a password is set at once. `alongside` is part of the same change. */
export async function addPerson(
  actor: Actor,
  invited: Invited,
  alongside?: (tx: Tx, added: PersonAnswer) => Promise<void>,
): Promise<PersonAnswer> {
  const { store } = actor
  const email = checkedEmail(invited.email)
  const record = { action: 'person.invite', ...subjectOf({ id: '', email }) } as const
  return change(actor, record, async (tx, roles) => {
    const role = roleNamed(roles, invited.role)
    demandRights(actor, role.permissions, { role: role.name })
    await refuseTaken(tx, email)
    const id = newId('person', store.clock)
    const now = store.clock.now()
    await insertPerson(tx, { id, email, name: invited.name ?? '', roleId: role.id }, now)
    if (invited.passwordHash !== undefined) {
      await setPassword(store, tx, { personId: id, hash: invited.passwordHash })
      await markJoined(tx, id, now)
    }
    const added = personAnswer(await known(tx, id), roles)
    const after = recorded(added)
    await recordChange(store, tx, { ...record, subjectId: id, before: null, after })
    await alongside?.(tx, added)
    return added
  })
}

export function changePerson(
  actor: Actor,
  idOrEmail: string,
  given: { readonly [Name in 'name' | 'email' | 'role']?: string | undefined },
): Promise<PersonAnswer> {
  const { name, role: roleText } = given
  const email = given.email === undefined ? undefined : checkedEmail(given.email)
  return changeOne(actor, { idOrEmail, action: 'person.change' }, async (tx, { person, roles }) => {
    if (name !== undefined) await updatePerson(tx, person.id, { name })
    if (email !== undefined && email !== person.email) refuseSelf(actor, person, 'email')
    if (email !== undefined && actor.personId !== person.id) await assignEmail(tx, person, email)
    if (roleText === undefined) return
    if (person.isRoleFromSignOn) {
      throw new AdminError('wrong_state', sentence('from_sign_on', { email: person.email }))
    }
    const role = roleNamed(roles, roleText)
    demandRights(actor, role.permissions, { role: role.name })
    await updatePerson(tx, person.id, { role_id: role.id })
  })
}

/** Ends sessions and refuses tokens and new sign-ins, at once and on every node. */
export function blockPerson(actor: Actor, idOrEmail: string): Promise<PersonAnswer> {
  return changeOne(actor, { idOrEmail, action: 'person.block' }, async (tx, { person }) => {
    refuseSelf(actor, person, 'block')
    await updatePerson(tx, person.id, { blocked_at: actor.store.clock.now() })
    await deleteSessions(tx, { personId: person.id })
  })
}

export function unblockPerson(actor: Actor, idOrEmail: string): Promise<PersonAnswer> {
  return changeOne(actor, { idOrEmail, action: 'person.unblock' }, async (tx, { person }) => {
    await updatePerson(tx, person.id, { blocked_at: null })
    // Links from before the block may still be in the wrong hands.
    await deleteOpenLinks(tx, person.id)
  })
}

export function resetTwoFactor(actor: Actor, idOrEmail: string): Promise<PersonAnswer> {
  const about = { idOrEmail, action: 'person.reset_two_factor' } as const
  return changeOne(actor, about, async (tx, { person }) => {
    refuseSelf(actor, person, 'reset')
    await deleteTwoFactor(tx, person.id)
  })
}

/** The next sign-on by the person's address links them again. Whoever came in by the old identity is locked out. */
export function unlinkPerson(actor: Actor, idOrEmail: string): Promise<PersonAnswer> {
  const about = { idOrEmail, action: 'person.unlink_identity' } as const
  return changeOne(actor, about, async (tx, { person }) => {
    refuseSelf(actor, person, 'unlink')
    const identities = await deleteIdentities(tx, person.id)
    if (identities.length === 0) {
      throw new AdminError('wrong_state', sentence('person_unlinked', { email: person.email }))
    }
    await deleteSessions(tx, { personId: person.id })
    await deleteAccessTokens(tx, person.id)
    return { identity: identities.map(identityText).join(', ') }
  })
}

/** Makes stolen cookies and tokens useless. */
export function signOutPerson(actor: Actor, idOrEmail: string): Promise<PersonAnswer> {
  return changeOne(actor, { idOrEmail, action: 'person.sign_out' }, async (tx, { person }) => {
    await deleteSessions(tx, { personId: person.id })
    await deleteAccessTokens(tx, person.id)
  })
}

/** After it is decided what becomes of their keys. */
export async function removePerson(
  actor: Actor,
  idOrEmail: string,
  leaving: Leaving = {},
): Promise<void> {
  const { store } = actor
  const action = 'person.remove'
  if (leaving.keys !== undefined) {
    const leaver = { person: await manageable(actor, store.db, idOrEmail) }
    refuseSelf(actor, leaver.person, 'remove')
    await decideFor(actor, leaver, await decisionOf(store, leaver, leaving))
  }
  await change(actor, { action, subject: 'person', subjectId: idOrEmail }, async (tx, roles) => {
    const person = await manageable(actor, tx, idOrEmail)
    refuseSelf(actor, person, 'remove')
    await demandDecided({ ...store, db: tx }, { person })
    await deletePerson(tx, person.id)
    const before = recorded(personAnswer(person, roles))
    await recordChange(store, tx, { action, ...subjectOf(person), before, after: null })
  })
}

type About = { readonly idOrEmail: string; readonly action: AuditAction }
type Found = { readonly person: Person; readonly roles: readonly Role[] }

/** Finds a person, checks that the change is allowed, makes it and records it, with what `work` says it took away. */
async function changeOne(
  actor: Actor,
  { idOrEmail, action }: About,
  work: (tx: Tx, found: Found) => Promise<Readonly<Record<string, unknown>> | void>,
): Promise<PersonAnswer> {
  const record = { action, subject: 'person', subjectId: idOrEmail } as const
  return change(actor, record, async (tx, roles) => {
    const person = await manageable(actor, tx, idOrEmail)
    const taken = await work(tx, { person, roles })
    const before = { ...recorded(personAnswer(person, roles)), ...taken }
    const changed = personAnswer(await known(tx, person.id), roles)
    const after = recorded(changed)
    await recordChange(actor.store, tx, { action, ...subjectOf(person), before, after })
    return changed
  })
}

/** Finds a person, and refuses if they hold rights that the caller lacks. */
export async function manageable(actor: Actor, db: Queries, idOrEmail: string): Promise<Person> {
  const person = await known(db, idOrEmail)
  const held = permissionsAnywhere(await rightsOf(db, person))
  demandRights(actor, [...held], { email: person.email })
  return person
}

export function subjectOf(person: Pick<Person, 'id' | 'email'>) {
  return { subject: 'person', subjectId: person.id, subjectName: person.email } as const
}

async function known(db: Queries, idOrEmail: string): Promise<Person> {
  const by = idOrEmail.includes('@') ? { email: idOrEmail } : { id: idOrEmail }
  const person = await findPerson(db, by)
  if (person === undefined) {
    throw new AdminError('not_found', sentence('person_unknown', { person: idOrEmail }))
  }
  return person
}

/** Prevents mistakes, and keeps someone at an unattended browser from getting around the password. */
export function refuseSelf(
  { personId }: Actor,
  person: Person,
  verb: 'block' | 'email' | 'reset' | 'unlink' | 'remove',
): void {
  if (personId !== person.id) return
  throw new AdminError('wrong_state', sentence(`self_${verb}`))
}

function personAnswer(person: Person, roles: readonly Role[]): PersonAnswer {
  const { id, name } = roleById(roles, person.roleId)
  return {
    id: person.id,
    email: person.email,
    name: person.name,
    role: { id, name },
    role_from_sign_on: person.isRoleFromSignOn,
    status: person.status,
    has_password: person.hasPassword,
    has_identity: person.hasIdentity,
    two_factor: person.hasTwoFactor,
    created_at: iso(person.createdAt),
    last_seen_at: iso(person.lastSeenAt),
  }
}

function recorded({ email, name, role, status, two_factor }: PersonAnswer) {
  return { email, name, role: role.name, status, two_factor }
}

// Keys of people who leave a group or the gateway: those who manage them decide first.

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
