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

type Env = Readonly<Record<string, string>>

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
  for (const argv of [['backup', 'x'], ['ledger', 'verify'], ['serve'], ['tokens', 'list']]) {
    const refused = await call(elsewhere(), ...argv)
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /works on the gateway's own machine: run it there, or unset/)
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
