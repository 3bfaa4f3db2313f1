// Roles, built-in and custom, and the rules that every change of people and roles obeys, whether it is made in the web
// interface, by a script or on the command line.
import { sentence } from '../../core/sentences.ts'
import { recordChange, type AuditAction } from '../../store/audit/record.ts'
import { withChangeLock } from '../../store/database/revision.ts'
import type { Store } from '../../store/database/store.ts'
import { isRoleInGroup, membershipsOf } from '../../store/groups/members.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
import {
  countActive,
  countByRole,
  deleteRole,
  findPerson,
  insertRole,
  listStoredRoles,
  updateRole,
} from '../../store/people/people.ts'
import {
  findServiceToken,
  listServiceTokens,
  type ServiceToken,
} from '../../store/people/service-tokens.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import type { RoleAnswer } from '../contract/people.ts'
import {
  BUILT_IN_ROLES,
  MEMBER_ROLE,
  PERMISSIONS,
  type Permission,
} from '../contract/permissions.ts'
import { recordedRefusal, type RefusedAction } from '../http/refusals.ts'

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
  return [...[...BUILT_IN_ROLES, MEMBER_ROLE].map((role) => ({ ...role, isBuiltIn: true })), ...own]
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
function normalName(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase()
}

/** In whose name, and with which rights, people and roles are changed. */
export type Actor = {
  /** Records changes in the name of the acting person. */
  readonly store: Store
  /** Null: the operator of the machine, on the command line. */
  readonly personId: string | null
  readonly rights: ReadonlySet<Permission>
  /** The group that they are held in; undefined = everywhere. */
  readonly within?: string | undefined
}

/** The operator holds all rights: whoever can run commands on the machine can change the database anyway. */
export function operatorOf(store: Store): Actor {
  return { store, personId: null, rights: new Set(PERMISSIONS) }
}

/** Leaves somebody who manages people, and the configuration, if anybody did. A refusal is recorded. */
export async function change<Result>(
  actor: Actor,
  record: RefusedAction,
  work: (tx: Tx, roles: readonly Role[]) => Promise<Result>,
): Promise<Result> {
  const { store } = actor
  try {
    return await withChangeLock(store, async (tx) => {
      const roles = await listRoles(tx)
      await demandPresence(actor, tx, roles)
      const before = await heldPermissions(tx, roles)
      const result = await work(tx, roles)
      const after = await heldPermissions(tx, await listRoles(tx))
      const lost = before.find((permission) => !after.includes(permission))
      if (lost !== undefined) throw lastManager(lost)
      return result
    })
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'not_found') throw error
    throw await recordedRefusal(store, record, error)
  }
}

/** Since the call was admitted, a faster change may have blocked the caller or taken away their rights. */
async function demandPresence(
  { personId, rights, store, within }: Actor,
  tx: Tx,
  roles: readonly Role[],
): Promise<void> {
  if (personId === null) return
  const held = await permissionsNow(tx, { id: personId, roles, now: store.clock.now(), within })
  if (held === undefined) throw new AdminError('not_signed_in', sentence('sign_in_needed'))
  const permission = [...rights].find((each) => !held.includes(each))
  if (permission === undefined) return
  const why = sentence('permission_missing', { permission })
  throw new AdminError('not_permitted', why, { permission })
}

type Holder = Pick<Actor, 'within'> & {
  readonly id: string
  readonly roles: readonly Role[]
  readonly now: number
}

/** What a person or a service token may do now; undefined = nothing, as they were blocked, removed or revoked. */
async function permissionsNow(
  db: Queries,
  { id, roles, now, within }: Holder,
): Promise<readonly Permission[] | undefined> {
  const person = await findPerson(db, { id })
  if (person !== undefined) {
    if (person.status !== 'active') return undefined
    const member = (await membershipsOf(db, id)).find(({ groupId }) => groupId === within)
    const held = [person.roleId, ...(member === undefined ? [] : [member.roleId])]
    return held.flatMap((role) => roleById(roles, role).permissions)
  }
  const token = await findServiceToken(db, { id })
  if (token === undefined || hasExpired(token, now)) return undefined
  return roleById(roles, token.roleId).permissions
}

