// The command line against a gateway elsewhere: by its admin API and a token alone, without its database.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { COMMAND, startGateway, type TestGateway } from '../../support/gateway.ts'
import { bareEnv, run } from '../../support/process.ts'
import { until } from '../../support/until.ts'

let folder = ''
let gateway: TestGateway
let token = ''
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-remote-'))
  gateway = await startGateway()
  token = await tokenFor('Manager')
})
after(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function tokenFor(role: string): Promise<string> {
  const made = await gateway.tollgate('tokens', 'create', '--name', `ci ${role}`, '--role', role)
  return String(made['secret'])
}

type Env = Readonly<Record<string, string | undefined>>

const elsewhere = (): Env => ({ TOLLGATE_URL: gateway.url, TOLLGATE_TOKEN: token })
const call = (env: Env, ...argv: readonly string[]) =>
  run(process.execPath, [COMMAND, ...argv], { cwd: folder, env: { ...bareEnv, ...env } })
const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const MANIFEST = `frame:
  budget: 500
groups:
  - name: search
    budget: 200
keys:
  - name: crawler
    group: search
    models: [sandbox-chat]
    budget: 12.50
`

test('a manifest is applied elsewhere as on the machine, and exported again', async () => {
  const file = write('keys.yaml', MANIFEST)
  const dry = await call(elsewhere(), 'apply', '-f', file, '--dry-run')
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(dry.stdout, /^\+ key search\/crawler: models sandbox-chat, budget 12.5$/m)

  const secrets = join(folder, 'secrets.jsonl')
  const done = await call(elsewhere(), 'apply', '-f', file, '--yes', '--secrets', secrets)
  assert.equal(done.code, 0, done.stderr)
  const { secret } = JSON.parse(readFileSync(secrets, 'utf8')) as { secret: string }
  const answer = await fetch(`${gateway.url}/v1/key`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  assert.equal(answer.status, 200, await answer.text())

  const again = await call(elsewhere(), 'apply', '-f', file, '--yes')
  assert.equal(again.stdout, 'Nothing to change: 3 entries already as the file says.\n')
  const exported = await call(elsewhere(), 'export')
  assert.match(exported.stdout, /name: crawler/)
  assert.deepEqual(
    JSON.parse((await call(elsewhere(), 'export', '--json')).stdout),
    await gateway.tollgate('export'),
  )
})

test('what is made and changed elsewhere is the same as on the machine', async () => {
  const far = async (...argv: readonly string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await call(elsewhere(), ...argv, '--json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Record<string, unknown>
  }
  const group = await far('groups', 'create', '--name', 'shop', '--budget', '50', '--keys-max', '3')
  assert.deepEqual(group, await gateway.tollgate('groups', 'show', 'shop'))
  const words = ['--models', 'sandbox-chat', '--budget', '5', '--window', '1/day', '--tag', 'web']
  const caps = ['--model-budget', 'sandbox-chat=2/week']
  const made = await far('keys', 'create', '--name', 'bot', '--group', 'shop', ...words, ...caps)
  const { secret, ...key } = made
  assert.match(String(secret), /^tg_live_/)
  assert.deepEqual(key, await gateway.tollgate('keys', 'show', 'shop/bot'))
  const change = ['--rpm', '60', '--model-budget', 'sandbox-chat=none', '--reason', 'a test']
  const changed = await far('keys', 'update', 'shop/bot', ...change)
  assert.deepEqual([changed['rpm'], changed['model_budgets']], [60, []])
  const rotated = await far('keys', 'rotate', 'shop/bot', '--overlap', '1h')
  assert.notEqual(rotated['secret'], secret)
  assert.equal((await far('keys', 'pause', 'shop/bot'))['status'], 'paused')
  assert.equal((await far('frame', 'set', '--budget', '900'))['budget'], '900')
  const unknown = await call(elsewhere(), 'keys', 'show', 'nobody')
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /there is no key with the id "nobody", and no key with this name/)
})

test('what is shown of a gateway elsewhere is what its own machine shows', async () => {
  const secret = await gateway.key('caller', 'sandbox-chat', '--budget', '1', '--tag', 'used')
  const chat = async (model: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
    })
  const answer = await chat('sandbox-chat')
  assert.equal(answer.status, 200, await answer.text())
  assert.equal((await chat('not-allowed')).status, 403)
  const id = answer.headers.get('x-request-id') ?? ''
  // Uses are recorded every few seconds, and lists do not look further.
  await until(async () => {
    const { stdout } = await call(elsewhere(), 'keys', 'list', '--tag', 'used', '--json')
    return !stdout.includes('"last_used_at": null')
  })
  const near = gateway.environment
  for (const argv of [
    ['keys', 'list'],
    ['keys', 'list', '--json'],
    ['keys', 'show', 'caller'],
    ['groups', 'list'],
    ['groups', 'members', 'list', 'shop'],
    ['frame', 'show'],
    ['usage', '--by', 'key', '--since', '2026-01-01'],
    ['usage', '--by', 'model', '--json', '--since', '2026-01-01', '--until', '2999-01-01'],
    ['usage', '--csv', '--group', 'none', '--since', '2026-01-01', '--until', '2999-01-01'],
    ['refusals', '--key', 'caller'],
    ['explain', id],
    ['explain', id, '--json'],
    ['models'],
    ['models', '--json'],
  ]) {
    const [here, there] = await Promise.all([call(near, ...argv), call(elsewhere(), ...argv)])
    assert.equal(there.code, 0, there.stderr)
    const isJson = argv.includes('--json')
    const read = (text: string): unknown => (isJson ? JSON.parse(text) : withoutTimes(text))
    assert.deepEqual(read(there.stdout), read(here.stdout), argv.join(' '))
  }
})

/** Between two calls a second may pass. */
function withoutTimes(text: string): string {
  return text.replaceAll(/\d+ seconds? ago|now|\d\d:\d\d:\d\d UTC/g, 'then').replaceAll(/ +/g, ' ')
}

test('a mistake that only the gateway knows is named by its line here', async () => {
  const text = 'keys:\n  - name: new\n    models: [m]\n    budget: 1\n    group: nowhere\n'
  const wrong = await call(elsewhere(), 'apply', '-f', write('wrong.yaml', text), '--yes')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /wrong\.yaml:5: keys\[0\]\.group: there is no such group/)
})

