// Passwords: argon2id in the standard form, and the rules for new ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, passwordProblem, verifyPassword } from './credentials.ts'

test('a hash contains its parameters, is salted, and verifies only its own password', async () => {
  const password = 'correct horse battery'
  const [one, other] = await Promise.all([hashPassword(password), hashPassword(password)])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.notEqual(one, other)
  assert.ok(await verifyPassword(password, one))
  assert.ok(!(await verifyPassword(`${password} `, one)))
  assert.ok(!(await verifyPassword('', one)))
})

test('a hash that another program made is verified with its own parameters', async () => {
  // From the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
  const hash =
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  assert.ok(await verifyPassword('password', hash))
  assert.ok(!(await verifyPassword('Password', hash)))
})

test('the same letters typed as different bytes are the same password', async () => {
  const hash = await hashPassword('grüner Käse 12')
  assert.ok(await verifyPassword('gru\u0308ner Ka\u0308se 12', hash))
})

test('a malformed hash verifies no password', async () => {
  for (const hash of ['', 'password', '$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$aaaa', '$2b$10$x'])
    assert.ok(!(await verifyPassword('password', hash)), hash)
})

test('a new password must be long, varied and not the e-mail address', () => {
  const problem = (password: string) => passwordProblem(password, 'ann.longname@example.com')?.text
  assert.match(problem('short') ?? '', /at least 12/)
  assert.match(problem('x'.repeat(201)) ?? '', /at most 200/)
  assert.match(problem('abababababababab') ?? '', /greater variety/)
  assert.match(problem('Ann.Longname@Example.com') ?? '', /cannot be your password/)
  assert.equal(problem('correct horse battery'), undefined)
  assert.equal(problem('🐎🐎🔋🔋📎📎✅✅🎈🎈🧀🧀'), undefined)
})
