// The command line as people use it: real processes on a real database, with their output and exit codes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isWellFormedSecret } from '../../../src/core/secret.ts'
import { COMMAND } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { bareEnv, run } from '../../support/process.ts'
import type { Ended } from '../../support/process.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`keys and frame on ${kind}`, () => {
    let database = ''
    let drop = (): Promise<void> => Promise.resolve()
    before(async () => {
      if (kind === 'SQLite') {
        database = `sqlite:${join(folder, 'keys.db')}`
      } else {
        const fresh = await freshDatabase()
        database = fresh.url
        drop = () => fresh.drop()
      }
    })
    after(() => drop())
    const call = (...argv: string[]) => tollgate(argv, { TOLLGATE_DATABASE: database })
    const json = async (...argv: string[]) => jsonOf(await call(...argv, '--json'))

    test('a key can be created, shown, updated, paused, rotated and revoked', async () => {
      const created = await json(
        ...['keys', 'create', '--name', 'shop', '--models', 'sandbox-embedding,sandbox-chat'],
        ...['--budget', '12.5', '--period', 'week', '--timezone', 'Europe/Berlin', '--rpm', '60'],
        ...['--tag', 'a', '--tag', 'b', '--owner', 'Team Shop', '--environment', 'production'],
        ...['--permissions', 'chat,models', '--expires', '2099-01-31', '--when-tight', 'refuse'],
      )
      const { id, secret, created_at, resets_at, ...rest } = created
      assert.match(String(id), /^key_[0-9a-z]{26}$/)
      assert.ok(isWellFormedSecret(String(secret)))
      assert.ok(Math.abs(Date.parse(String(created_at)) - Date.now()) < 600_000)
      assert.ok(Date.parse(String(resets_at)) > Date.now())
      assert.deepEqual(rest, {
        name: 'shop',
        group: null,
        mode: 'live',
        environment: 'production',
        owner: 'Team Shop',
        owner_person: null,
        description: null,
        tags: ['a', 'b'],
        status: 'active',
        models: ['sandbox-chat', 'sandbox-embedding'],
        permissions: ['models', 'chat'],
        budget: '12.5',
        period: 'week',
        timezone: 'Europe/Berlin',
        week_start: 'mon',
        spent: '0',
        held: '0',
        remaining: '12.5',
        window: null,
        model_budgets: [],
        request_cost_max: null,
        rpm: 60,
        tpm: null,
        concurrency: null,
        when_tight: 'refuse',
        expires_at: '2099-01-31T00:00:00.000Z',
        last_used_at: null,
      })

      const shown = await json('keys', 'show', 'shop')
      assert.deepEqual({ ...shown, secret }, created)
      assert.deepEqual(await json('keys', 'show', String(id)), shown)

      const updated = await json(
        ...['keys', 'update', 'shop', '--budget', 'none', '--rpm', 'none', '--expires', 'none'],
        ...['--remove-models', 'sandbox-embedding', '--owner', ''],
      )
      assert.deepEqual(
        [updated['budget'], updated['remaining'], updated['rpm'], updated['expires_at']],
        [null, null, null, null],
      )
      assert.deepEqual([updated['models'], updated['owner']], [['sandbox-chat'], null])

      assert.equal((await json('keys', 'pause', 'shop'))['status'], 'paused')
      assert.equal((await json('keys', 'resume', 'shop'))['status'], 'active')
      const rotated = await json('keys', 'rotate', 'shop', '--overlap', '0')
      assert.ok(isWellFormedSecret(String(rotated['secret'])))
      assert.notEqual(rotated['secret'], secret)
      assert.equal(rotated['id'], id)
      await json('keys', 'rotate', 'shop')
      const again = await call('keys', 'rotate', 'shop', '--json')
      assert.equal(typeof JSON.parse(again.stdout).secret, 'string')
      assert.match(again.stderr, /the secret before the old one, tg_live_….{4}, ended now/)

      assert.equal((await json('keys', 'revoke', 'shop', '--reason', 'test'))['status'], 'revoked')
      const gone = await call('keys', 'show', 'shop')
      assert.deepEqual([gone.code, gone.stdout], [1, ''])
      assert.match(gone.stderr, /there is no key with the id "shop", and no key with this name/)
      assert.equal((await json('keys', 'show', String(id)))['status'], 'revoked')
    })

    test('keys are listed for programs and for people, with the frame', async () => {
      await json('keys', 'create', '--name', 'one', '--models', 'sandbox-chat', '--budget', '1')
      const twice = await call(
        ...['keys', 'create', '--name', 'one', '--models', 'sandbox-chat', '--budget', '1'],
      )
      assert.deepEqual([twice.code, twice.stdout], [1, ''])
      assert.match(twice.stderr, /^tollgate: there is already a key named "one": .*\n$/)
      const { keys } = await json('keys', 'list')
      assert.ok(Array.isArray(keys) && keys.some((key) => Object(key).name === 'one'))
      const list = await call('keys', 'list')
      assert.match(list.stdout, /^NAME .*\n(.*\n)*one +key_\w+ +live +active +1 +1 USD per month/)
      assert.match(list.stdout, /\nFrame: 100 USD per month, 100 USD remaining\n$/)

      const frame = await json('frame', 'set', '--budget', '250', '--timezone', 'Asia/Tokyo')
      const { resets_at, ...figures } = frame
      assert.match(String(resets_at), /T15:00:00\.000Z$/)
      assert.deepEqual(figures, {
        budget: '250',
        period: 'month',
        timezone: 'Asia/Tokyo',
        week_start: 'mon',
        spent: '0',
        held: '0',
        remaining: '250',
        window: null,
        allocated: '1',
      })
      assert.deepEqual(await json('frame', 'show'), frame)
      const none = await call('frame', 'set', '--budget', '0')
      assert.match(none.stderr, /^tollgate: note: nothing is left of the frame, so every call/)
    })

    test('people see the secret once, with a warning', async () => {
      const created = await call(
        ...['keys', 'create', '--name', 'seen', '--models', 'sandbox-chat', '--budget', '1'],
      )
      const [secret = ''] = /tg_live_\w+/.exec(created.stdout) ?? []
      assert.ok(isWellFormedSecret(secret))
      assert.match(created.stdout, /the only time the secret is shown/)
      assert.doesNotMatch((await call('keys', 'show', 'seen')).stdout, /tg_live_/)
    })

    test('people see a top-up beside the budget, and that an allowlist has no wildcards', async () => {
      const budget = ['--models', '*', '--budget', '1']
      const { stderr } = await call('keys', 'create', '--name', 'topped', ...budget)
      assert.match(stderr, /an allowlist has no wildcards, so "\*" allows nothing/)
      await call('ledger', 'top-up', 'topped', '--amount', '0.5', '--reason', 'a sale')
      const { stdout } = await call('keys', 'show', 'topped')
      assert.match(stdout, /budget +1 USD per month\n +topped up +0\.5 USD more in this period\n/)
      assert.match(stdout, /remaining +1\.5 USD\n/)
    })
  })
}

