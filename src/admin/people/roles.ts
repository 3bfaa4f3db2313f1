// Creating, changing and removing custom roles.
import { sentence } from '../../core/sentences.ts'
import { recordChange } from '../../store/audit/record.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
import { countByRole, deleteRole, insertRole, updateRole } from '../../store/people/people.ts'
import type { RoleAnswer } from '../contract/people.ts'
import { AdminError } from '../error.ts'
import { change, demandRights, type Desk } from './desk.ts'
import { listRoles, normalName, roleById, type Role } from './role-list.ts'

type RoleSettings = Pick<Role, 'name' | 'permissions'>

export async function answerRoles(db: Queries): Promise<readonly RoleAnswer[]> {
  const counts = await countByRole(db)
  return (await listRoles(db)).map((role) => roleAnswer(role, counts.get(role.id) ?? 0))
}

export async function createRole(desk: Desk, settings: RoleSettings): Promise<RoleAnswer> {
  const attempt = {
    action: 'role.create',
    subject: 'role',
    subjectId: '',
    subjectName: settings.name,
  } as const
  return change(desk, attempt, async (tx, roles) => {
    demandRights(desk, settings.permissions, { role: settings.name })
    refuseTaken(roles, settings.name)
    const id = await insertRole(desk.store, tx, settings)
    await recordChange(desk.store, tx, {
      ...attempt,
      subjectId: id,
      before: null,
      after: { ...settings },
    })
    return answerOf(tx, id)
  })
}

export async function changeRole(
  desk: Desk,
  id: string,
  given: { readonly [Name in keyof RoleSettings]?: RoleSettings[Name] | undefined },
): Promise<RoleAnswer> {
  const attempt = { action: 'role.change', subject: 'role', subjectId: id } as const
  return change(desk, attempt, async (tx, roles) => {
    const role = ownRole(roles, id)
    const before = { name: role.name, permissions: role.permissions }
    const after = {
      name: given.name ?? before.name,
      permissions: given.permissions ?? before.permissions,
    }
    demandRights(desk, [...before.permissions, ...after.permissions], { role: role.name })
    refuseTaken(
      roles.filter((other) => other.id !== id),
      after.name,
    )
    await updateRole(tx, id, after)
    await recordChange(desk.store, tx, { ...attempt, subjectName: after.name, before, after })
    return answerOf(tx, id)
  })
}

export async function removeRole(desk: Desk, id: string): Promise<void> {
  const attempt = { action: 'role.remove', subject: 'role', subjectId: id } as const
  await change(desk, attempt, async (tx, roles) => {
    const { name, permissions } = ownRole(roles, id)
    demandRights(desk, permissions, { role: name })
    if (((await countByRole(tx)).get(id) ?? 0) > 0) {
      throw new AdminError('wrong_state', sentence('role_in_use', { name }))
    }
    await deleteRole(tx, id)
    const before = { name, permissions }
    await recordChange(desk.store, tx, { ...attempt, subjectName: name, before, after: null })
  })
}

function ownRole(roles: readonly Role[], id: string): Role {
  const role = roles.find((each) => each.id === id)
  if (role === undefined) throw new AdminError('not_found', sentence('role_unknown'))
  if (!role.isBuiltIn) return role
  throw new AdminError('wrong_state', sentence('role_built_in', { name: role.name }))
}

function refuseTaken(roles: readonly Role[], name: string): void {
  if (!roles.some((role) => normalName(role.name) === normalName(name))) return
  throw new AdminError('duplicate_name', sentence('role_taken', { name }), { field: 'name' })
}

async function answerOf(tx: Tx, id: string): Promise<RoleAnswer> {
  const role = roleById(await listRoles(tx), id)
  return roleAnswer(role, (await countByRole(tx)).get(id) ?? 0)
}

function roleAnswer({ id, name, permissions, isBuiltIn }: Role, people: number): RoleAnswer {
  return { id, name, permissions: [...permissions], built_in: isBuiltIn, people }
}
