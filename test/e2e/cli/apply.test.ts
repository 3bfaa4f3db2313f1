// `tollgate apply` and `tollgate export` as people use them: real processes, files, secrets and exit codes.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { hashSecret } from '../../../src/core/secret.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { findKeyBySecretHash } from '../../../src/store/keys/keys.ts'
import { openStore } from '../../../src/store/open.ts'
import { COMMAND } from '../../support/gateway.ts'
import { bareEnv, run, start } from '../../support/process.ts'
import { until } from '../../support/until.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-apply-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

const envOf = (database: string) => ({
  ...bareEnv,
  TOLLGATE_DATABASE: `sqlite:${join(folder, `${database}.db`)}`,
})
const call = (database: string, ...argv: readonly string[]) =>
  run(process.execPath, [COMMAND, ...argv], { cwd: folder, env: envOf(database) })
const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const secretsIn = (path: string): ReadonlyMap<string, string> =>
  new Map(
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; secret: string })
      .map(({ name, secret }) => [name, secret]),
  )

const MANIFEST = `# Who may spend what.
frame:
  budget: 500
groups:
  - name: search
    budget: 200
    window: 20/day
keys:
  - name: crawler
    group: search
    models: [sandbox-chat]
    budget: 12.50
  - name: outside
    models: [sandbox-chat]
    budget: none
    tags: [a, b]
`

test('a plan is shown, asked about, made, and then there is nothing to change', async () => {
  const file = write('first.yaml', MANIFEST)
  const secrets = join(folder, 'secrets.jsonl')
  // The first command on a machine.
  await call('one', 'frame', 'set', '--budget', '100')
  const dry = await call('one', 'apply', '-f', file, '--dry-run')
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(dry.stdout, /^~ frame: budget 100 → 500$/m)
  assert.match(dry.stdout, /^\+ group search: budget 200, window 20\/day$/m)
  assert.match(dry.stdout, /^\+ key search\/crawler: models sandbox-chat, budget 12.5$/m)
  assert.match(dry.stdout, /^4 changes; 0 entries already as the file says\.$/m)

  const unasked = await call('one', 'apply', '-f', file, '--secrets', secrets)
  assert.equal(unasked.code, 2)
  assert.match(unasked.stderr, /no terminal to ask at: add --yes/)
  const nowhere = await call('one', 'apply', '-f', file, '--yes')
  assert.equal(nowhere.code, 2)
  assert.match(nowhere.stderr, /name a file for their secrets with --secrets/)

  const done = await call('one', 'apply', '-f', file, '--yes', '--secrets', secrets)
  assert.equal(done.code, 0, done.stderr)
  assert.equal(statSync(secrets).mode & 0o777, 0o600)
  const known = secretsIn(secrets)
  assert.deepEqual([...known.keys()], ['search/crawler', 'outside'])
  assert.match(known.get('outside') ?? '', /^tg_live_\w{49}$/)
  assert.ok(!done.stdout.includes(known.get('outside') ?? ''))

  const again = await call('one', 'apply', '-f', file, '--yes', '--prune')
  assert.equal(again.code, 0, again.stderr)
  assert.equal(again.stdout, 'Nothing to change: 4 entries already as the file says.\n')
})

test('what is exported makes the same elsewhere', async () => {
  const exported = await call('one', 'export')
  assert.equal(exported.code, 0, exported.stderr)
  const file = write('exported.yaml', exported.stdout)
  const secrets = join(folder, 'elsewhere.jsonl')
  const words = ['apply', '-f', file, '--yes', '--secrets', secrets, '--json']
  const applied = await call('two', ...words)
  assert.equal(applied.code, 0, applied.stderr)
  assert.equal((JSON.parse(applied.stdout) as { applied: boolean }).applied, true)
  assert.equal((await call('two', 'export')).stdout, exported.stdout)
})

