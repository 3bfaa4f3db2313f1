// `tollgate serve` as a process: it listens, picks up what the command line changes beside it, and shuts down cleanly.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { COMMAND } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { bareEnv, childrenOf, run, start } from '../../support/process.ts'
import type { Ended, Running } from '../../support/process.ts'
import { until } from '../../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-serve-'))
after(() => rmSync(folder, { recursive: true, force: true }))

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`serving on ${kind}`, () => {
    let env: NodeJS.ProcessEnv = {}
    let drop = (): Promise<void> => Promise.resolve()
    before(async () => {
      if (kind === 'SQLite') {
        env = { TOLLGATE_DATABASE: `sqlite:${join(folder, 'served', 't.db')}` }
        return
      }
      const database = await freshDatabase()
      drop = () => database.drop()
      env = { TOLLGATE_DATABASE: database.url, TOLLGATE_SECRET: 'not much of a secret' }
    })
    after(() => drop())

    test('applies changes to keys while running, and exits with 0', async () => {
      await using server = serve(env, '--port', '0', '--json')
      const url = await addressOf(server)
      await server.printed(/There is no administrator yet.*\n\n {2}http:\S+\/welcome#\S+\n/)
      const [, paste = ''] = await server.printed(/There is no key yet.*\n\n([^]*?)\n\n/)
      const pasted = await run('bash', ['-c', `${paste}\necho; echo "$TOLLGATE_API_KEY"`], {
        env: { ...process.env, ...env },
      })
      assert.match(pasted.stdout, /"object":"chat.completion"/, pasted.stderr)
      const secret = pasted.stdout.trim().split('\n').at(-1) ?? ''
      assert.deepEqual(await modelsFor(url, secret), [200, ['sandbox-chat']])

      await tollgate(env, 'keys', 'update', 'demo', '--add-models', 'sandbox-embedding')
      await until(async () => (await modelsFor(url, secret))[1].length === 2)
      await tollgate(env, 'keys', 'revoke', 'demo', '--reason', 'test')
      await until(async () => (await modelsFor(url, secret))[0] === 401)

      const ended = await server.stop('SIGTERM')
      assert.deepEqual([ended.code, ended.signal], [0, null])
      const events = ended.stdout
        .trim()
        .split('\n')
        .map((line) => Object(JSON.parse(line)).event as string)
      assert.equal(events[0], 'listening')
      assert.equal(events.at(-1), 'stopped')
    })

    test('usage, explain and ledger verify agree with a call', async () => {
      await using server = serve(env, '--port', '0')
      const url = await addressOf(server)
      const json = async (...argv: string[]): Promise<Record<string, unknown>> => {
        const ended = await tollgate(env, ...argv, '--json')
        assert.equal(ended.code, 0, ended.stderr)
        return JSON.parse(ended.stdout) as Record<string, unknown>
      }
      const models = 'sandbox-chat,sandbox-embedding'
      const key = await json('keys', 'create', '--name=b', `--models=${models}`, '--budget=1')
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${String(key['secret'])}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          model: 'sandbox-chat',
          messages: [{ role: 'user', content: '[[sandbox tokens=100]]' }],
        }),
      })
      const { usage } = (await answer.json()) as { readonly usage: Record<string, number> }
      const requestId = answer.headers.get('x-request-id') ?? ''
      // At 1 USD per million input tokens and 2 per million output tokens, the charge is easy to compute.
      const nanodollars =
        (usage['prompt_tokens'] ?? 0) * 1_000 + (usage['completion_tokens'] ?? 0) * 2_000
      const cost = String(Number((nanodollars / 1e9).toFixed(9)))

      const report = await json('usage', '--key', 'b')
      const figures = {
        requests: 1,
        failed: 0,
        refused: 0,
        input_tokens: usage['prompt_tokens'],
        cached_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: usage['completion_tokens'],
        reasoning_tokens: 0,
        cost,
        estimated: 0,
      }
      const day = new Date().toISOString().slice(0, 10)
      assert.deepEqual(report['total'], figures)
      const named = { key: key['id'], key_name: key['name'], model: 'sandbox-chat', day }
      const ofKey = { group: 'none', owner: '', environment: '', tags: [] }
      assert.partialDeepStrictEqual(report['rows'], [{ ...named, ...ofKey, ...figures }])
      assert.equal((await json('keys', 'show', 'b'))['spent'], cost)
      const people = await tollgate(env, 'usage', '--by', 'key', '--since', '1h')
      assert.match(people.stdout, /KEY +REQUESTS [^]*^b +1 /m)
      const csv = await tollgate(env, 'usage', '--key', 'b', '--csv')
      assert.match(
        csv.stdout,
        new RegExp(
          `^key,key_name,group,.*\\n${String(key['id'])},b,none,.*,sandbox-chat,.*,${day},,1,0,`,
        ),
      )
      const byTag = await tollgate(env, 'usage', '--by', 'tag', '--key', 'b')
      assert.match(byTag.stdout, /TAG +REQUESTS [^]*^\(none\) +1 [^]*counts in each of them/m)
      const byModel = await tollgate(env, 'usage', '--key', 'b', '--by', 'model', '--group', 'none')
      assert.match(byModel.stdout, /MODEL +REQUESTS [^]*^sandbox-chat +1 /m)
      const none = await json('usage', '--key', 'b', '--by', 'hour', '--provider', 'none')
      assert.partialDeepStrictEqual(none, { rows: [], total: { requests: 0 } })

      const explained = await json('explain', requestId)
      assert.deepEqual(
        [explained['cost'], explained['recomputed'], explained['agrees'], explained['target']],
        [cost, cost, true, 'sandbox/sandbox-chat'],
      )
      assert.match(
        (await tollgate(env, 'explain', requestId)).stdout,
        /recomputed +\S+ USD, the same/,
      )
      assert.partialDeepStrictEqual(await json('ledger', 'verify'), { ok: true, violations: [] })
      assert.deepEqual(await json('ledger', 'orphans'), { orphans: [] })

      const hold = String(explained['hold'])
      const adjusted = await json('ledger', 'adjust', hold, '--cost', '0.5', '--reason', 'invoice')
      assert.deepEqual(adjusted, { hold: Number(hold), before: cost, after: '0.5' })
      assert.equal((await json('keys', 'show', 'b'))['spent'], '0.5')
      assert.match(JSON.stringify(await json('explain', requestId)), /"reason":"invoice"/)
      assert.partialDeepStrictEqual(await json('ledger', 'verify', '--quiescent'), {
        ok: true,
        violations: [],
      })
      await server.stop()
    })

    test('reports a port in use in one line', async () => {
      await using server = serve(env, '--port', '0')
      const { port } = new URL(await addressOf(server))
      const second = await tollgate(env, 'serve', '--port', port)
      assert.equal(second.code, 1)
      assert.equal(
        second.stderr,
        `tollgate: port ${port} on 127.0.0.1 is in use: stop what uses it, or choose another with --port\n`,
      )
      await server.stop()
    })
  })
}