describe('the configuration', () => {
  test('a mistyped model gets a suggestion, except for a test key', async () => {
    const env = { TOLLGATE_DATABASE: `sqlite:${join(folder, 'mistyped.db')}` }
    const words = ['keys', 'create', '--budget=1', '--models=sandbox-chta,nope']
    const { code, stderr } = await tollgate([...words, '--name=live'], env)
    assert.equal(code, 0)
    assert.match(
      stderr,
      /no model "sandbox-chta" .*cannot call it yet: did you mean "sandbox-chat"\?/,
    )
    assert.match(stderr, /no model "nope" .*cannot call it yet: `tollgate models` lists all/)
    const sandboxed = await tollgate([...words, '--name=test', '--mode=test'], env)
    assert.doesNotMatch(sandboxed.stderr, /no model/)
  })

  test('a link starts with the public address, else with the address of the server', async () => {
    const database = `database: sqlite:${join(folder, 'links.db')}\n`
    const invite = (email: string, settings: string) => {
      const config = write('links.yaml', `${database}${settings}`)
      return tollgate(['users', 'invite', '--email', email, '--role=Viewer', '--config', config])
    }
    const assumed = await invite('ann@example.com', 'server: { port: 4321 }')
    assert.match(assumed.stdout, /http:\/\/127\.0\.0\.1:4321\/invitation#/)
    assert.match(assumed.stderr, /note: .*http:\/\/127\.0\.0\.1:4321, .*set admin\.public_url/)
    const written = await invite('bob@example.com', 'admin: { public_url: "https://a.example" }')
    assert.match(written.stdout, /https:\/\/a\.example\/invitation#/)
    assert.equal(written.stderr, '')
  })

  test('models lists price, limits and abilities', async () => {
    const { models } = jsonOf(await tollgate(['models', '--json'], { OPENAI_API_KEY: 'sk-x' }))
    assert.ok(Array.isArray(models))
    const byId = new Map(models.map((model) => [Object(model).id as string, Object(model)]))
    assert.deepEqual(byId.get('sandbox-chat'), {
      id: 'sandbox-chat',
      kind: 'chat',
      provider: 'sandbox',
      targets: [
        {
          provider: 'sandbox',
          model: 'sandbox-chat',
          weight: 1,
          role: 'target',
          price: { input: '1', cached: '1', cache_write: '1', cache_write_long: '1', output: '2' },
        },
      ],
      price: { input: '1', cached: '1', cache_write: '1', cache_write_long: '1', output: '2' },
      context: 131_072,
      max_output: 4_096,
      abilities: {
        tools: true,
        images: true,
        files: true,
        structured_output: true,
        reasoning: true,
      },
      available: true,
      reason: null,
    })
    assert.equal(byId.get('gpt-5-mini')?.price.output, '2')
    assert.deepEqual(byId.get('gpt-5.4')?.price.tiers, [
      {
        above_input_tokens: 271_999,
        input: '5',
        cached: '0.5',
        cache_write: '5',
        cache_write_long: '5',
        output: '22.5',
      },
    ])
  })

  test('models shows what long inputs cost', async () => {
    const { stdout } = await tollgate(['models'], { OPENAI_API_KEY: 'sk-x' })
    assert.match(
      stdout,
      /^ {2}gpt-5\.4 above 271,999 input tokens: 5 \(cached 0\.5\), output 22\.5$/m,
    )
  })

  test('models names targets and fallbacks', async () => {
    const config = write(
      'follow.yaml',
      'providers: { a: { kind: anthropic, api_key: k }, o: { kind: openai, api_key: k } }\n' +
        'models: { sonnet: { targets: [a/claude-sonnet-4-6], fallbacks: [o/gpt-5] } }\n',
    )
    const { stdout } = await tollgate(['models', '--config', config])
    assert.match(stdout, /^sonnet +chat +a\/claude-sonnet-4-6, then o\/gpt-5 /m)
  })

  test('discover asks a provider what it offers', async () => {
    const seen: (string | undefined)[] = []
    const upstream = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization ?? ''}`)
      if (request.headers.authorization !== 'Bearer right') response.writeHead(401).end('{}')
      else response.end(JSON.stringify({ data: [{ id: 'llama' }, { id: 'gpt-5' }, {}] }))
    })
    await once(upstream.listen(0, '127.0.0.1'), 'listening')
    const { port } = upstream.address() as AddressInfo
    const config = write(
      'discover.yaml',
      `providers: { local: { kind: openai, base_url: "http://127.0.0.1:${port}/v1", api_key: "\${KEY:-right}" } }\n` +
        'models: { house: { targets: [local/llama], price: free, context: 8192, max_output: 1024 } }\n',
    )
    try {
      const argv = ['models', 'discover', 'local', '--config', config, '--json']
      assert.deepEqual(jsonOf(await tollgate(argv)), {
        provider: 'local',
        models: [
          { id: 'gpt-5', models: [], missing: ['price'] },
          { id: 'llama', models: ['house'], missing: ['price', 'context', 'max_output'] },
        ],
      })
      assert.deepEqual(seen, ['/v1/models Bearer right'])
      const refused = await tollgate(argv, { KEY: 'wrong' })
      assert.deepEqual([refused.code, refused.stdout], [1, ''])
      assert.match(
        refused.stderr,
        /^tollgate: local returned no list of models: it answered 401; check/,
      )
    } finally {
      upstream.close()
    }
    const silent = await tollgate(['models', 'discover', 'local', '--config', config])
    assert.deepEqual([silent.code, silent.stdout], [1, ''])
    assert.match(silent.stderr, /^tollgate: local returned no list of models: .*ECONNREFUSED/)
    const unknown = await tollgate(['models', 'discover', 'nobody', '--config', config])
    assert.equal(unknown.code, 2)
    assert.match(
      unknown.stderr,
      /^tollgate: there is no provider "nobody" to ask: the configured ones are local\n$/,
    )
  })

  describe('a provider that lists odd models', () => {
    let listed: readonly string[] = []
    const upstream = createServer((_, response) => {
      response.end(JSON.stringify({ data: listed.map((id) => ({ id })) }))
    })
    before(() => once(upstream.listen(0, '127.0.0.1'), 'listening'))
    after(() => upstream.close())
    const discover = (...more: string[]): Promise<Ended> => {
      const { port } = upstream.address() as AddressInfo
      const odd = `{ kind: openai, base_url: "http://127.0.0.1:${port}/v1", api_key: k }`
      const config = write('odd.yaml', `providers: { odd: ${odd} }\n`)
      return tollgate(['models', 'discover', 'odd', '--config', config, ...more])
    }

    test('gets neither control characters nor long lines onto the terminal', async () => {
      const odd = ['\u001b]0;owned\u0007', '\u009b2J', 'a\nb', '\u202exe', '', ' ', 'x'.repeat(1e6)]
      listed = ['llama', ...odd, 'llama', 'mistral']
      const human = await discover()
      assert.deepEqual(
        human.stdout.split('\n').map((line) => line.split(' ')[0]),
        ['OFFERS', 'llama', 'mistral', ''],
      )
      assert.match(human.stderr, /^tollgate: note: 7 names are left out: .*\n$/)
      const program = jsonOf(await discover('--json'))
      assert.deepEqual(
        (program['models'] as readonly { id: string }[]).map(({ id }) => id),
        ['llama', 'mistral'],
      )
    })

    test('is cut off if it lists far too many', async () => {
      listed = Array.from({ length: 20_000 }, (_, index) => `m${index}`)
      const { code, stdout, stderr } = await discover()
      assert.deepEqual([code, stdout.trimEnd().split('\n').length], [0, 10_001])
      assert.match(stderr, /^tollgate: note: it lists 20000 models: only the first 10000 are shown/)
    })

    test('is said to list nothing if it lists nothing', async () => {
      listed = []
      assert.match((await discover()).stdout, /^odd lists no models\.\n$/)
    })
  })

  test('check explains every mistake and ends with 1', async () => {
    const config = write(
      'wrong.yaml',
      'server: { port: x }\nmodels: { a: { targets: [nobody/b] } }',
    )
    const human = await tollgate(['check', '--config', config])
    assert.deepEqual([human.code, human.stdout], [1, ''])
    assert.deepEqual(human.stderr.trimEnd().split('\n'), [
      `tollgate: ${config}: server.port must be a whole number from 0 to 65535`,
      `tollgate: ${config}: models.a.targets[0] names the provider nobody, which is not under providers`,
    ])
    const program = await tollgate(['check', '--config', config, '--json'])
    assert.equal(program.code, 1)
    const { ok, file, problems } = JSON.parse(program.stdout) as Record<string, unknown>
    assert.deepEqual([ok, file, Array.isArray(problems) && problems.length], [false, config, 2])
  })

  test('check reports what is left out, what is unavailable and where the frame differs', async () => {
    const config = write(
      'sound.yaml',
      'database: sqlite:frame.db\n' +
        'frame: { budget: 10 }\n' +
        'providers: { openai: { kind: openai, api_key: "" } }\n' +
        'models: { gpt: { targets: [openai/gpt-5] } }\n',
    )
    const first = jsonOf(await tollgate(['check', '--config', config, '--json']))
    assert.equal(existsSync(join(folder, 'frame.db')), false)
    assert.match(String(first['notes']), /there is no database/)
    await tollgate(['frame', 'set', '--budget=20', '--timezone=Asia/Tokyo', '--config', config])
    const second = jsonOf(await tollgate(['check', '--config', config, '--json']))
    assert.match(
      String(second['notes']),
      /the provider openai is left out: .*frame\.budget is 10 in the file and 20 in the database/,
    )
    assert.doesNotMatch(String(second['notes']), /frame\.timezone/, 'the file does not say it')
    assert.match(JSON.stringify(second['models']), /"id":"gpt".*"available":false.*left out/)
    assert.deepEqual([second['ok'], second['problems']], [true, []])
  })

  test('check names a variable of OpenTelemetry that cannot be followed', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' }
    const { ok, notes } = jsonOf(await tollgate(['check', '--json'], env))
    assert.equal(ok, true)
    assert.match(String(notes), /OTEL_EXPORTER_OTLP_ENDPOINT must be an address such as/)
  })

  test('check ends with 1 when something is configured and not served, and its advice mends it', async () => {
    const house =
      'house: { targets: [local/llama], fallbacks: [local/large, off/gpt-5], price: free, context: 8192, max_output: 1024 }'
    const configured = (models: string): string =>
      write(
        'unserved.yaml',
        'providers:\n' +
          `  local: { kind: openai, base_url: "http://127.0.0.1:1/v1", models: { ${models} } }\n` +
          '  off: { kind: openai, api_key: "${NOT_SET:-}" }\n' +
          `models: { ${house} }\n`,
      )
    const { code, stderr } = await tollgate(['check', '--config', configured('')])
    const [line = '', ...others] = stderr.trimEnd().split('\n')
    assert.deepEqual([code, others], [1, []])
    const [, advice = ''] =
      /models\.house\.fallbacks\[0\] is not served: local\/large has no known price, .*: write (.*) under providers\.local\.models/.exec(
        line,
      ) ?? []
    const mended = advice.replaceAll('USD', '1').replaceAll('TOKENS', '1000')
    const after = await tollgate(['check', '--config', configured(mended), '--json'])
    assert.deepEqual([after.code, jsonOf(after)['problems']], [0, []])
    assert.match(after.stdout, /off\/gpt-5 is left out: its api_key is empty/)
  })
})

test('check shows where the database is, without its password', async () => {
  const url = 'postgres://ann:p4ss:w0rd@127.0.0.1:1/books?password=hunter2&sslpassword=hunter3'
  const config = write('elsewhere.yaml', `database: ${url}\n`)
  const { stdout, stderr } = await tollgate(['check', '--config', config])
  assert.match(stdout, /database +postgres:\/\/ann@127\.0\.0\.1:1\/books\n/)
  assert.match(stderr, /database cannot be used: PostgreSQL at 127\.0\.0\.1:1 cannot be reached/)
  assert.doesNotMatch(stdout + stderr, /p4ss|w0rd|hunter/)
})

test('check validates environment variables and names them', async () => {
  const TOLLGATE_DATABASE = 'postgres://ann@127.0.0.1:1/books'
  for (const [env, problems] of [
    [{ TOLLGATE_SECRET: 'fifteen letters' }, [/^tollgate: TOLLGATE_SECRET is too short/]],
    [
      { TOLLGATE_DATABASE, TOLLGATE_SECRET: '' },
      [
        /^tollgate: TOLLGATE_SECRET is required with PostgreSQL/,
        /^tollgate: TOLLGATE_DATABASE cannot be used: PostgreSQL at 127\.0\.0\.1:1/,
      ],
    ],
  ] as const) {
    const { code, stderr } = await tollgate(['check'], env)
    assert.equal(code, 1)
    const lines = stderr.trimEnd().split('\n')
    assert.equal(lines.length, problems.length, stderr)
    for (const [index, line] of lines.entries()) assert.match(line, problems[index] ?? /nothing/)
  }
})

describe('mistakes and failures', () => {
  const create = ['keys', 'create', '--name', 'x', '--models', 'sandbox-chat', '--budget']
  const usage: readonly [string, readonly string[], RegExp][] = [
    ['no command', [], /Usage: tollgate COMMAND/],
    [
      'an unknown command',
      ['keyz'],
      /^tollgate: unknown command 'keyz' \(Did you mean keys\?\)\n$/,
    ],
    ['an unknown subcommand', ['keys', 'creat'], /^tollgate: unknown command 'creat'/],
    [
      'a command that resembles none',
      ['keys', 'nonsense'],
      /^tollgate: unknown command 'nonsense': --help lists them all\n$/,
    ],
    [
      'help for an unknown command',
      ['help', 'nonsense'],
      /^tollgate: unknown command 'nonsense': --help lists them all\n$/,
    ],
    [
      'help for an unknown subcommand',
      ['help', 'keys', 'nonsense'],
      /^tollgate: unknown command 'nonsense': --help lists them all\n$/,
    ],
    [
      'an empty configuration file name',
      ['keys', 'list', '--config', ''],
      /^tollgate: option '--config <file>' argument '' is invalid\. Name a file, or leave it out\.\n$/,
    ],
    [
      'a budget beyond the limit',
      [...create, '9000001'],
      /'9000001' is invalid\. A budget can be at most 9000000 USD/,
    ],
    [
      'an endless argument',
      [...create, 'x'.repeat(100_000)],
      /^.{1,400}'x{1,300}….* is invalid\. It is not an amount.{1,200}\n$/,
    ],
    [
      'an argument that controls the terminal',
      [...create, '\u001b[2J\u009b'],
      /^tollgate: option '--budget <usd>' argument '�\[2J�' is invalid/,
    ],
    [
      'an endless name for a person',
      ['users', 'create', '--email=a@example.com', '--role=Viewer', `--name=${'x'.repeat(101)}`],
      /is invalid\. Use a name of 1 to 100 characters\.\n$/,
    ],
    [
      'an unknown option',
      ['keys', 'list', '--jsn'],
      /^tollgate: unknown option '--jsn' \(Did you mean --json\?\)\n$/,
    ],
    ['a missing option', create.slice(0, -1), /^tollgate: missing: --budget <usd>\n$/],
    [
      'several missing options',
      ['keys', 'create', '--name', 'x'],
      /^tollgate: missing: --models <a,b>, --budget <usd>\n$/,
    ],
    ['a mistyped option', ['keys', 'create', '--nme', 'x'], /^tollgate: unknown option '--nme'/],
    ['nothing to set', ['frame', 'set'], /^tollgate: nothing to change/],
    [
      'a bad budget',
      [...create, 'lots'],
      /'lots' is invalid. It is not an amount.*such as 12\.50\n$/,
    ],
    ['a bad choice', [...create, '1', '--period', 'decade'], /Allowed choices are day, week/],
    [
      'a bad time zone',
      [...create, '1', '--timezone', 'Berlin'],
      /^tollgate: "Berlin" is not a time zone/,
    ],
    [
      'a bad permission',
      [...create, '1', '--permissions', 'everything'],
      /permissions: "everything" is not one of/,
    ],
    [
      'an expiry in the past',
      [...create, '1', '--expires', '2020-01-01'],
      /this expiry is in the past/,
    ],
    ['nothing to change', ['keys', 'update', 'x'], /^tollgate: nothing to change/],
    ['a revocation without a reason', ['keys', 'revoke', 'x'], /missing: --reason <text>/],
    [
      'an overlap above seven days',
      ['keys', 'rotate', 'x', '--overlap', '8d'],
      /between 0 and 7 days/,
    ],
    ['an unknown subcommand of models', ['models', 'discovr'], /^tollgate: .*discovr/],
    ['one argument too many', ['keys', 'show', 'a', 'b'], /too many arguments/],
  ]
  const env = () => ({ TOLLGATE_DATABASE: `sqlite:${join(folder, 'usage.db')}` })
  before(() => tollgate(['frame', 'set', '--budget', '1'], env()))
  for (const [name, argv, message] of usage) {
    test(`${name} is wrong usage`, async () => {
      const ended = await tollgate(argv, env())
      assert.deepEqual([ended.code, ended.stdout], [2, ''], ended.stderr)
      assert.match(ended.stderr, message)
    })
  }

  const failures: readonly [string, NodeJS.ProcessEnv, RegExp][] = [
    [
      'a missing configuration',
      { TOLLGATE_CONFIG: 'nope.yaml' },
      /nope\.yaml cannot be read \(ENOENT\): check --config or TOLLGATE_CONFIG/,
    ],
    [
      'a malformed database address',
      { TOLLGATE_DATABASE: 'mysql://x' },
      /TOLLGATE_DATABASE must be sqlite:PATH or postgres/,
    ],
    [
      'a database that does not answer',
      { TOLLGATE_DATABASE: 'postgres://u@127.0.0.1:1/x' },
      /PostgreSQL at 127\.0\.0\.1:1 cannot be reached \(connect ECONNREFUSED/,
    ],
    [
      'a file that is not a database',
      { TOLLGATE_DATABASE: 'sqlite:garbage.db' },
      /garbage\.db is not a usable SQLite database/,
    ],
  ]
  for (const [name, env, message] of failures) {
    test(`${name} is a failure in one line`, async () => {
      write('garbage.db', 'this is no database, but long enough to look like one'.repeat(20))
      const ended = await tollgate(['keys', 'list', '--json'], env)
      assert.deepEqual([ended.code, ended.stdout], [1, ''])
      assert.match(ended.stderr, message)
      assert.equal(ended.stderr.trimEnd().split('\n').length, 1)
    })
  }

  test(
    'a folder that cannot be written is a failure in one line',
    { skip: process.getuid?.() === 0 && 'root may write everywhere' },
    async () => {
      const closed = join(folder, 'closed')
      mkdirSync(closed)
      chmodSync(closed, 0o500)
      const ended = await tollgate(['frame', 'set', '--budget', '1'], {
        TOLLGATE_DATABASE: `sqlite:${closed}/x.db`,
      })
      assert.equal(ended.code, 1)
      assert.match(ended.stderr, /cannot be (written|opened)/)
    },
  )

  test('output that cannot be written is reported on standard error', async () => {
    const script = 'exec "$@" >/dev/full'
    const argv = ['-c', script, 'tollgate', process.execPath, COMMAND, 'models', '--json']
    const { code, stderr } = await run('/bin/sh', argv, { cwd: folder, env: bareEnv })
    assert.deepEqual(
      [code, stderr],
      [1, 'tollgate: standard output cannot be written (ENOSPC), so some of it is lost\n'],
    )
  })

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly version: string
    }
    assert.deepEqual(await tollgate(['--version']), {
      code: 0,
      signal: null,
      stdout: `${version}\n`,
      stderr: '',
    })
  })

  test('--help succeeds for every command', async () => {
    for (const argv of [
      [],
      ['keys'],
      ['keys', 'create'],
      ['groups'],
      ['groups', 'members', 'add'],
      ['frame', 'set'],
      ['models'],
      ['check'],
      ['probe'],
    ]) {
      const ended = await tollgate([...argv, '--help'])
      assert.deepEqual([ended.code, ended.stderr], [0, ''])
      assert.match(ended.stdout, /^Usage: tollgate /)
      assert.deepEqual(await tollgate(['help', ...argv]), ended)
    }
  })
})

function write(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function tollgate(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return run(process.execPath, [COMMAND, ...argv], { cwd: folder, env: { ...bareEnv, ...env } })
}

function jsonOf(ended: Ended): Record<string, unknown> {
  assert.equal(ended.code, 0, ended.stderr)
  return JSON.parse(ended.stdout) as Record<string, unknown>
}
