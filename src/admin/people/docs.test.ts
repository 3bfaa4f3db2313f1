// docs/people.md matches the code: the permissions of each role, the codes of refusals, the limits on attempts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ADMIN_ERRORS } from '../contract/errors.ts'
import { BUILT_IN_ROLES, PERMISSIONS } from '../contract/permissions.ts'
import { TOKEN_DAYS_MAX } from '../contract/profile.ts'
import { PASSWORD_LENGTH_MIN } from '../contract/sign-in.ts'
import { TRIES_MAX } from './credentials.ts'

const text = readFileSync('docs/people.md', 'utf8')

test('the table of roles matches the code', () => {
  const rows = [...text.matchAll(/^\| `(\w+:\w+)` .*?\|(.*)\|$/gm)].map(
    ([, permission, cells = '']) => ({
      permission,
      holders: cells.split('|').map((cell) => cell.trim() === 'yes'),
    }),
  )
  assert.deepEqual(
    rows,
    PERMISSIONS.map((permission) => ({
      permission,
      holders: BUILT_IN_ROLES.map((role) => role.permissions.includes(permission)),
    })),
  )
  const [, names = ''] = /^\| permission \|(.*)\|$/m.exec(text) ?? []
  assert.deepEqual(
    names.split('|').map((name) => name.trim()),
    BUILT_IN_ROLES.map(({ name }) => name),
  )
})

test('every refusal has the status of its error code', () => {
  const named = [...text.matchAll(/(\d{3}) `([a-z_]+)`/g)]
  assert.ok(named.length >= 9)
  for (const [, status, code = ''] of named)
    assert.equal(Object(ADMIN_ERRORS)[code], Number(status), code)
})

test('the numbers match the code', () => {
  const { 'account from address': pair, address, account, 'sign-on': begun } = TRIES_MAX
  for (const words of [
    `more than ${pair} tries at an account from one place in 15 minutes, ${address} from one place, ${account} at one account`,
    `more than ${begun} sign-ins with the provider begun from one place`,
    `at least ${PASSWORD_LENGTH_MIN} characters`,
    `at most ${TOKEN_DAYS_MAX} days`,
  ])
    assert.ok(text.includes(words), words)
})
