// The permissions of people, and the built-in roles. Routes name a permission, never a role.

export const PERMISSIONS = [
  'configuration:manage',
  'configuration:read',
  'usage:read',
  'requests:read',
  'audit:read',
  'people:manage',
] as const
export type Permission = (typeof PERMISSIONS)[number]

type BuiltInRole = {
  readonly id: 'administrator' | 'manager' | 'viewer'
  readonly name: string
  readonly permissions: readonly Permission[]
}

/** Of itself it permits nothing; within a group it is for keys of one's own, as far as the rules of the group go. */
export const MEMBER_ROLE = { id: 'member', name: 'Member', permissions: [] } as const

/** What members of a group with self-service hold for keys of their own. */
export const OWN_PERMISSIONS: readonly Permission[] = [
  'configuration:manage',
  'configuration:read',
  'usage:read',
  'requests:read',
]

export const BUILT_IN_ROLES: readonly BuiltInRole[] = [
  { id: 'administrator', name: 'Administrator', permissions: PERMISSIONS },
  {
    id: 'manager',
    name: 'Manager',
    permissions: PERMISSIONS.filter((permission) => permission !== 'people:manage'),
  },
  {
    id: 'viewer',
    name: 'Viewer',
    permissions: ['configuration:read', 'usage:read', 'requests:read'],
  },
]