test('what does not make sense together is refused with one line', async () => {
  const file = write('token', `${token}\n`)
  const other = 'tg_live_'.padEnd(57, 'x')
  for (const [env, argv, told] of [
    [{ TOLLGATE_DATABASE: 'sqlite:x.db' }, [], /TOLLGATE_URL .* and TOLLGATE_DATABASE .*use one/],
    [{ TOLLGATE_CONFIG: 'x.yaml' }, [], /TOLLGATE_URL .* and TOLLGATE_CONFIG .*: use one of them/],
    [{}, ['--config', 'x.yaml'], /TOLLGATE_URL .* and --config .*: use one of them/],
    [{ TOLLGATE_URL: 'http://gateway.example' }, [], /is plain HTTP, .*: use https:\/\//],
    [{ TOLLGATE_URL: 'gateway' }, [], /"gateway" is not the URL of a gateway/],
    [{ TOLLGATE_URL: 'https://a:b@gateway.example' }, [], /without a user name and password/],
    [{ TOLLGATE_TOKEN: '' }, [], /set TOLLGATE_TOKEN, or name a file/],
    [{ TOLLGATE_TOKEN: other }, [], /TOLLGATE_TOKEN is not an access token/],
    [{ TOLLGATE_TOKEN: '' }, ['--token-file', 'missing'], /missing cannot be read \(ENOENT\)/],
    [{ TOLLGATE_URL: '' }, ['--token-file', file], /--token-file needs --url or TOLLGATE_URL/],
  ] as const) {
    const refused = await call({ ...elsewhere(), ...env }, 'export', ...argv)
    assert.equal(refused.code, 2, refused.stderr)
    assert.match(refused.stderr, told)
    assert.equal(refused.stderr.trim().split('\n').length, 1)
    assert.equal(refused.stdout, '')
  }
  const named = await call({}, 'export', '--url', gateway.url, '--token-file', file)
  assert.equal(named.code, 0, named.stderr)
})

test('a command that needs the machine says so', async () => {
  for (const argv of [
    ['backup', 'x'],
    ['ledger', 'verify'],
    ['serve'],
    ['tokens', 'list'],
    ['groups', 'wishes', 'list'],
  ]) {
    const refused = await call(elsewhere(), ...argv)
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /works on the gateway's own machine: run it there, without/)
  }
})

test('a token without rights, or of no gateway, and an address of none get a clear line', async () => {
  const viewer = await tokenFor('Viewer')
  const file = write('frame.yaml', 'frame:\n  budget: 900\n')
  const denied = await call(
    { ...elsewhere(), TOLLGATE_TOKEN: viewer },
    'apply',
    '-f',
    file,
    '--yes',
  )
  assert.equal(denied.code, 1)
  assert.match(denied.stderr, /^tollgate: .*permission.*\n$/)
  await gateway.tollgate('tokens', 'revoke', 'ci Viewer')
  const gone = await call({ ...elsewhere(), TOLLGATE_TOKEN: viewer }, 'export')
  assert.deepEqual([gone.code, gone.stdout], [1, ''])

  const server = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
  const { port } = await new Promise<AddressInfo>((resolve) => {
    server.once('listening', () => resolve(server.address() as AddressInfo))
  })
  const url = `http://127.0.0.1:${port}`
  const odd = await call({ ...elsewhere(), TOLLGATE_URL: url }, 'export')
  assert.equal(odd.code, 1)
  assert.match(odd.stderr, /does not answer like the admin API of Tollgate \(HTTP 200\)/)
  server.close()
  const nobody = await call({ ...elsewhere(), TOLLGATE_URL: url }, 'export')
  assert.equal(nobody.code, 1)
  assert.match(nobody.stderr, /cannot be reached \(ECONNREFUSED\)/)
})
