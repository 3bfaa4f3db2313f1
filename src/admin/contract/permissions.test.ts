// The table of permissions in the document matches the code.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { BUILT_IN_ROLES, PERMISSIONS } from './permissions.ts'

test('docs/admin-api.md shows what each role may do', () => {
  const rows = readFileSync('docs/admin-api.md', 'utf8').matchAll(
    /^\| `(\w+:\w+)` \|[^|]*\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm,
  )
  const documented = [...rows].map(([, permission, ...roles]) => ({
    permission,
    roles: BUILT_IN_ROLES.filter((_, index) => roles[index]?.trim() === 'yes').map(({ id }) => id),
  }))
  const decided = PERMISSIONS.map((permission) => ({
    permission,
    roles: BUILT_IN_ROLES.filter(({ permissions }) => permissions.includes(permission)).map(
      ({ id }) => id,
    ),
  }))
  const byName = (one: { permission?: string | undefined }, other: typeof one) =>
    String(one.permission) < String(other.permission) ? -1 : 1
  assert.deepEqual(documented.toSorted(byName), decided.toSorted(byName))
})