describe('several workers on PostgreSQL', () => {
  let env: NodeJS.ProcessEnv = {}
  let drop = (): Promise<void> => Promise.resolve()
  before(async () => {
    const database = await freshDatabase()
    drop = () => database.drop()
    env = { TOLLGATE_DATABASE: database.url, TOLLGATE_SECRET: 'not much of a secret' }
  })
  after(() => drop())

  test('share one address, replace one that dies, and end together', async () => {
    // Through the launcher, as people start it: each worker runs it, too.
    const argv = [resolve('bin/tollgate.mjs'), 'serve', '--port', '0', '--workers', '2']
    await using server = start(process.execPath, argv, {
      cwd: folder,
      env: { ...bareEnv, ...env },
    })
    const url = await addressOf(server)
    // Both must hold the address: with any free port, a new one would be chosen after the last holder died.
    await server.printed(/"listening"[^]*"listening"/)
    const [first = 0] = await childrenOf(server.pid)
    process.kill(first, 'SIGKILL')
    await server.printed(/worker \d+ ended \(SIGKILL\) and is being replaced/)
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    await server.printed(/"listening"[^]*"listening"[^]*"listening"/)
    const ended = await server.stop('SIGTERM')
    assert.deepEqual([ended.code, ended.signal], [0, null], ended.stderr)
  })

  test('replace one that is stopped', async () => {
    const config = join(folder, 'stopped.yaml')
    writeFileSync(
      config,
      'server: { port: 0, workers: 2 }\nledger: { beat: 0.2s, dead_after: 1s }\n',
    )
    await using server = serve({ ...env, TOLLGATE_CONFIG: config })
    const url = await addressOf(server)
    await server.printed(/"listening"[^]*"listening"/)
    const [stopped = 0] = await childrenOf(server.pid)
    process.kill(stopped, 'SIGSTOP')
    await server.printed(new RegExp(`worker ${stopped} does not answer and is killed`))
    await server.printed(new RegExp(`worker ${stopped} ended .SIGKILL. and is being replaced`))
    await server.printed(/("listening"[^]*){3}/)
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    assert.ok(!(await childrenOf(server.pid)).includes(stopped))
    const ended = await server.stop('SIGTERM')
    assert.deepEqual([ended.code, ended.signal], [0, null], ended.stderr)
  })

  test('replace one with the configuration of the others, whatever the file says by then', async () => {
    const config = join(folder, 'workers.yaml')
    const { TOLLGATE_DATABASE: database, ...rest } = env
    const written = `database: ${JSON.stringify(database)}\nserver: { port: 0, workers: 2 }\n`
    writeFileSync(config, written)
    await using server = serve({ ...rest, TOLLGATE_CONFIG: config })
    const url = await addressOf(server)
    await server.printed(/"listening"[^]*"listening"/)
    const secret = await newSecret(env, 'workers')
    const replaceOne = async (text: string, listening: RegExp): Promise<void> => {
      writeFileSync(config, text)
      const [oldest = 0] = await childrenOf(server.pid)
      process.kill(oldest, 'SIGKILL')
      await server.printed(listening)
    }
    await replaceOne('database: postgres://nobody@127.0.0.1:1/none\n', /("listening"[^]*){3}/)
    await replaceOne('database: [nonsense\n', /("listening"[^]*){4}/)
    // Enough concurrent calls to reach both.
    const answers = await Promise.all([1, 2, 3, 4].map(() => modelsFor(url, secret)))
    for (const answer of answers) assert.deepEqual(answer, [200, ['sandbox-chat']])
    await server.stop()
  })

  test('report only once why they cannot serve', async () => {
    await using server = serve(env, '--port', '0')
    const { port } = new URL(await addressOf(server))
    const second = await tollgate(env, 'serve', '--port', port, '--workers', '3')
    assert.equal(second.code, 1)
    assert.match(second.stderr, /^tollgate: port \d+ on 127\.0\.0\.1 is in use: .*\n$/)

    const config = join(folder, 'admin-in-use.yaml')
    writeFileSync(config, `admin: { listen: "127.0.0.1:${port}" }\n`)
    const asked = ['serve', '--port', '0', '--workers', '2', '--config', config] as const
    const third = await tollgate(env, ...asked)
    assert.equal(third.code, 1)
    assert.match(third.stderr, /^tollgate: port \d+ on .* is in use: .* with admin\.listen\n$/)
    await server.stop()
  })
})

