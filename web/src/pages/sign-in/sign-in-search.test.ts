// A sign-in leads to a page of this interface, however its address was crafted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signInSearch } from './sign-in-search.ts'

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
