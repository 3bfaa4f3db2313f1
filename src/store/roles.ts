// Stored custom roles; the built-in ones are a table in the code.
import { newId } from '../core/ids.ts'
import type { Store } from './store.ts'
import type { Queries } from './tables.ts'

type StoredRole = {
  readonly id: string
  readonly name: string
  readonly permissions: readonly string[]
}

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
