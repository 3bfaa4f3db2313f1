// The page shown first: the one most people come for, or the first that the person's role may open.
import type { Permission } from '../../../src/admin/contract/permissions.ts'

const startPages = [
  ['configuration:read', '/settings/api-access'],
  ['usage:read', '/settings/usage'],
  ['requests:read', '/settings/requests'],
  ['audit:read', '/settings/audit'],
  ['people:manage', '/settings/people'],
] as const satisfies readonly (readonly [Permission, string])[]

export function startPage(permissions: readonly Permission[]) {
  const open = startPages.find(([permission]) => permissions.includes(permission))
  return open?.[1] ?? '/settings/profile'
}
