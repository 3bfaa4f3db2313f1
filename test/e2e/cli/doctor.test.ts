// `tollgate doctor` beside real gateways, on both databases: all is well while one serves, and what is wrong after it
// was stopped or killed, with another secret, without a provider, or with a broken configuration.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { COMMAND, startGateway } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { bareEnv, freePort, run } from '../../support/process.ts'
import { startProvider } from '../../support/provider.ts'

type Finding = {
  readonly check: string
  readonly outcome: 'ok' | 'wrong' | 'unknown'
  readonly found: string
  readonly todo: string | null
}

const CHECKS =
  'configuration versions database schema clock connections disk secret prices nodes alarms'.split(
    ' ',
  )
// A dead node is known to be dead after three beats, and the doctor waits for as long. Every machine has as many files.
const QUICK = 'ledger: { beat: 200ms, dead_after: 1s }\nserver: { connections_max: 100 }\n'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-doctor-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

for (const kind of ['SQLite', 'PostgreSQL'] as const)
  describe(`on ${kind}`, () => {
    let database = ''
    let drop = (): Promise<void> => Promise.resolve()
    before(async () => {
      database = `sqlite:${join(folder, 'doctor.db')}`
      if (kind === 'SQLite') return
      const fresh = await freshDatabase()
      database = fresh.url
      drop = () => fresh.drop()
    })
    after(() => drop())
    const settings = { TOLLGATE_SECRET: 'a secret for tests, long enough to be taken' }
    const look = (env: NodeJS.ProcessEnv = {}, config = QUICK) =>
      doctor(config, { TOLLGATE_DATABASE: database, ...settings, ...env })

    test('before the first start it says that there is no database or no table, and makes none', async () => {
      const { code, checks } = await look()
      assert.equal(code, 1)
      assert.equal(of(checks, 'database').outcome, 'wrong')
      assert.match(String(of(checks, 'database').todo), /`tollgate serve`/)
      assert.equal(of(checks, 'nodes').outcome, 'unknown')
      // The second look finds no database either. What it says of the disk and the clock may differ by then.
      assert.deepEqual(of((await look()).checks, 'database'), of(checks, 'database'))
    })

    test('beside a gateway every line is fine; after its end, and after a kill, it says what to do', async () => {
      const start = () => startGateway({ database, config: QUICK, env: settings })
      {
        await using gateway = await start()
        await gateway.key('doctor', 'sandbox-chat')
        const { code, checks, text } = await look()
        assert.deepEqual(
          checks.map(({ check, outcome }) => `${check} ${outcome}`),
          CHECKS.map((check) => `${check} ok`),
          text,
        )
        assert.equal(code, 0)
        assert.equal(of(checks, 'nodes').found, '1 node serves')
        const program = kind === 'SQLite' ? /SQLite 3\.\d+/ : /PostgreSQL \d+/
        assert.match(of(checks, 'versions').found, program)
        await gateway.stop()
      }
      const stopped = await look()
      assert.deepEqual([stopped.code, wrongs(stopped.checks)], [1, ['nodes']])
      assert.match(of(stopped.checks, 'nodes').found, /^none serves/)
      {
        await using gateway = await start()
        await gateway.stop('SIGKILL')
      }
      const killed = await look()
      assert.deepEqual([killed.code, wrongs(killed.checks)], [1, ['nodes']])
      assert.match(of(killed.checks, 'nodes').found, /^of 1, silent: \d+$/)
    })

    test('another secret than before is wrong', async () => {
      const { checks } = await look({ TOLLGATE_SECRET: 'quite another secret, also long' })
      assert.match(of(checks, 'secret').found, /^not the one that this database was served with$/)
    })

    test('a provider that answers is fine; one that refuses the key, or is not there, is wrong', async () => {
      const list = JSON.stringify({ object: 'list', data: [{ id: 'gpt-5' }] })
      await using provider = await startProvider((request, response) => {
        const isKnown = request.headers.authorization === 'Bearer sk-right'
        response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
        response.end(isKnown ? list : JSON.stringify({ error: { message: 'wrong key' } }))
      })
      const nobody = `http://127.0.0.1:${await freePort()}`
      const entry = (url: string, key: string) =>
        `{ kind: openai, base_url: "${url}/v1", api_key: ${key} }`
      const { code, checks } = await look(
        {},
        [
          `${QUICK}providers:`,
          `  good: ${entry(provider.url, 'sk-right')}`,
          `  refusing: ${entry(provider.url, 'sk-wrong')}`,
          `  gone: ${entry(nobody, 'sk-right')}`,
          `  keyless: ${entry(nobody, '"${NONE:-}"')}\n`,
        ].join('\n'),
      )
      assert.equal(code, 1)
      assert.match(of(checks, 'provider good').found, /^lists 1 models within \d+ ms$/)
      for (const name of ['refusing', 'gone']) {
        assert.equal(of(checks, `provider ${name}`).outcome, 'wrong')
        assert.match(String(of(checks, `provider ${name}`).todo), /check its api_key and base_url/)
      }
      assert.equal(of(checks, 'provider keyless').outcome, 'unknown')
    })

    test('a model without a price is wrong', async () => {
      const provider = 'p: { kind: openai, base_url: "http://127.0.0.1:9/v1", api_key: sk-x }'
      const models = 'models:\n  mine: { targets: [p/unheard-of] }\n'
      const { checks } = await look({}, `${QUICK}providers:\n  ${provider}\n${models}`)
      assert.equal(of(checks, 'prices').outcome, 'wrong')
      assert.match(String(of(checks, 'prices').todo), /`tollgate check`/)
    })

    test('with a broken configuration it still looks at the database', async () => {
      const { code, checks } = await look({}, 'ledger: { beat: never }\nnonsense: 1\n')
      assert.equal(code, 1)
      assert.match(of(checks, 'configuration').found, /^2 mistakes: /)
      assert.equal(of(checks, 'database').outcome, 'ok')
      assert.equal(of(checks, 'secret').outcome, 'unknown')
    })
  })

