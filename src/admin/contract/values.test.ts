// Every name refuses text that a database cannot store, with a sentence that says so, and is what it looks like.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { alertRoutes } from './alerts.ts'
import { peopleRoutes } from './people.ts'
import { profileRoutes } from './profile.ts'
import { signInRoutes } from './sign-in.ts'

const NAME = 'a\0b'

test('a NUL character is refused in every name', () => {
  const email = 'ann@example.com'
  for (const [schema, body] of [
    [peopleRoutes.invitePerson.body, { email, name: NAME, role: 'viewer' }],
    [peopleRoutes.invitePerson.body, { email, role: NAME }],
    [peopleRoutes.changePerson.body, { name: NAME }],
    [peopleRoutes.changePerson.body, { role: NAME }],
    [peopleRoutes.createRole.body, { name: NAME, permissions: [] }],
    [profileRoutes.changeProfile.body, { name: NAME }],
    [profileRoutes.createToken.body, { name: NAME, expires_at: '2027-01-31T00:00:00Z' }],
    [signInRoutes.useLink.body, { token: 'x', password: 'long enough to do', name: NAME }],
    [
      alertRoutes.createDestination.body,
      { kind: 'webhook', name: 'x', url: 'https://example.com/\0' },
    ],
    [alertRoutes.createDestination.body, { kind: 'email', name: NAME, to: email }],
  ] as const) {
    const issues = schema.safeParse(body).error?.issues ?? []
    assert.deepEqual(
      issues.map(({ message }) => message),
      ['this contains a NUL character, which cannot be stored: remove it'],
      JSON.stringify(body),
    )
    const clean = JSON.parse(JSON.stringify(body).replaceAll(String.raw`\u0000`, '-')) as unknown
    assert.ok(schema.safeParse(clean).success, JSON.stringify(clean))
  }
})

test('no token lasts beyond the year 9999, or ended before 1970', () => {
  const { body } = profileRoutes.createToken
  for (const [expires_at, success] of [
    ['1969-12-31T23:59:59Z', false],
    ['9999-12-31T23:59:59-00:01', false],
    ['2027-01-31T00:00:00+01:00', true],
  ] as const) {
    assert.equal(body.safeParse({ name: 'script', expires_at }).success, success, expires_at)
  }
})

test('no name contains a line break, or anything invisible', () => {
  const name = ' Ad\u202emin\u200bistra\u3164\ntor '
  for (const [schema, body] of [
    [peopleRoutes.invitePerson.body, { email: 'ann@example.com', role: 'viewer' }],
    [peopleRoutes.changePerson.body, {}],
    [peopleRoutes.createRole.body, { permissions: [] }],
    [peopleRoutes.changeRole.body, {}],
    [profileRoutes.changeProfile.body, {}],
    [profileRoutes.createToken.body, { expires_at: '2027-01-31T00:00:00Z' }],
    [signInRoutes.useLink.body, { token: 'x', password: 'long enough to do' }],
  ] as const) {
    assert.equal(schema.safeParse({ ...body, name }).data?.name, 'Administra tor')
    assert.equal(schema.safeParse({ ...body, name: '\u200b' }).success, false)
  }
})
