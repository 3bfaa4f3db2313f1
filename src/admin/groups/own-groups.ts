// The groups that somebody belongs to, as a member sees them: what they may do there with keys of their own, and what is
// left of the budgets above these.
import { iso, usd } from '../../core/units.ts'
import type { Store } from '../../store/database/store.ts'
import { findGroup, type Group, keyRulesJson } from '../../store/groups/groups.ts'
import { membershipsOf } from '../../store/groups/members.ts'
import { countOwnKeys } from '../../store/keys/own-keys.ts'
import type { OwnGroup } from '../contract/people.ts'
import type { Permission } from '../contract/permissions.ts'
import type { Person } from '../http/guard.ts'
import { rightsWithin } from '../people/identity.ts'
import { listRoles, roleById } from '../people/roles.ts'

/** By name. */
export async function ownGroups(store: Store, person: Person): Promise<OwnGroup[]> {
  const roles = await listRoles(store.db)
  const groups: OwnGroup[] = []
  for (const { groupId, roleId } of await membershipsOf(store.db, person.id)) {
    const group = await findGroup(store, groupId)
    const { id: role, name } = roleById(roles, roleId)
    const isManager = rightsWithin(person, groupId).has('configuration:manage')
    const isServed = ofOwnKeys(person, groupId).has('configuration:manage')
    groups.push({
      id: groupId,
      name: group.name,
      description: group.description,
      status: group.status,
      role: { id: role, name },
      key_rules: isServed && !isManager ? keyRulesJson(group.keyRules) : null,
      may_create_keys: (isManager || isServed) && group.status === 'active',
      models: group.models && [...group.models],
      ...leftOf(group),
      own_keys: await countOwnKeys(store, { groupId, personId: person.id }),
    })
  }
  return groups
}

function ofOwnKeys({ groups }: Person, groupId: string): ReadonlySet<Permission> {
  return groups.find(({ id }) => id === groupId)?.ofOwnKeys ?? new Set()
}

/** The tighter of its budgets decides. */
function leftOf(group: Group): Pick<OwnGroup, 'remaining' | 'resets_at'> {
  const { remainingNanodollars: main, window, resetsAt } = group
  const isWindow = window !== null && (main === null || window.remainingNanodollars < main)
  return isWindow
    ? { remaining: usd(window.remainingNanodollars), resets_at: iso(window.resetsAt) }
    : { remaining: usd(main), resets_at: iso(resetsAt) }
}
