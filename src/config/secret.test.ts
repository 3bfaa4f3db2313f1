// Where the secret comes from: the environment, or on SQLite a file that only its owner can read.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { secretOf } from './secret.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-secret-'))
})
after(() => rmSync(folder, { recursive: true }))

describe('secretOf', () => {
  test('a secret from the environment is used', () => {
    const secret = 'given, and long enough'
    assert.equal(secretOf({ secret, database: 'sqlite:x', dataFolder: folder }), secret)
  })

  test('a short secret is refused', () => {
    const config = { secret: 'fifteen letters', database: 'sqlite:x', dataFolder: folder }
    assert.throws(() => secretOf(config), /^ConfigError: TOLLGATE_SECRET is too short: .* 16/)
  })

  test('SQLite gets a generated secret, made once and readable by its owner only', () => {
    const dataFolder = join(folder, 'data')
    const config = sqliteIn(dataFolder)
    const made = secretOf(config)
    assert.equal(Buffer.from(made, 'base64').length, 32)
    assert.equal(statSync(join(dataFolder, 'secret')).mode & 0o777, 0o600)
    assert.equal(secretOf(config), made)
  })

  test('a full disk leaves no secret behind, and the next start makes one', async () => {
    const dataFolder = mkdtempSync(join(folder, 'full-'))
    await assert.rejects(elsewhere(dataFolder, 'ulimit -f 0'), /secret cannot be used \(EFBIG\)/)
    assert.deepEqual(readdirSync(dataFolder), [])
    assert.equal(secretOf(sqliteIn(dataFolder)).length, 44)
  })

  test('one of several processes that start at once makes the secret, and the others read it', async () => {
    const dataFolder = mkdtempSync(join(folder, 'race-'))
    const started = await Promise.all([1, 2, 3, 4].map(() => elsewhere(dataFolder)))
    assert.deepEqual([...new Set(started)], [secretOf(sqliteIn(dataFolder))])
    assert.deepEqual(readdirSync(dataFolder), ['secret'])
  })

  test('PostgreSQL requires a secret', () => {
    const config = { secret: null, database: 'postgres://u@h/d', dataFolder: folder }
    assert.throws(() => secretOf(config), /TOLLGATE_SECRET is required with PostgreSQL/)
  })

  test('an empty secret file is refused', () => {
    const dataFolder = mkdtempSync(join(folder, 'empty-'))
    writeFileSync(join(dataFolder, 'secret'), '\n')
    assert.throws(() => secretOf(sqliteIn(dataFolder)), /secret cannot be used \(is empty\)/)
  })
})

function sqliteIn(dataFolder: string) {
  return { secret: null, database: 'sqlite:x', dataFolder }
}

/** The secret that another process gets, after a shell command. */
async function elsewhere(dataFolder: string, command = ':'): Promise<string> {
  const module = JSON.stringify(new URL('secret.ts', import.meta.url))
  const program = `import { secretOf } from ${module}
    process.stdout.write(secretOf(${JSON.stringify(sqliteIn(dataFolder))}))`
  const script = `${command}; exec "$0" --input-type=module --eval "$1"`
  const { stdout } = await promisify(execFile)('bash', ['-c', script, process.execPath, program])
  return stdout
}
