// Where the secret comes from: the environment, or on SQLite a file of its own that nobody else can read.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { secretOf } from './secret.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-secret-'))
})
after(() => rmSync(folder, { recursive: true }))

describe('secretOf', () => {
  test('the environment decides', () => {
    const secret = 'given, and long enough'
    assert.equal(secretOf({ secret, database: 'sqlite:x', dataFolder: folder }), secret)
  })

  test('a short one is refused', () => {
    const config = { secret: 'fifteen letters', database: 'sqlite:x', dataFolder: folder }
    assert.throws(() => secretOf(config), /^ConfigError: TOLLGATE_SECRET is too short: .* 16/)
  })

  test('SQLite gets one of its own, once, for nobody else to read', () => {
    const dataFolder = join(folder, 'data')
    const config = { secret: null, database: 'sqlite:x', dataFolder }
    const made = secretOf(config)
    assert.equal(Buffer.from(made, 'base64').length, 32)
    assert.equal(statSync(join(dataFolder, 'secret')).mode & 0o777, 0o600)
    assert.equal(secretOf(config), made)
  })

  test('PostgreSQL needs one', () => {
    const config = { secret: null, database: 'postgres://u@h/d', dataFolder: folder }
    assert.throws(() => secretOf(config), /TOLLGATE_SECRET is required with PostgreSQL/)
  })

  test('an empty file protects nothing', () => {
    const dataFolder = mkdtempSync(join(folder, 'empty-'))
    writeFileSync(join(dataFolder, 'secret'), '\n')
    const config = { secret: null, database: 'sqlite:x', dataFolder }
    assert.throws(() => secretOf(config), /secret cannot be used \(is empty\)/)
  })
})
