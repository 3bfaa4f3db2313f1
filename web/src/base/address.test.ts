// Nobody starts on a page their role may not open.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import { signInSearch, spanOf, startPage } from './address.ts'

for (const [permissions, page] of [
  [['audit:read', 'usage:read', 'configuration:read'], '/settings/api-access'],
  [['audit:read', 'usage:read'], '/settings/usage'],
  [['people:manage'], '/settings/people'],
  [[], '/settings/profile'],
] satisfies readonly (readonly [Permission[], string])[])
  test(`someone with ${permissions.join(', ') || 'no permission'} starts at ${page}`, () =>
    assert.equal(startPage({ permissions, everywhere: permissions, groups: [] }), page))

const group = { id: 'grp_1', name: 'search', role: { id: 'member', name: 'Member' } }
const within = (permissions: Permission[], inGroup: Permission[]) =>
  startPage({
    ...{ permissions, everywhere: [] },
    groups: [{ ...group, permissions: inGroup, self_service: true }],
  })

test('who has only keys of their own starts with them, and who manages a group with its keys', () => {
  assert.equal(within(['configuration:read'], []), '/settings/my-keys')
  assert.equal(within([], []), '/settings/my-keys')
  assert.equal(within(['configuration:read'], ['configuration:read']), '/settings/api-access')
})

// The time span that the address stands for.

const now = Date.parse('2026-11-15T12:00:00Z')
const dayMs = 86_400_000

for (const { what, search, period = null, days, step } of [
  { what: 'no range', search: {}, days: 30, step: 'day' },
  { what: 'a day', search: { range: '24h' }, days: 1, step: 'hour' },
  { what: '90 days', search: { range: '90d' }, days: 90, step: 'day' },
  {
    what: 'a young period',
    search: { range: 'period' },
    period: '2026-11-14T00:00:00Z',
    days: 1.5,
    step: 'hour',
  },
  { what: 'a period without end', search: { range: 'period' }, days: 90, step: 'day' },
  {
    // No zone changes its clocks on these days, so each has 24 hours.
    what: 'chosen days',
    search: { range: 'days', from: '2026-11-03', to: '2026-11-12' },
    days: 10,
    step: 'day',
  },
  {
    what: 'one chosen day',
    search: { range: 'days', from: '2026-11-10', to: '2026-11-10' },
    days: 1,
    step: 'hour',
  },
  {
    what: 'days in the wrong order',
    search: { range: 'days', from: '2026-11-10', to: '2026-11-01' },
    days: 30,
    step: 'day',
  },
] as const)
  test(`${what}: ${days} days by the ${step}`, () => {
    const span = spanOf(search, now, period)
    assert.equal((Date.parse(span.until) - Date.parse(span.since)) / dayMs, days)
    assert.equal(span.step, step)
  })

// A sign-in leads to a page of this interface, however its address was crafted.

for (const next of [
  '/settings/usage',
  '/settings/api-access?search=night+job&sort=name',
  '/settings/api-access/key_1?tab=requests#top',
  '/settings/usage?from=https://evil.example',
])
  test(`${next} is followed`, () => assert.equal(signInSearch.parse({ next }).next, next))

for (const next of [
  '',
  'settings/usage',
  'evil.example',
  'https://evil.example',
  'https://evil.example/settings/usage',
  'HTTPS://evil.example',
  'https:/evil.example',
  ' https://evil.example',
  'javascript:alert(1)',
  'data:text/html,evil',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '\\\\evil.example',
  // Characters that browsers drop from an address before parsing it.
  '/\t/evil.example',
  '/\n/evil.example',
  '/\r\\evil.example',
  '\t//evil.example',
  // Two slashes again after decoding.
  '/%2Fevil.example',
  '/%2fevil.example',
  '/%5Cevil.example',
  '/%09/evil.example',
  '%2F%2Fevil.example',
  // Two slashes again after the dots are resolved.
  '/.//evil.example',
  '/..//evil.example',
  '/settings/..//evil.example',
  '/settings/%2e%2e//evil.example',
  '/settings/.\t.//evil.example',
  ['/settings/usage'],
  7,
])
  test(`${JSON.stringify(next)} is not followed`, () =>
    assert.equal(signInSearch.parse({ next }).next, undefined))
