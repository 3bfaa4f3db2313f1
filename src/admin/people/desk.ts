// Where people and roles are changed: in whose name, with which rights, and by rules that hold for everyone, whether
// they use the web interface, a script or the command line.
import { sentence } from '../../core/sentences.ts'
import { changeInTurn } from '../../store/database/changes.ts'
import type { Store } from '../../store/database/store.ts'
import type { Tx } from '../../store/database/tables.ts'
import { countActive, findPerson } from '../../store/people/people.ts'
import { PERMISSIONS, type Permission } from '../contract/permissions.ts'
import { AdminError } from '../error.ts'
import { refusal, type Attempt } from './refuse.ts'
import { listRoles, roleById, type Role } from './role-list.ts'

export type Desk = {
  /** Records changes in the name of the acting person. */
  readonly store: Store
  /** Null: the operator of the machine, on the command line. */
  readonly personId: string | null
  readonly rights: ReadonlySet<Permission>
}

/** The operator holds all rights: whoever can run commands on the machine can change the database anyway. */
export function operatorDesk(store: Store): Desk {
  return { store, personId: null, rights: new Set(PERMISSIONS) }
}

/**
 * One change of people or roles. It must leave somebody who can manage people, and somebody who can manage the
 * configuration, if there was anyone before. A refused change is recorded, and no part of it takes effect.
 */
export async function change<Result>(
  desk: Desk,
  attempt: Attempt,
  work: (tx: Tx, roles: readonly Role[]) => Promise<Result>,
): Promise<Result> {
  const { store } = desk
  try {
    return await changeInTurn(store, async (tx) => {
      const roles = await listRoles(tx)
      await demandPresence(desk, tx, roles)
      const before = await managers(tx, roles)
      const result = await work(tx, roles)
      const after = await managers(tx, await listRoles(tx))
      for (const permission of KEPT) {
        if (before[permission] > 0 && after[permission] === 0) throw lastManager(permission)
      }
      return result
    })
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'not_found') throw error
    throw await refusal(store, attempt, error)
  }
}

/** Since the call was admitted, a faster change may have blocked the caller or taken away their rights. */
async function demandPresence(
  { personId, rights }: Desk,
  tx: Tx,
  roles: readonly Role[],
): Promise<void> {
  if (personId === null) return
  const person = await findPerson(tx, { id: personId })
  if (person?.status !== 'active') {
    throw new AdminError('not_signed_in', sentence('sign_in_needed'))
  }
  const held = roleById(roles, person.roleId).permissions
  const permission = [...rights].find((each) => !held.includes(each))
  if (permission === undefined) return
  throw new AdminError('not_permitted', sentence('permission_missing', { permission }), {
    permission,
  })
}

/** Nobody may grant a right they lack, nor manage a person who has one: a reset link would let them take it over. */
export function demandRights(
  { rights }: Desk,
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

async function managers(
  tx: Tx,
  roles: readonly Role[],
): Promise<Record<(typeof KEPT)[number], number>> {
  const count = (permission: Permission): Promise<number> => {
    const ids = roles.filter((role) => role.permissions.includes(permission)).map(({ id }) => id)
    return countActive(tx, ids)
  }
  return {
    'people:manage': await count('people:manage'),
    'configuration:manage': await count('configuration:manage'),
  }
}

function lastManager(permission: (typeof KEPT)[number]): AdminError {
  const isPeople = permission === 'people:manage'
  const why = sentence(isPeople ? 'last_people_manager' : 'last_configuration_manager')
  return new AdminError('last_manager', why)
}
