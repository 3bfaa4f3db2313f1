// The members of groups as the admin API and the command line name them: people by id or e-mail address, roles by id or
// name. Nobody can give or take a role in a group that holds a right they lack there.
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import type { Store } from '../../store/database/store.ts'
import type { Tx } from '../../store/database/tables.ts'
import type { Group } from '../../store/groups/groups.ts'
import { addMember, isMember, listMembers, removeMember } from '../../store/groups/members.ts'
import { findPerson } from '../../store/people/people.ts'
import { AdminError } from '../contract/errors.ts'
import type { MemberAnswer } from '../contract/people.ts'
import { rightsNow, rightsWithin } from '../people/identity.ts'
import { answerPerson } from '../people/people.ts'
import { demandRights, listRoles, roleById, roleNamed, type Actor } from '../people/roles.ts'

export async function listMemberAnswers(store: Store, groupId: string): Promise<MemberAnswer[]> {
  const roles = await listRoles(store.db)
  return (await listMembers(store, groupId)).map(({ personId, name, email, roleId, addedAt }) => {
    const role = roleById(roles, roleId)
    return {
      id: personId,
      name,
      email,
      role: { id: role.id, name: role.name },
      added_at: iso(addedAt),
    }
  })
}

/** As much of a group as its record needs. */
type Named = Pick<Group, 'id' | 'name'>

type NamedMember = { readonly person: string; readonly role: string }

export async function putMember(actor: Actor, group: Named, named: NamedMember): Promise<void> {
  const { store } = actor
  const roles = await listRoles(store.db)
  const person = await personFor(store, group, named.person)
  const role = roleNamed(roles, named.role)
  const demand = async (tx: Tx, before: string | undefined): Promise<void> => {
    const within = await present(actor, tx, group)
    if (before !== undefined) demandRole(within, before)
    demandRole(within, role.id)
  }
  const demandRole = (within: Actor, id: string): void => {
    const { name, permissions } = roleById(roles, id)
    demandRights(within, permissions, { role: name })
  }
  const roleName = (id: string): string => roleById(roles, id).name
  await addMember(store, { group, person, roleName, demand }, role)
}

export async function dropMember(actor: Actor, group: Named, named: string): Promise<void> {
  const { store } = actor
  const roles = await listRoles(store.db)
  const person = await personFor(store, group, named)
  const demand = async (tx: Tx, before: string | undefined): Promise<void> => {
    const within = await present(actor, tx, group)
    const held = before === undefined ? [] : roleById(roles, before).permissions
    demandRights(within, held, { email: person.email })
  }
  const roleName = (id: string): string => roleById(roles, id).name
  await removeMember(store, { group, person, roleName, demand })
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
