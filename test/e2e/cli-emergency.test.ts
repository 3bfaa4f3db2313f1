// The command line when something is wrong already: a configuration that cannot be used, a database that is not there.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { bareEnv, run } from '../support/process.ts'
import type { Ended } from '../support/process.ts'

const main = resolve('src/cli/main.ts')

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-emergency-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

describe('a configuration that is wrong elsewhere', () => {
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

  test('even without valid YAML, when the database can be told', async () => {
    const argv = ['keys', 'show', 'a', '--json', '--config']
    assert.equal((await tollgate(...argv, 'broken.yaml')).code, 0)
    const guess = await tollgate(...argv, 'silent.yaml')
    assert.deepEqual([guess.code, guess.stdout], [1, ''])
    assert.match(guess.stderr, /^tollgate: .*silent\.yaml: line \d is not valid YAML/)
  })

  test('a new key needs a sound one', async () => {
    const argv = ['keys', 'create', '--name', 'b', '--models', 'sandbox-chat', '--budget', '1']
    const ended = await tollgate(...argv, '--config', 'wrong.yaml')
    assert.deepEqual([ended.code, ended.stdout], [1, ''])
  })
})

test('whoever only looks makes no new database', async () => {
  writeFileSync(join(folder, 'empty.yaml'), 'database: sqlite:none.db\n')
  for (const argv of [['keys', 'list'], ['usage'], ['ledger', 'verify'], ['frame', 'show']]) {
    const ended = await tollgate(...argv, '--config', 'empty.yaml')
    assert.deepEqual([ended.code, ended.stdout], [1, ''])
    assert.match(ended.stderr, /^tollgate: there is no database at .*none\.db: name another with/)
    assert.equal(existsSync(join(folder, 'none.db')), false)
  }
})

function tollgate(...argv: string[]): Promise<Ended> {
  return run(process.execPath, [main, ...argv], { cwd: folder, env: bareEnv })
}