describe('reasons not to serve are reported in one line', () => {
  const adminElsewhere = join(folder, 'admin-elsewhere.yaml')
  writeFileSync(adminElsewhere, 'admin: { listen: "192.0.2.1:4001" }\n')
  const cases: readonly [string, NodeJS.ProcessEnv, readonly string[], number, RegExp][] = [
    [
      'a malformed port',
      {},
      ['--port', 'x'],
      2,
      /: --port must be a whole number from 0 to 65535\n$/,
    ],
    [
      'a host of another machine',
      {},
      ['--host', '192.0.2.1'],
      1,
      /^tollgate: 192\.0\.2\.1 is not an address of this machine: choose another with --host\n$/,
    ],
    [
      'an admin address of another machine',
      {},
      ['--port', '0', '--config', adminElsewhere],
      1,
      /^tollgate: 192\.0\.2\.1 is not an address of this machine: choose another with admin\.listen\n$/,
    ],
    ['several workers on SQLite', {}, ['--workers', '2'], 2, /: --workers must be 1 with SQLite/],
    [
      'PostgreSQL without a secret',
      { TOLLGATE_DATABASE: 'postgres://u@127.0.0.1:1/x' },
      [],
      1,
      /TOLLGATE_SECRET is required with PostgreSQL/,
    ],
    [
      'a database that does not answer',
      { TOLLGATE_DATABASE: 'postgres://u@127.0.0.1:1/x', TOLLGATE_SECRET: 'not much of a secret' },
      [],
      1,
      /cannot be reached \(connect ECONNREFUSED/,
    ],
  ]
  for (const [name, env, argv, code, message] of cases) {
    test(name, async () => {
      const ended = await tollgate(env, 'serve', ...argv)
      assert.equal(ended.code, code, ended.stderr)
      assert.match(ended.stderr, message)
      assert.equal(ended.stderr.trimEnd().split('\n').length, 1)
      assert.equal(ended.stdout, '')
    })
  }
})

test('a changed configuration is applied, and a wrong one is reported', async () => {
  const config = join(folder, 'tollgate.yaml')
  const env = { TOLLGATE_DATABASE: `sqlite:${join(folder, 'reload.db')}`, TOLLGATE_CONFIG: config }
  writeFileSync(config, 'sandbox: true\n')
  await using server = serve(env, '--port', '0')
  const url = await addressOf(server)
  const created = await tollgate(
    env,
    'keys',
    'create',
    '--name=a',
    '--models=mine',
    '--budget=1',
    '--json',
  )
  assert.match(created.stderr, /note: there is no model "mine" right now/)
  const { secret } = JSON.parse(created.stdout) as { readonly secret: string }
  assert.deepEqual(await modelsFor(url, secret), [200, []])
  writeFileSync(config, 'models: { mine: { targets: [nobody/x] } }\n')
  await server.printed(/"configuration_refused".*names the provider nobody/)
  writeFileSync(config, 'models: { mine: { targets: [sandbox/sandbox-chat] } }\n')
  await server.printed(/"configuration_reloaded"/)
  assert.deepEqual(await modelsFor(url, secret), [200, ['mine']])
  await server.stop()
})

test('changes that a running server cannot apply are reported', async () => {
  const config = join(folder, 'bound.yaml')
  const env = { TOLLGATE_CONFIG: config }
  const served = `database: "sqlite:${join(folder, 'bound.db')}"\n`
  writeFileSync(config, served)
  await using server = serve(env, '--port', '0')
  await addressOf(server)
  writeFileSync(config, `${served}sandbox: false\n`)
  await server.printed(/"configuration_reloaded"/)
  writeFileSync(
    config,
    `${served}frame: { budget: 200 }\nserver: { drain: 1s }\nledger: { beat: 2s }\nmetrics: { keys_max: 9 }`,
  )
  await server.printed(
    /"level":"warn","event":"restart_needed","sections":"server, ledger, metrics"/,
  )
  await server.printed(/"level":"warn","event":"frame_unchanged","reason":".*`tollgate frame set`/)
  const { stdout } = await server.stop()
  assert.equal(stdout.match(/restart_needed|frame_unchanged/g)?.length, 2)
})

test('a start with people but no administrator says how to make one', async () => {
  const env = { TOLLGATE_DATABASE: `sqlite:${join(folder, 'viewer.db')}` }
  const hint = /There is no administrator yet.*\n\n {2}node ".*" users create .*\n/
  const told: boolean[] = []
  for (const role of ['Viewer', 'Administrator']) {
    await tollgate(env, 'users', 'create', `--email=${role}@example.com`, `--role=${role}`)
    await using server = serve(env, '--port', '0')
    await server.printed(/There is no key yet/)
    told.push(hint.test((await server.stop()).stderr))
  }
  assert.deepEqual(told, [true, false])
})

test('the command that a start proposes works where it was started, outside the checkout', async () => {
  const env = { TOLLGATE_DATABASE: `sqlite:${join(folder, 'proposed.db')}` }
  await using server = serve(env, '--port', '0')
  const [, command = ''] = await server.printed(/export TOLLGATE_API_KEY=\$\((.*)\)\n/)
  const bare = { ...bareEnv, ...env, npm_config_offline: 'true' }
  const { code, stdout, stderr } = await run('sh', ['-c', command], { cwd: folder, env: bare })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^tg_live_\w+\n$/)
})

test('a SQLite database that came without its secret is reported once', async () => {
  const env = { TOLLGATE_DATABASE: `sqlite:${join(folder, 'restored', 't.db')}` }
  const told: number[] = []
  for (const secret of ['the secret of before', 'another one for it', 'another one for it']) {
    await using server = serve({ ...env, TOLLGATE_SECRET: secret }, '--port', '0')
    await addressOf(server)
    const { stdout } = await server.stop()
    told.push(stdout.match(/"level":"warn","event":"secret_changed"/g)?.length ?? 0)
  }
  assert.deepEqual(told, [0, 1, 0])
})

test('a gateway whose standard error cannot be written keeps running', async () => {
  const argv = [COMMAND, 'serve', '--port', '0', '--config', 'port.yaml']
  writeFileSync(join(folder, 'port.yaml'), `database: "sqlite:${join(folder, 'mute.db')}"\n`)
  await using server = start(
    'bash',
    ['-c', 'exec "$@" 2>/dev/full', 'serve', process.execPath, ...argv],
    { cwd: folder, env: bareEnv },
  )
  const [, url = ''] = await server.printed(/"url":"(http:[^"]+)"/)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  assert.equal((await server.stop()).code, 0)
})

