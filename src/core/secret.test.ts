// Secrets: their shape, their checksum, and the hash that alone is stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'

import {
  hashSecret,
  isWellFormedSecret,
  maskSecret,
  newPersonalToken,
  newServiceToken,
  newSecret,
  tokenHolder,
} from './secret.ts'

test('a new secret has the published shape and a checksum anyone can verify', () => {
  for (const mode of ['live', 'test'] as const) {
    const secret = newSecret(mode)
    assert.match(secret, new RegExp(`^tg_${mode}_[0-9A-Za-z]{49}$`))
    assert.ok(isWellFormedSecret(secret))
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const checksum = Array.from(secret.slice(-6)).reduce(
      (sum, digit) => sum * 62 + digits.indexOf(digit),
      0,
    )
    assert.equal(checksum, crc32(secret.slice(0, -6)))
  }
  assert.match(newSecret('live', 'acme'), /^acme_live_/)
})

test('a single changed character is noticed', () => {
  const secret = newSecret('live')
  for (let index = 8; index < secret.length; index++) {
    const other = secret[index] === 'x' ? 'y' : 'x'
    assert.ok(!isWellFormedSecret(secret.slice(0, index) + other + secret.slice(index + 1)))
  }
  for (const text of ['', 'tg_live_', secret + 'a', `${secret} `, secret.toLowerCase()]) {
    assert.ok(!isWellFormedSecret(text), text)
  }
})

test('hash and mask reveal only the kind and the last four characters', () => {
  const secret = newSecret('test')
  assert.match(hashSecret(secret), /^[0-9a-f]{64}$/)
  assert.equal(maskSecret(secret), `tg_test_…${secret.slice(-4)}`)
})

for (const [holder, start, newToken] of [
  ['person', 'tgp', newPersonalToken],
  ['service', 'tgs', newServiceToken],
] as const)
  test(`the token of a ${holder} has the same shape, but is not the secret of a key`, () => {
    const token = newToken()
    assert.match(token, new RegExp(`^${start}_[0-9A-Za-z]{49}$`))
    assert.equal(maskSecret(token), `${start}_…${token.slice(-4)}`)
    assert.equal(tokenHolder(token), holder)
    assert.ok(!isWellFormedSecret(token))
    // Not even if keys begin like tokens.
    assert.equal(tokenHolder(newSecret('live', start)), undefined)
    const mistyped = `${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`
    assert.equal(tokenHolder(mistyped), undefined)
  })
