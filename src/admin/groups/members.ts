// The members of groups as the admin API and the command line name them: people by id or e-mail address, roles by id or
// name. Nobody can give or take a role in a group that holds a right they lack there.
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import { withChangeLock } from '../../store/database/revision.ts'
import type { Store } from '../../store/database/store.ts'
import type { Tx } from '../../store/database/tables.ts'
import type { Group } from '../../store/groups/groups.ts'
import {
  addMember,
  isMember,
  listMembers,
  membershipsOf,
  removeMember,
} from '../../store/groups/members.ts'
import { findPerson } from '../../store/people/people.ts'
import { AdminError } from '../contract/errors.ts'
import type { MemberAnswer } from '../contract/people.ts'
import { MEMBER_ROLE } from '../contract/permissions.ts'
import { rightsNow, rightsWithin } from '../people/identity.ts'
import { invitePerson, type Invitation } from '../people/links.ts'
import {
  answerPerson,
  decideFor,
  decisionOf,
  demandDecided,
  type Leaving,
} from '../people/people.ts'
import { demandRights, listRoles, roleById, roleNamed, type Actor } from '../people/roles.ts'

/**
 * Within a group, somebody's name is shown once they have been here as a member: until then nobody learns whether the
 * address that they invited had an account.
 */
export async function listMemberAnswers(store: Store, groupId: string): Promise<MemberAnswer[]> {
  const roles = await listRoles(store.db)
  return (await listMembers(store, groupId)).map(
    ({ personId, name, email, roleId, addedAt, lastSeenAt, fromSignOn }) => {
      const role = roleById(roles, roleId)
      const isNamed = store.scope === 'everywhere' || (lastSeenAt ?? 0) > addedAt
      return {
        id: personId,
        name: isNamed ? name : '',
        email,
        role: { id: role.id, name: role.name },
        from_sign_on: fromSignOn === 1,
        added_at: iso(addedAt),
      }
    },
  )
}

/** As much of a group as its record needs. */
type Named = Pick<Group, 'id' | 'name'>

type NamedMember = { readonly person: string; readonly role: string }

export async function putMember(actor: Actor, group: Named, named: NamedMember): Promise<void> {
  const person = await personFor(actor.store, group, named.person)
  await giveRole(actor, group, { person, role: named.role })
}

type RoleGiven = { readonly person: Identified; readonly role: string }
type Identified = { readonly id: string; readonly email: string }

async function giveRole(
  actor: Actor,
  group: Named,
  { person, role: text }: RoleGiven,
): Promise<void> {
  const { store } = actor
  const roles = await listRoles(store.db)
  const role = roleNamed(roles, text)
  const demand = async (tx: Tx, before: string | undefined): Promise<void> => {
    const within = await present(actor, tx, group)
    for (const id of before === undefined ? [role.id] : [before, role.id]) {
      const { name, permissions } = roleById(roles, id)
      demandRights(within, permissions, { role: name })
    }
  }
  const roleName = (id: string): string => roleById(roles, id).name
  await addMember(store, { group, person, roleName, demand }, role)
}

type Invited = Pick<NamedMember, 'role'> & {
  readonly email: string
  readonly name?: string | undefined
}

/** Whoever is not known yet is invited, with no rights but those in the group; null = they are known already. */
export async function inviteMember(
  actor: Actor,
  group: Named,
  { email, name, role }: Invited,
): Promise<Invitation | null> {
  const { store } = actor
  const known = await findPerson(store.db, { email })
  if (known === undefined) {
    const invited = { email, name, role: MEMBER_ROLE.id }
    return invitePerson({ ...actor, within: group.id }, invited, (tx, person) =>
      giveRole({ ...actor, store: { ...store, db: tx } }, group, { person, role }),
    )
  }
  await giveRole(actor, group, { person: known, role })
  return null
}

