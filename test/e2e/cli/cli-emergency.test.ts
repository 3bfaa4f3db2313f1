// The command line in an emergency: an invalid configuration, or a missing database.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { COMMAND } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { bareEnv, run } from '../../support/process.ts'
import type { Ended } from '../../support/process.ts'
import { freshSqlite } from '../../support/store.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-emergency-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

describe('a configuration with an unrelated mistake', () => {
  const wrong = 'server: { port: x }\nkeys: { prefix: shop }\ndatabase: sqlite:keys.db\n'
  before(async () => {
    writeFileSync(join(folder, 'sound.yaml'), 'database: sqlite:keys.db\n')
    writeFileSync(join(folder, 'wrong.yaml'), wrong)
    writeFileSync(join(folder, 'broken.yaml'), `${wrong}models: [\n`)
    writeFileSync(join(folder, 'silent.yaml'), 'models: [\n')
    const made = await tollgate(
      ...['keys', 'create', '--name', 'a', '--models', 'sandbox-chat', '--budget', '1'],
      ...['--config', 'sound.yaml'],
    )
    assert.equal(made.code, 0, made.stderr)
  })

  const commands: readonly (readonly string[])[] = [
    ['keys', 'list'],
    ['keys', 'show', 'a'],
    ['keys', 'pause', 'a'],
    ['keys', 'resume', 'a'],
    ['keys', 'update', 'a', '--budget', '2', '--remove-models', 'sandbox-chat'],
    ['frame', 'show'],
    ['usage'],
    ['ledger', 'verify'],
    ['ledger', 'orphans'],
  ]
  for (const argv of commands) {
    test(`${argv.join(' ')} works, with a warning`, async () => {
      const ended = await tollgate(...argv, '--json', '--config', 'wrong.yaml')
      assert.equal(ended.code, 0, ended.stderr)
      assert.equal(typeof JSON.parse(ended.stdout), 'object')
      assert.match(ended.stderr, /^tollgate: warning: .*wrong\.yaml: server\.port must be/)
    })
  }

  test('a rotation keeps the configured prefix', async () => {
    const ended = await tollgate('keys', 'rotate', 'a', '--json', '--config', 'wrong.yaml')
    assert.match(ended.stdout, /"secret": "shop_live_/)
  })

  test('commands work even without valid YAML if the database is known', async () => {
    const argv = ['keys', 'show', 'a', '--json', '--config']
    assert.equal((await tollgate(...argv, 'broken.yaml')).code, 0)
    const guess = await tollgate(...argv, 'silent.yaml')
    assert.deepEqual([guess.code, guess.stdout], [1, ''])
    assert.match(guess.stderr, /^tollgate: .*silent\.yaml: line \d is not valid YAML/)
  })

  test('a new key, or a new model for one, needs a valid configuration', async () => {
    for (const argv of [
      ['keys', 'create', '--name', 'b', '--models', 'sandbox-chat', '--budget', '1'],
      ['keys', 'update', 'a', '--add-models', 'sandbox-chat'],
    ]) {
      const ended = await tollgate(...argv, '--config', 'wrong.yaml')
      assert.deepEqual([ended.code, ended.stdout], [1, ''])
    }
  })
})

for (const { name, fresh, missing, made } of [
  {
    name: 'SQLite',
    fresh: freshSqlite,
    missing: /there is no database at \S+( yet)?: (name another with|the first start creates it)/,
    made: /created a new database, \S+/,
  },
  {
    name: 'PostgreSQL',
    fresh: freshDatabase,
    missing:
      /the database at \S+ has no tables of Tollgate( yet)?: (name another with|the first start creates them)/,
    made: /created Tollgate's tables in \S+/,
  },
]) {
  test(`commands that only look create no database on ${name}`, async () => {
    const { url, drop } = await fresh()
    const config = (budget: number): void =>
      writeFileSync(
        join(folder, 'empty.yaml'),
        `database: ${JSON.stringify(url)}\nframe: { budget: ${budget} }\n`,
      )
    config(100)
    const looks = ['keys list', 'usage', 'ledger verify', 'frame show', 'users list', 'keys show a']
    for (const look of [...looks, 'keys pause a']) {
      const ended = await tollgate(...look.split(' '), '--config', 'empty.yaml')
      assert.deepEqual([ended.code, ended.stdout], [1, ''])
      assert.match(ended.stderr, missing)
    }
    const checked = await tollgate('check', '--config', 'empty.yaml')
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, missing)
    // So a frame that is corrected before the first start takes effect.
    config(2500)
    const set = await tollgate('frame', 'set', '--period', 'week', '--config', 'empty.yaml')
    assert.match(set.stderr, made)
    assert.match(set.stdout, /2500/)
    await drop()
  })
}

function tollgate(...argv: string[]): Promise<Ended> {
  // With PostgreSQL `check` requires a secret, as a start would.
  const env = { ...bareEnv, TOLLGATE_SECRET: 'a secret for tests, long enough to be taken' }
  return run(process.execPath, [COMMAND, ...argv], { cwd: folder, env })
}