test('SIGHUP without a terminal ends nothing', async () => {
  const env = { TOLLGATE_DATABASE: `sqlite:${join(folder, 'hangup.db')}` }
  await using server = serve(env, '--port', '0')
  const url = await addressOf(server)
  process.kill(server.pid, 'SIGHUP')
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  const ended = await server.stop('SIGTERM')
  assert.deepEqual([ended.code, ended.signal], [0, null])
})

async function newSecret(env: NodeJS.ProcessEnv, name: string): Promise<string> {
  const asked = ['keys', 'create', '--models=sandbox-chat', '--budget=1', '--secret-only']
  return (await tollgate(env, ...asked, `--name=${name}`)).stdout.trim()
}

function serve(env: NodeJS.ProcessEnv, ...argv: string[]): Running {
  return start(process.execPath, [COMMAND, 'serve', ...argv], {
    cwd: folder,
    env: { ...bareEnv, ...env },
  })
}

function tollgate(env: NodeJS.ProcessEnv, ...argv: string[]): Promise<Ended> {
  return run(process.execPath, [COMMAND, ...argv], { cwd: folder, env: { ...bareEnv, ...env } })
}

async function addressOf(server: Running): Promise<string> {
  const [, url = ''] = await server.printed(/listening on (http:\S+)/)
  return url
}

async function modelsFor(
  url: string,
  secret: string,
): Promise<readonly [number, readonly string[]]> {
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
  const body = (await answer.json()) as { readonly data?: readonly { readonly id: string }[] }
  return [answer.status, (body.data ?? []).map(({ id }) => id)]
}
