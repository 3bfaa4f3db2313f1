// Stored people and their roles: reading them, and the single steps that changes consist of. admin/people/ decides what
// may be changed, and by whom. Changes of people and roles are made one at a time (withChangeLock): two managers who
// remove each other at the same moment must not both succeed.
import { newId } from '../../core/ids.ts'
import type { Store } from '../database/store.ts'
import type { Queries, Row } from '../database/tables.ts'

type PersonStatus = 'active' | 'invited' | 'blocked'

export type Person = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly roleId: string
  /** As the single sign-on provider says: not edited by hand. */
  readonly isRoleFromSignOn: boolean
  readonly status: PersonStatus
  readonly hasPassword: boolean
  /** At a single sign-on provider. */
  readonly hasIdentity: boolean
  readonly hasTwoFactor: boolean
  /** By when they must have it; null = it was not required of them yet. */
  readonly secondFactorDueAt: number | null
  readonly createdAt: number
  readonly lastSeenAt: number | null
}

export async function listPeople(db: Queries): Promise<readonly Person[]> {
  const rows = await selectPeople(db).orderBy('people.email').execute()
  return rows.map(toPerson)
}

export async function findPerson(
  db: Queries,
  by: { readonly id: string } | { readonly email: string },
): Promise<Person | undefined> {
  const query = selectPeople(db)
  const row = await (
    'id' in by
      ? query.where('people.id', '=', by.id)
      : query.where('people.email', '=', normalEmail(by.email))
  ).executeTakeFirst()
  return row && toPerson(row)
}

export async function hasPeople(db: Queries): Promise<boolean> {
  return (await db.selectFrom('people').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** How many people can use one of these roles now: neither blocked nor merely invited. */
export async function countActive(db: Queries, roleIds: readonly string[]): Promise<number> {
  if (roleIds.length === 0) return 0
  const { count } = await db
    .selectFrom('people')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('role_id', 'in', roleIds)
    .where('blocked_at', 'is', null)
    .where('joined_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

type NewPerson = Pick<Person, 'id' | 'email' | 'name' | 'roleId'>

export async function insertPerson(db: Queries, person: NewPerson, now: number): Promise<void> {
  const at = new Date(now).toISOString()
  await db
    .insertInto('people')
    .values({
      id: person.id,
      email: normalEmail(person.email),
      name: person.name,
      // Whoever may add people vouches for the address.
      email_verified: 1,
      created_at: at,
      updated_at: at,
      role_id: person.roleId,
    })
    .execute()
}

export async function updatePerson(
  db: Queries,
  id: string,
  change: Partial<
    Pick<
      Row<'people'>,
      | 'name'
      | 'email'
      | 'email_verified'
      | 'role_id'
      | 'blocked_at'
      | 'last_seen_at'
      | 'second_factor_due_at'
    >
  >,
): Promise<void> {
  await db.updateTable('people').set(change).where('id', '=', id).execute()
}

export async function setSignOnRole(
  db: Queries,
  id: string,
  { roleId, isFromSignOn }: { readonly roleId: string; readonly isFromSignOn: boolean },
): Promise<void> {
  const role = { role_id: roleId, role_from_sign_on: isFromSignOn ? 1 : null }
  await db.updateTable('people').set(role).where('id', '=', id).execute()
}

/** Sessions, identities, tokens and links go with the person. */
export async function deletePerson(db: Queries, id: string): Promise<void> {
  await db.deleteFrom('people').where('id', '=', id).execute()
}

/** A person counts as joined from the first sign-in on. */
export async function markJoined(db: Queries, id: string, now: number): Promise<void> {
  await db
    .updateTable('people')
    .set({ joined_at: now })
    .where('id', '=', id)
    .where('joined_at', 'is', null)
    .execute()
}

/** A person who has lost the second factor then signs in without it, and may set it up again. */
export async function deleteTwoFactor(db: Queries, personId: string): Promise<void> {
  await db.deleteFrom('two_factors').where('person_id', '=', personId).execute()
  await db.updateTable('people').set({ two_factor_enabled: 0 }).where('id', '=', personId).execute()
}

/** Addresses are compared without regard to case, as better-auth does. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase()
}

function selectPeople(db: Queries) {
  return db
    .selectFrom('people')
    .selectAll()
    .select((eb) => {
      const accounts = eb
        .selectFrom('identities')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('identities.person_id', '=', 'people.id')
      return [
        accounts.where('provider_id', '=', PASSWORD_PROVIDER).as('passwords'),
        accounts.where('provider_id', '!=', PASSWORD_PROVIDER).as('identities'),
      ]
    })
}

/** better-auth's name for an identity that is a password. */
export const PASSWORD_PROVIDER = 'credential'

type PersonRow = Row<'people'> & {
  readonly passwords: number | null
  readonly identities: number | null
}

function toPerson(row: PersonRow): Person {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    roleId: row.role_id,
    isRoleFromSignOn: row.role_from_sign_on === 1,
    status: statusOf(row),
    hasPassword: (row.passwords ?? 0) > 0,
    hasIdentity: (row.identities ?? 0) > 0,
    hasTwoFactor: row.two_factor_enabled === 1,
    secondFactorDueAt: row.second_factor_due_at,
    createdAt: Date.parse(row.created_at),
    lastSeenAt: row.last_seen_at,
  }
}

function statusOf(row: Row<'people'>): PersonStatus {
  if (row.blocked_at !== null) return 'blocked'
  return row.joined_at === null ? 'invited' : 'active'
}

/** A custom role; the built-in ones are a table in the code. */
type StoredRole = Pick<Row<'roles'>, 'id' | 'name'> & { readonly permissions: readonly string[] }

export async function listStoredRoles(db: Queries): Promise<readonly StoredRole[]> {
  const rows = await db.selectFrom('roles').selectAll().orderBy('name').execute()
  return rows.map(({ id, name, permissions }) => ({
    id,
    name,
    permissions: JSON.parse(permissions) as string[],
  }))
}

export async function insertRole(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  { name, permissions }: Pick<StoredRole, 'name' | 'permissions'>,
): Promise<string> {
  const id = newId('role', clock)
  await db
    .insertInto('roles')
    .values({ id, name, permissions: JSON.stringify(permissions), created_at: clock.now() })
    .execute()
  return id
}

export async function updateRole(
  db: Queries,
  id: string,
  { name, permissions }: Pick<StoredRole, 'name' | 'permissions'>,
): Promise<void> {
  await db
    .updateTable('roles')
    .set((eb) => ({
      name,
      permissions: JSON.stringify(permissions),
      version: eb('version', '+', 1),
    }))
    .where('id', '=', id)
    .execute()
}

export async function deleteRole(db: Queries, id: string): Promise<void> {
  await db.deleteFrom('roles').where('id', '=', id).execute()
}

/** How many people have each role; roles that nobody has are left out. */
export async function countByRole(db: Queries): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('people')
    .select((eb) => ['role_id', eb.fn.countAll<number>().as('count')])
    .groupBy('role_id')
    .execute()
  return new Map(rows.map(({ role_id, count }) => [role_id, count]))
}