test('every mistake is named by its line, and nothing is changed', async () => {
  const before = (await call('one', 'export')).stdout
  for (const [text, lines] of [
    ['keys:\n  - name: a\n    colour: red\n', [/:3: keys\[0\]\.colour: there is no field/]],
    [
      'keys:\n  - name: a\n    group: search\n  - name: a\n  - name: a\n',
      [/:5: keys\[2\]\.name: two entries have this name/],
    ],
    [
      'keys:\n  - name: new\n    models: [m]\n  - name: outside\n    budget: lots\n',
      [/:5: keys\[1\]\.budget: enter an amount/],
    ],
    [
      'keys:\n  - name: new\n    models: [m]\n  - name: other\n    group: nowhere\n    models: []\n    budget: 1\n',
      [/:2: keys\[0\]\.budget: this is required/, /:5: keys\[1\]\.group: there is no such group/],
    ],
    ['groups:\n  - name: search\n    window: 5\n', [/:3: groups\[0\]\.window: /]],
    [
      'destinations:\n  - name: chat\n    webhook: https://hooks.example.com/…aB3k\n',
      [/:3: destinations\[0\]\.webhook: this address is cut short/],
    ],
    ['frames:\n  budget: 1\n', [/:1: frames: there is no field/]],
    ['keys: [\n', [/:\d: this is not valid YAML/]],
  ] as const) {
    const wrong = await call('one', 'apply', '-f', write('wrong.yaml', text), '--yes')
    assert.equal(wrong.code, 1, `${text}\n${wrong.stderr}`)
    for (const line of lines) assert.match(wrong.stderr, line)
  }
  const missing = await call('one', 'apply', '-f', 'nothing.yaml', '--yes')
  assert.match(missing.stderr, /nothing.yaml cannot be read \(ENOENT\)/)
  assert.equal((await call('one', 'export')).stdout, before)
})

test('what signs a new webhook is kept beside the secrets of keys', async () => {
  const hook = 'https://hooks.example.com/services/T0123456/B0123456/x7QdaB3k'
  const text = `destinations:\n  - { name: chat, webhook: "${hook}", kinds: [outage] }\n`
  const file = write('chat.yaml', text)
  const nowhere = await call('three-hooks', 'apply', '-f', file, '--yes')
  assert.equal(nowhere.code, 2, nowhere.stderr)
  const secrets = join(folder, 'hooks.jsonl')
  const done = await call('three-hooks', 'apply', '-f', file, '--yes', '--secrets', secrets)
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stdout, /^\+ destination chat: webhook https:\/\/hooks\.example\.com\/…aB3k, /m)
  assert.match(secretsIn(secrets).get('destinations/chat') ?? '', /^whsec_/)
  assert.doesNotMatch(done.stdout + done.stderr, /whsec_|T0123456/)
  const exported = await call('three-hooks', 'export')
  assert.match(exported.stdout, /webhook: https:\/\/hooks\.example\.com\/…aB3k/)
  const again = await call(
    'three-hooks',
    'apply',
    '-f',
    write('again.yaml', exported.stdout),
    '--yes',
  )
  assert.match(again.stdout, /^Nothing to change/)
})

test('secrets that cannot be kept make no keys', async () => {
  const file = write('more.yaml', 'keys:\n  - { name: more, models: [m], budget: 1 }\n')
  const failed = await call('one', 'apply', '-f', file, '--yes', '--secrets', '/nowhere/secrets')
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /cannot be written to \/nowhere\/secrets \(ENOENT\), so nothing/)
  assert.doesNotMatch((await call('one', 'export')).stdout, /more/)
})

test('an interrupted run can be run again, and the last secret of a name counts', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `key-${index}`)
  const keys = names.map((name) => `  - { name: ${name}, models: [m], budget: 1 }\n`).join('')
  const file = write('many.yaml', `keys:\n${keys}`)
  const secrets = join(folder, 'many.jsonl')
  const argv = [COMMAND, 'apply', '-f', file, '--yes', '--secrets', secrets]
  await call('three', 'frame', 'set', '--budget', '100')
  const first = start(process.execPath, argv, { cwd: folder, env: envOf('three') })
  await until(() => statSync(secrets, { throwIfNoEntry: false }) !== undefined)
  await first.stop('SIGKILL')
  const again = await run(process.execPath, argv, { cwd: folder, env: envOf('three') })
  assert.equal(again.code, 0, again.stderr)
  const url = envOf('three').TOLLGATE_DATABASE
  const store = await openStore(url, { clock: systemClock, purpose: 'look' })
  try {
    for (const [name, secret] of secretsIn(secrets)) {
      const found = await findKeyBySecretHash(store, hashSecret(secret))
      assert.equal(found?.key.name, name)
    }
    assert.equal(secretsIn(secrets).size, names.length)
  } finally {
    await store.close()
  }
})