/** After it is decided what becomes of their keys in the group. */
export async function dropMember(
  actor: Actor,
  group: Named,
  { person: named, ...leaving }: Leaving & { readonly person: string },
): Promise<void> {
  const { store } = actor
  const person = await personFor(store, group, named)
  if (leaving.keys !== undefined) {
    const leaver = { person, groupId: group.id }
    await demandAbove(actor, group, person)
    await decideFor(actor, leaver, await decisionOf(store, leaver, leaving))
  }
  await takeRole(actor, group, person)
}

/** Refused before anything is done to their keys, as it would be afterwards. */
async function demandAbove(actor: Actor, group: Named, person: Identified): Promise<void> {
  const { db } = actor.store
  const roles = await listRoles(db)
  const member = (await membershipsOf(db, person.id)).find(({ groupId }) => groupId === group.id)
  if (member === undefined) {
    throw new AdminError('wrong_state', sentence('member_missing', { email: person.email }))
  }
  demandRights(actor, roleById(roles, member.roleId).permissions, { email: person.email })
}

async function takeRole(actor: Actor, group: Named, person: Identified): Promise<void> {
  const { store } = actor
  const roles = await listRoles(store.db)
  const demand = async (tx: Tx, before: string | undefined): Promise<void> => {
    const within = await present(actor, tx, group)
    const held = before === undefined ? [] : roleById(roles, before).permissions
    demandRights(within, held, { email: person.email })
    await demandDecided({ ...store, db: tx }, { person, groupId: group.id })
  }
  const roleName = (id: string): string => roleById(roles, id).name
  await removeMember(store, { group, person, roleName, demand })
}

type Move = Leaving & {
  readonly person: string
  /** The same as now, if undefined. */
  readonly role?: string | undefined
}

/** A group, and who acts in it. */
type InGroup = { readonly group: Named; readonly actor: Actor }

/** Into another group, with their keys or without them. */
export async function moveMember(from: InGroup, to: InGroup, move: Move): Promise<void> {
  const { store } = from.actor
  const person = await personFor(store, from.group, move.person)
  const leaver = { person, groupId: from.group.id }
  await demandAbove(from.actor, from.group, person)
  const memberships = await membershipsOf(store.db, person.id)
  const held = memberships.find(({ groupId }) => groupId === from.group.id)?.roleId
  const role = roleNamed(await listRoles(store.db), move.role ?? held ?? MEMBER_ROLE.id)
  demandRights(to.actor, role.permissions, { role: role.name })
  const both = from.actor.rights.intersection(to.actor.rights)
  const deciding = move.keys === 'take' ? { ...from.actor, rights: both } : from.actor
  const decision = await decisionOf(store, leaver, { ...move, toGroup: to.group.id })
  await decideFor(deciding, leaver, decision)
  await withChangeLock(store, async (tx) => {
    const within = (actor: Actor): Actor => ({ ...actor, store: { ...actor.store, db: tx } })
    await giveRole(within(to.actor), to.group, { person, role: role.id })
    await takeRole(within(from.actor), from.group, person)
  })
}

/** For those who are confined to groups there are only the people of the group. */
async function personFor(store: Store, { id: groupId }: Named, named: string) {
  const { db, scope } = store
  const by = named.includes('@') ? { email: named } : { id: named }
  if (scope !== 'everywhere') {
    const found = await findPerson(db, by)
    if (found === undefined || !(await isMember(db, { groupId, personId: found.id }))) {
      throw new AdminError('not_found', sentence('person_unknown', { person: named }))
    }
  }
  return answerPerson(db, named)
}

/** The actor with the rights that they still have: a faster change may have taken some since the call was admitted. */
async function present(actor: Actor, tx: Tx, { id: groupId }: Named): Promise<Actor> {
  const { personId, rights } = actor
  if (personId === null) return actor
  const now = await rightsNow(tx, personId, actor.store.clock.now())
  if (now === undefined) throw new AdminError('not_signed_in', sentence('sign_in_needed'))
  const held = rightsWithin(now, groupId).intersection(rights)
  demandRights({ ...actor, rights: held }, ['people:manage'], { role: 'Member' })
  return { ...actor, rights: held }
}