export function hasExpired({ expiresAt }: Pick<ServiceToken, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** Nobody may grant a right they lack, nor manage a person who has one: a reset link would let them take it over. */
export function demandRights(
  { rights }: Actor,
  needed: readonly Permission[],
  holder: { readonly role: string } | { readonly email: string },
): void {
  const permission = needed.find((each) => !rights.has(each))
  if (permission === undefined) return
  const why =
    'role' in holder
      ? sentence('permission_of_role', { ...holder, permission })
      : sentence('permission_of_person', { ...holder, permission })
  throw new AdminError('not_permitted', why, { permission })
}

const KEPT = ['people:manage', 'configuration:manage'] as const
type Kept = (typeof KEPT)[number]

/** The permissions of KEPT that somebody has. */
async function heldPermissions(tx: Tx, roles: readonly Role[]): Promise<readonly Kept[]> {
  const held: Kept[] = []
  for (const permission of KEPT) {
    const ids = roles.filter((role) => role.permissions.includes(permission)).map(({ id }) => id)
    if ((await countActive(tx, ids)) > 0) held.push(permission)
  }
  return held
}

function lastManager(permission: Kept): AdminError {
  const isPeople = permission === 'people:manage'
  const why = sentence(isPeople ? 'last_people_manager' : 'last_configuration_manager')
  return new AdminError('last_manager', why)
}

type RoleSettings = Pick<Role, 'name' | 'permissions'>

export async function answerRoles(db: Queries): Promise<readonly RoleAnswer[]> {
  const counts = await countByRole(db)
  return (await listRoles(db)).map((role) => roleAnswer(role, counts.get(role.id) ?? 0))
}

export async function createRole(actor: Actor, settings: RoleSettings): Promise<RoleAnswer> {
  const { name } = settings
  const record = { ...roleRecord('role.create', ''), subjectName: name }
  return change(actor, record, async (tx, roles) => {
    demandRights(actor, settings.permissions, { role: name })
    refuseTaken(roles, name)
    const id = await insertRole(actor.store, tx, settings)
    const after = { ...settings }
    await recordChange(actor.store, tx, { ...record, subjectId: id, before: null, after })
    return answerOf(tx, id)
  })
}

export async function changeRole(
  actor: Actor,
  id: string,
  given: { readonly [Name in keyof RoleSettings]?: RoleSettings[Name] | undefined },
): Promise<RoleAnswer> {
  const record = roleRecord('role.change', id)
  return change(actor, record, async (tx, roles) => {
    const role = ownRole(roles, id)
    const before = { name: role.name, permissions: role.permissions }
    const after = {
      name: given.name ?? before.name,
      permissions: given.permissions ?? before.permissions,
    }
    demandRights(actor, [...before.permissions, ...after.permissions], { role: role.name })
    const others = roles.filter((other) => other.id !== id)
    refuseTaken(others, after.name)
    await updateRole(tx, id, after)
    await recordChange(actor.store, tx, { ...record, subjectName: after.name, before, after })
    return answerOf(tx, id)
  })
}

export async function removeRole(actor: Actor, id: string): Promise<void> {
  const record = roleRecord('role.remove', id)
  await change(actor, record, async (tx, roles) => {
    const { name, permissions } = ownRole(roles, id)
    demandRights(actor, permissions, { role: name })
    if (((await countByRole(tx)).get(id) ?? 0) > 0 || (await isRoleInGroup(tx, id))) {
      throw new AdminError('wrong_state', sentence('role_in_use', { name }))
    }
    if ((await listServiceTokens(tx)).some(({ roleId }) => roleId === id)) {
      throw new AdminError('wrong_state', sentence('role_of_tokens', { name }))
    }
    await deleteRole(tx, id)
    const before = { name, permissions }
    await recordChange(actor.store, tx, { ...record, subjectName: name, before, after: null })
  })
}

function roleRecord(action: AuditAction, subjectId: string) {
  return { action, subject: 'role', subjectId } as const
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
