// Nobody starts on a page their role may not open.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import { startPage } from './start-page.ts'

for (const [permissions, page] of [
  [['audit:read', 'usage:read', 'configuration:read'], '/settings/api-access'],
  [['audit:read', 'usage:read'], '/settings/usage'],
  [['people:manage'], '/settings/people'],
  [[], '/settings/profile'],
] satisfies readonly (readonly [Permission[], string])[])
  test(`someone with ${permissions.join(', ') || 'no permission'} starts at ${page}`, () =>
    assert.equal(startPage(permissions), page))
