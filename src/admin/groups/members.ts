// The members of groups as the admin API and the command line name them: people by id or e-mail address, roles by id or
// name. Nobody can give a role in a group that holds a right they lack.
import { iso } from '../../core/units.ts'
import type { Store } from '../../store/database/store.ts'
import type { Group } from '../../store/groups/groups.ts'
import { addMember, listMembers, removeMember } from '../../store/groups/members.ts'
import type { MemberAnswer } from '../contract/groups.ts'
import { MEMBER_ROLE } from '../contract/permissions.ts'
import { answerPerson } from '../people/people.ts'
import {
  demandRights,
  listRoles,
  roleById,
  roleNamed,
  type Actor,
  type Role,
} from '../people/roles.ts'

export async function listMemberAnswers(store: Store, groupId: string): Promise<MemberAnswer[]> {
  const roles = await groupRoles(store)
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

type NamedMember = { readonly person: string; readonly role: string }

export async function putMember(
  actor: Actor,
  group: Pick<Group, 'id' | 'name'>,
  named: NamedMember,
): Promise<void> {
  const { store } = actor
  const roles = await groupRoles(store)
  const person = await answerPerson(store.db, named.person)
  const role = roleNamed(roles, named.role)
  demandRights(actor, role.permissions, { role: role.name })
  await addMember(store, { group, person, roleName: (id) => roleById(roles, id).name }, role)
}

export async function dropMember(
  actor: Actor,
  group: Pick<Group, 'id' | 'name'>,
  named: string,
): Promise<void> {
  const { store } = actor
  const roles = await groupRoles(store)
  const person = await answerPerson(store.db, named)
  await removeMember(store, { group, person, roleName: (id) => roleById(roles, id).name })
}

/** All roles, and the one that there is only in groups. */
async function groupRoles({ db }: Store): Promise<readonly Role[]> {
  return [{ ...MEMBER_ROLE, isBuiltIn: true }, ...(await listRoles(db))]
}
