// All roles: the built-in ones, which nobody can change, and custom ones.
import { sentence } from '../../core/sentences.ts'
import type { Queries } from '../../store/database/tables.ts'
import { countByRole, listStoredRoles } from '../../store/people/people.ts'
import { BUILT_IN_ROLES, PERMISSIONS, type Permission } from '../contract/permissions.ts'
import { invalidValue } from '../error.ts'

export type Role = {
  readonly id: string
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly isBuiltIn: boolean
}

export async function listRoles(db: Queries): Promise<readonly Role[]> {
  const own = (await listStoredRoles(db)).map(({ id, name, permissions }) => ({
    id,
    name,
    // A later release may have stored permissions that this one does not know: they are ignored.
    permissions: PERMISSIONS.filter((permission) => permissions.includes(permission)),
    isBuiltIn: false,
  }))
  return [...BUILT_IN_ROLES.map((role) => ({ ...role, isBuiltIn: true })), ...own]
}

/** Whether anybody may manage people, once they accept their invitation. */
export async function hasPeopleManager(db: Queries): Promise<boolean> {
  const counts = await countByRole(db)
  return (await listRoles(db)).some(
    ({ id, permissions }) => permissions.includes('people:manage') && counts.has(id),
  )
}

/** The role of a person. A role that no longer exists has no permissions. */
export function roleById(roles: readonly Role[], id: string): Role {
  return roles.find((role) => role.id === id) ?? { id, name: id, permissions: [], isBuiltIn: false }
}

/** Finds a role by its id or its name. */
export function roleNamed(roles: readonly Role[], text: string): Role {
  const wanted = normalName(text)
  const role = roles.find(({ id, name }) => id === text || normalName(name) === wanted)
  if (role !== undefined) return role
  const names = roles.map(({ name }) => name).join(', ')
  throw invalidValue('role', sentence('role_not_found', { role: text, roles: names }))
}

/** Names that look alike count as the same. */
export function normalName(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase()
}