test('a PostgreSQL that is not there is one wrong line, and the rest is not looked at', async () => {
  const env = {
    TOLLGATE_DATABASE: `postgres://tollgate@127.0.0.1:${await freePort()}/tollgate`,
    TOLLGATE_SECRET: 'a secret for tests, long enough to be taken',
  }
  const { code, checks } = await doctor(QUICK, env)
  assert.deepEqual([code, wrongs(checks)], [1, ['database']])
  assert.doesNotMatch(of(checks, 'versions').found, /SQLite/)
})

test('people get a line each, with an arrow at what to do', async () => {
  const file = join(folder, 'people.yaml')
  writeFileSync(file, QUICK)
  const env = { ...bareEnv, TOLLGATE_DATABASE: `sqlite:${join(folder, 'none.db')}` }
  const words = [COMMAND, 'doctor', '--config', file]
  const { code, stdout } = await run(process.execPath, words, { cwd: folder, env })
  assert.equal(code, 1)
  assert.match(stdout, /^ {2}✓ configuration +\S+people\.yaml\n/)
  assert.match(stdout, /\n {2}✗ database +there is no database at .*\n +→ .*`tollgate serve`/)
  assert.match(stdout, /\n\nWrong: 1\.\n$/)
})

test('docs/operating/troubleshoot.md lists every line, and no other', () => {
  const rows = readFileSync('docs/operating/troubleshoot.md', 'utf8').matchAll(
    /^\| `(\w+)(?: …)?` \|/gm,
  )
  const listed = [...rows].map(([, name]) => name)
  assert.deepEqual(listed, CHECKS.toSpliced(-2, 0, 'provider'))
})

async function doctor(config: string, env: NodeJS.ProcessEnv) {
  const file = join(folder, 'tollgate.yaml')
  writeFileSync(file, config)
  const words = [COMMAND, 'doctor', '--json', '--config', file]
  const ended = await run(process.execPath, words, { cwd: folder, env: { ...bareEnv, ...env } })
  const { ok, checks } = JSON.parse(ended.stdout) as { ok: boolean; checks: readonly Finding[] }
  assert.equal(ok, ended.code === 0)
  return { code: ended.code, checks, text: ended.stdout }
}

function of(checks: readonly Finding[], name: string): Finding {
  const found = checks.find(({ check }) => check === name)
  assert.ok(found, `there is no line ${name}`)
  return found
}

function wrongs(checks: readonly Finding[]): readonly string[] {
  return checks.flatMap(({ check, outcome }) => (outcome === 'wrong' ? [check] : []))
}
