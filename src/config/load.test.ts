// The configuration from files, variables and options: what it becomes, and how each problem is reported.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { catalogOf } from './catalog-of.ts'
import { loadConfig } from './load.ts'
import { ConfigError } from './problems.ts'
import type { ConfigSource } from './source.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
})
after(() => rmSync(folder, { recursive: true }))

describe('without a file', () => {
  test('the defaults apply and the sandbox is on', () => {
    const config = loadConfig({ env: {}, folder })
    assert.deepEqual(config.server, {
      host: '127.0.0.1',
      port: 4000,
      workers: 1,
      bodyBytesMax: 33_554_432,
      connectionsMax: 10_000,
      waitingMax: 1_000,
      waitingMs: 250,
      deregisterMs: 0,
      drainMs: 120_000,
      hasBarePaths: false,
      trustedProxies: [],
    })
    assert.deepEqual(config.frame, {
      limitNanodollars: 100_000_000_000n,
      period: 'month',
      timezone: 'UTC',
      weekStart: 'mon',
    })
    assert.equal(config.database, `sqlite:${join(folder, 'data/tollgate.db')}`)
    assert.equal(config.dataFolder, join(folder, 'data'))
    assert.equal(config.admin.publicUrl, undefined)
    assert.deepEqual([config.sandbox, config.models, config.providers], [true, null, []])
    assert.ok(Object.isFrozen(config.server))
  })

  test('providers come from the variables that their own tools read', () => {
    const env = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: '' }
    const config = loadConfig({ env, folder })
    assert.deepEqual(
      config.providers.map((each) => [each.name, each.kind, 'apiKeys' in each && each.apiKeys]),
      [
        ['openai', 'openai', ['sk-1']],
        ['anthropic', 'anthropic', ['a']],
      ],
    )
  })

  test('variables win over defaults, options over variables', () => {
    const env = {
      TOLLGATE_HOST: '0.0.0.0',
      TOLLGATE_PORT: '4100',
      TOLLGATE_DATABASE: 'postgres://u@h/db',
      TOLLGATE_WORKERS: '4',
      TOLLGATE_SECRET: 'a ${plain} secret',
    }
    const config = loadConfig({ env, folder, options: { port: '4200' } })
    assert.deepEqual(
      [config.server.host, config.server.port, config.server.workers],
      ['0.0.0.0', 4200, 4],
    )
    assert.equal(config.database, 'postgres://u@h/db')
    assert.equal(config.secret, 'a ${plain} secret')
  })
})

describe('with a file', () => {
  test('compat.litellm switches on what its clients need, unless the file says otherwise', () => {
    const path = join(folder, 'compat.yaml')
    const settingsOf = (text: string) => {
      writeFileSync(path, text)
      const config = loadConfig({ env: {}, folder, options: { config: path } })
      return [config.server.hasBarePaths, config.keys.foreign, config.auth.headers]
    }
    assert.deepEqual(settingsOf('compat: {}'), [false, false, 'strict'])
    assert.deepEqual(settingsOf('compat: { litellm: true }'), [true, true, 'either'])
    assert.deepEqual(
      settingsOf('compat: { litellm: true }\nauth: { headers: strict }\nkeys: { prefix: a }'),
      [true, true, 'strict'],
    )
  })

  test('an example with every section works as written', () => {
    writeFileSync(join(folder, 'gemini'), ' g-key\n')
    const config = load(
      `
server:   { host: 127.0.0.1, port: 4000, body_limit: 32MB }
admin:    { listen: same, public_url: "http://127.0.0.1:4000" }
database: sqlite:data/tollgate.db
frame:    { budget: 100, period: month, timezone: UTC }
auth:     { headers: either }
responses: { store: true, retention: 7d }
sandbox:  true
providers:
  openai:    { kind: openai, api_key: "\${OPENAI_API_KEY:-}" }
  anthropic: { kind: anthropic, api_key: "\${ANTHROPIC_API_KEY:-}" }
  gemini:    { kind: gemini, api_key: "file:${join(folder, 'gemini')}" }
  filed:     { kind: anthropic, api_key: "file:${join(folder, 'gemini')}" }
  local:     { kind: openai, base_url: "http://127.0.0.1:8000/v1", api: chat }
models:
  gpt-5-mini:             { targets: [openai/gpt-5-mini] }
  claude-sonnet:          { targets: [anthropic/claude-sonnet-4-6], fallbacks: [openai/gpt-5] }
  text-embedding-3-small: { kind: embedding, targets: [openai/text-embedding-3-small] }
  house-llama:            { targets: [{ to: local/llama-3.1-8b, weight: 3 }, { to: local/llama-3.1-8b-b, weight: 1 }], price: { input: 0.05, output: 0.10 }, context: 131072, max_output: 8192 }
`,
      { OPENAI_API_KEY: 'sk-1' },
    )
    assert.deepEqual(
      config.providers.map(({ name }) => name),
      ['openai', 'gemini', 'filed', 'local'],
    )
    assert.deepEqual([...config.leftOut], [['anthropic', 'its api_key is empty']])
    const filed = config.providers.find(({ name }) => name === 'filed')
    assert.deepEqual(filed?.kind === 'anthropic' && filed.apiKeys, ['g-key'])
    const llama = config.models?.find(({ id }) => id === 'house-llama')
    assert.deepEqual(
      llama?.targets.map(({ provider, model, weight }) => [provider, model, weight]),
      [
        ['local', 'llama-3.1-8b', 3],
        ['local', 'llama-3.1-8b-b', 1],
      ],
    )
    assert.equal(llama.price?.rates.output, 100_000n)
    assert.equal(llama.price.rates.cacheWriteLong, 50_000n)
    assert.deepEqual(
      [...new Set(config.files.map(({ path }) => path))],
      [join(folder, 'tollgate.yaml'), join(folder, 'gemini')],
    )
  })

  test('entries that agree about a target, or leave it to its provider, are no error', () => {
    const { models } = load(`
providers: { a: { kind: openai, api_key: k, models: { m: { price: free, context: 5 } } } }
models:
  one: { targets: [a/m, a/n], price: { input: 1, output: 2 }, context: 100 }
  two: { targets: [a/m, a/n], price: { input: 1, output: 2, cached: 1 }, context: 100 }
  three: { targets: [a/m], fallbacks: [a/n], price: { input: 3, output: 3 }, context: 9 }
`)
    assert.equal(models?.length, 3)
  })

  test('a price can be like one at a provider that is left out', () => {
    const config = load(
      `
providers:
  openai: { kind: openai, api_key: "\${KEY:-}", models: { own: { price: { input: 3, output: 4 } } } }
  local: { kind: openai, base_url: "http://127.0.0.1:8000/v1" }
models:
  gpt: { targets: [openai/gpt-5-mini] }
  one: { targets: [local/one], price_like: gpt, context: 100, max_output: 10 }
  two: { targets: [local/two], price_like: openai/own, context: 100, max_output: 10 }
`,
    )
    assert.deepEqual([...config.leftOut.keys()], ['openai'])
    const models = catalogOf(config, { sandbox: [], now: Date.parse('2026-10-01T00:00:00Z') })
    assert.deepEqual(
      ['gpt', 'one', 'two'].map((id) => models.get(id)?.price?.rates.output),
      [undefined, 2_000_000n, 4_000_000n],
    )
  })

  test('what is said about the models of a provider counts even while its secret cannot be read', () => {
    const { leftOut } = load(`
providers: { a: { kind: openai, api_key: "file:/no/such/secret", models: { m: { price: free } } } }
models:
  one: { targets: [a/m], price: { input: 1, output: 2 } }
  two: { targets: [a/m], price: { input: 3, output: 4 } }
`)
    assert.deepEqual([...leftOut.keys()], ['a'])
  })

  test('a provider whose secret cannot be read is left out, and the rest works', () => {
    const config = load(
      `
providers:
  gemini: { kind: gemini, api_key: "file:/no/such/secret" }
  azure:  { kind: azure, base_url: "https://x.example.com", entra: { tenant_id: t, client_id: c, client_secret: "file:/no/such/other" } }
  local:  { kind: openai, base_url: "http://127.0.0.1:8000/v1" }
models:
  gemini-2.5-flash: { targets: [gemini/gemini-2.5-flash] }
`,
    )
    assert.deepEqual(
      config.providers.map(({ name }) => name),
      ['local'],
    )
    const lines = config.unreadable.map(({ path, message }) => `${path} ${message}`)
    assert.deepEqual(lines, [
      'providers.gemini.api_key names the file /no/such/secret, which cannot be read (ENOENT)',
      'providers.azure.entra.client_secret names the file /no/such/other, which cannot be read (ENOENT)',
    ])
    assert.deepEqual(
      [...config.leftOut],
      [
        ['gemini', lines[0]],
        ['azure', lines[1]],
      ],
    )
  })

  test('text from variables is converted to the type of the setting', () => {
    const config = load(
      'server: { port: "${PORT}", body_limit: "${SIZE:-1GB}" }\nsandbox: "${ON}"\nframe: { budget: "${B}" }',
      { PORT: '8080', ON: 'false', B: '12.50' },
    )
    assert.deepEqual(
      [config.server.port, config.server.bodyBytesMax, config.sandbox],
      [8080, 1_073_741_824, false],
    )
    assert.equal(config.frame.limitNanodollars, 12_500_000_000n)
  })

  test('a doubled $ stands for a plain one', () => {
    assert.equal(load('server: { host: "$${x}" }').server.host, '${x}')
  })

  test('an empty file is a file without settings', () => {
    assert.equal(load('').server.port, 4000)
    assert.equal(load('# nothing yet\n').server.port, 4000)
    assert.equal(load('server:\n  # port: 1\nmodels:\n').models, null)
  })

  test('paths are relative to the file, those from variables to the current folder', () => {
    writeFileSync(join(folder, 'other.yaml'), 'database: sqlite:mine.db')
    const source = { folder: '/elsewhere', options: { config: join(folder, 'other.yaml') } }
    assert.equal(loadConfig({ ...source, env: {} }).database, `sqlite:${join(folder, 'mine.db')}`)
    assert.equal(
      loadConfig({ ...source, env: { TOLLGATE_DATABASE: 'sqlite:mine.db' } }).database,
      'sqlite:/elsewhere/mine.db',
    )
  })

  test('several keys, presets, timeouts and the other kinds of providers are read', () => {
    const config = load(`
providers:
  many: { kind: openai, api_key: [a, b], timeouts: { connect: 2s, first_byte: 10m } }
  fast: { kind: openai, preset: groq, api_key: k }
  here: { kind: openai, preset: ollama }
  blue: { kind: azure, base_url: "https://x.openai.azure.com", api_version: "2026-01-01", entra: { tenant_id: t, client_id: c, client_secret: s } }
  rock: { kind: bedrock, region: eu-central-1, access_key_id: a, secret_access_key: s }
  left: { kind: bedrock, region: eu-central-1, access_key_id: "", secret_access_key: "" }
  top:  { kind: vertex, project: p, location: global, credentials: '{"client_email":"a@b","private_key":"k","token_uri":"https://oauth2.googleapis.com/token"}' }
`)
    assert.deepEqual(
      [config.providers.length, [...config.leftOut]],
      [6, [['left', 'its access_key_id is empty']]],
    )
    const [many] = config.providers
    assert.deepEqual(many?.kind === 'openai' && [many.apiKeys, many.timeouts], [
      ['a', 'b'],
      { connectMs: 2_000, firstByteMs: 600_000 },
    ])
  })

  test('a trailing slash of a base address is dropped', () => {
    const { admin, providers } = load(`
admin: { public_url: "https://gate.example.com/" }
providers:
  local: { kind: openai, base_url: "http://127.0.0.1:8000/v1/" }
`)
    const [local] = providers
    assert.deepEqual(
      [admin.publicUrl, local?.kind === 'openai' && local.baseUrl],
      ['https://gate.example.com', 'http://127.0.0.1:8000/v1'],
    )
  })
})

describe('mistakes', () => {
  const cases: readonly [string, string, readonly string[]][] = [
    [
      'an unset variable',
      'server: { host: "${NOPE}" }',
      ['server.host takes ${NOPE}, which is not set'],
    ],
    ['a malformed variable', 'server: { host: "${1x}" }', ['server.host ${1x} is not understood']],
    [
      'a variable within a default',
      'server: { host: "${NOPE:-${OTHER}}" }',
      ['server.host ${NOPE:-${OTHER} is not understood'],
    ],
    [
      'a missing secret file',
      'database: file:/no/such',
      ['database names the file /no/such, which cannot be read (ENOENT)'],
    ],
    ['an unknown setting', 'server: { prot: 1 }', ['server.prot is not a setting']],
    [
      'a setting of an earlier version',
      'auth: { messages_bearer: true }',
      [
        'auth.messages_bearer is now auth.headers: in place of true write "auth: { headers: either }"',
      ],
    ],
    ['an unknown way to read keys', 'auth: { headers: any }', ['auth.headers must be']],
    [
      'an unknown section',
      'provders: {}',
      ['provders is not a setting: did you mean providers? docs/config.md lists them all'],
    ],
    ['a value instead of a section', 'server: 4000', ['server must be a section']],
    ['a port', 'server: { port: 99999 }', ['server.port must be a whole number from 0 to 65535']],
    ['a duration', 'server: { drain: 2 minutes }', ['server.drain must be a duration such as']],
    ['a wait too long for a timer', 'server: { drain: 30d }', ['server.drain must be at most 24h']],
    [
      'a timeout of zero',
      'providers: { a: { kind: anthropic, api_key: k, timeouts: { idle: 0 } } }',
      ['providers.a.timeouts.idle must be above 0'],
    ],
    ['a size', 'server: { body_limit: big }', ['server.body_limit must be a size such as']],
    [
      'less memory than two bodies',
      'server: { body_limit: 4MB, body_memory: 7MB }',
      ['server.body_memory must be at least twice server.body_limit'],
    ],
    ['no body at all', 'server: { body_limit: 0B }', ['server.body_limit must be above 0']],
    [
      'room for no response',
      'responses: { retention: 0, key_limit: 0KB }',
      [
        'responses.retention must be above 0: to store nothing, set responses.store to false',
        'responses.key_limit must be above 0: to store nothing, set responses.store to false',
      ],
    ],
    ['a budget', 'frame: { budget: -1 }', ['frame.budget must be a budget']],
    ['a time zone', 'frame: { timezone: Berlin }', ['frame.timezone must be an IANA time zone']],
    [
      'a period',
      'frame: { period: decade }',
      ['frame.period must be one of day, week, month, year, never'],
    ],
    ['a database', 'database: mysql://x', ['database must be sqlite:PATH or postgres://']],
    [
      'a password that hides the host',
      'database: postgres://u:1/w@h/db',
      ['database must look like postgres://USER@HOST:PORT/NAME'],
    ],
    ['a listener', 'admin: { listen: everywhere }', ['admin.listen must be same, or HOST:PORT']],
    [
      'the listener of the server itself',
      'admin: { listen: "127.0.0.1:4000" }',
      ['admin.listen is where the server itself listens'],
    ],
    [
      'mail without an address for its links',
      'admin: { smtp: { url: "smtp://mail", from: gate@example.com } }',
      ['admin.public_url is missing: links in mails begin with it'],
    ],
    ['a prefix', 'keys: { prefix: T_ }', ['keys.prefix must be 1 to 16 lower-case letters']],
    ['no beat', 'ledger: { beat: 0 }', ['ledger.beat must be above 0']],
    [
      'too few beats before a node is dead',
      'ledger: { beat: 10s }',
      ['ledger.dead_after must be at least three beats'],
    ],
    ['workers on SQLite', 'server: { workers: 2 }', ['server.workers must be 1 with SQLite']],
    ['no kind', 'providers: { a: { api_key: k } }', ['providers.a.kind must be one of openai']],
    [
      'a value instead of a provider',
      'providers: { a: 3 }',
      ['providers.a must be a section such as'],
    ],
    ['no key', 'providers: { a: { kind: anthropic } }', ['providers.a.api_key is missing']],
    [
      'an address without a scheme, reported once',
      'providers: { a: { kind: openai, base_url: "localhost:8000/v1" } }',
      ['providers.a.base_url must be an address such as'],
    ],
    [
      'the metadata service of a cloud',
      'providers: { a: { kind: openai, base_url: "http://[::ffff:169.254.169.254]/v1" } }',
      ['providers.a.base_url must not be the metadata service of a cloud'],
    ],
    [
      'an address with credentials and a query',
      'providers: { a: { kind: openai, base_url: "http://me:word@127.0.0.1/v1?x=1" } }',
      ['providers.a.base_url must be an address alone'],
    ],
    [
      'a list without a secret',
      'providers: { a: { kind: openai, api_key: [] } }',
      ['providers.a.api_key must be a secret, or a list of secrets'],
    ],
    [
      'an unreadable secret among other mistakes',
      'providers: { a: { kind: openai, api_key: "file:/no/such" }, b: { kind: x } }',
      [
        'providers.b.kind must be one of openai',
        'providers.a.api_key names the file /no/such, which cannot be read (ENOENT)',
      ],
    ],
    [
      'a secret of two lines',
      'providers: { a: { kind: openai, api_key: "one\\ntwo" } }',
      ['providers.a.api_key must be a secret on one line'],
    ],
    [
      'a preset without a key',
      'providers: { a: { kind: openai, preset: groq } }',
      ['providers.a.api_key is missing'],
    ],
    [
      'figures of a model at its provider',
      'providers: { a: { kind: openai, api_key: k, models: { m: { price: { input: 1 }, price_like: b, context: 10, max_output: 11 } } } }\nmodels: { x: { targets: [a/m] } }',
      [
        'providers.a.models.m.price_like contradicts price',
        'providers.a.models.m.price.output is missing: for a model that only embeds, write 0',
        'providers.a.models.m.max_output cannot be larger than context',
      ],
    ],
    [
      'a discount',
      'providers: { a: { kind: openai, api_key: k, discount: 1, models: { m: { price: free, discount: 0 }, n: { discount: -1.01 }, o: { discount: 0.0000001 } } } }',
      [
        'providers.a.discount must be a part of the list price below 1, such as 0.15 for 15 %',
        'providers.a.models.n.discount must be at least -1',
        'providers.a.models.o.discount may have at most 6 decimals',
      ],
    ],
    [
      'a discount beside a price',
      'providers: { a: { kind: openai, api_key: k, discount: -1, models: { m: { price: free, discount: 0 } } } }\nmodels: { x: { targets: [a/m] } }',
      ['providers.a.models.m.discount contradicts price'],
    ],
    [
      'figures of a model that nobody can call',
      'providers: { a: { kind: openai, api_key: k, models: { gpt-5-mni: { price: free }, like: { price: free }, back: { price: free } } } }\n' +
        'models: { x: { targets: [a/gpt-5-mini], fallbacks: [a/back], price_like: a/like } }',
      [
        'providers.a.models.gpt-5-mni is no model that is called: did you mean gpt-5-mini? No target or fallback is a/gpt-5-mni',
      ],
    ],
    [
      'figures of a model that nobody can call, without entries',
      'providers: { a: { kind: openai, api_key: k, models: { gpt-5-mni: { price: free }, gpt-5-mini: { discount: 0.1 } } } }',
      ['providers.a.models.gpt-5-mni is no model that is called'],
    ],
    [
      'two entries that say different things about one target',
      'providers: { a: { kind: openai, api_key: k } }\n' +
        'models:\n' +
        '  one: { targets: [a/m.1], price: { input: 1, output: 2 }, context: 100, max_output: 10 }\n' +
        '  two: { targets: [a/n, a/m.1], price_like: b, context: 101, max_output: 9 }\n',
      [
        'models.two.price_like contradicts models.one.price: both are about a/m.1, so say the same in both, or say it once as providers.a.models."m.1".price',
        'models.two.context contradicts models.one.context: both are about a/m.1',
        'models.two.max_output contradicts models.one.max_output: both are about a/m.1',
      ],
    ],
    [
      'the name of the sandbox',
      'providers: { sandbox: { kind: openai, api_key: k } }',
      ['providers.sandbox is the name of the provider that ships'],
    ],
    [
      'a missing setting that its kind requires',
      'providers: { a: { kind: bedrock } }',
      ['providers.a.region is missing'],
    ],
    ['no targets', 'models: { a: {} }', ['models.a.targets must be a list']],
    [
      'an empty list of targets',
      'models: { a: { targets: [] } }',
      ['models.a.targets must name at least one target'],
    ],
    [
      'a target',
      'models: { a: { targets: [gpt] } }',
      ['models.a.targets[0] must be PROVIDER/MODEL'],
    ],
    [
      'a weight',
      'models: { a: { targets: [{ to: sandbox/x, weight: 0 }] } }',
      ['models.a.targets[0].weight must be a whole number'],
    ],
    [
      'an unknown provider',
      'models: { gpt-5.4: { targets: [nobody/x] } }',
      ['models."gpt-5.4".targets[0] names the provider nobody'],
    ],
    [
      'a target named twice',
      'models: { a: { targets: [sandbox/x, sandbox/y, sandbox/x], fallbacks: [sandbox/x] } }',
      ['models.a.targets[2] names sandbox/x twice'],
    ],
    [
      'the name of a sandbox model',
      'models: { sandbox-chat: { targets: [sandbox/sandbox-chat] } }',
      ['models.sandbox-chat begins with sandbox-'],
    ],
    [
      'two prices',
      'models: { a: { targets: [sandbox/x], price: free, price_like: b } }',
      ['models.a.price_like contradicts price'],
    ],
    [
      'half a price',
      'models: { a: { targets: [sandbox/x], price: { input: 1 } } }',
      ['models.a.price.output is missing'],
    ],
    [
      'a price that cannot be exact',
      'models: { a: { targets: [sandbox/x], price: { input: 0.0000001, output: 1 } } }',
      ['models.a.price.input may have at most 6 decimals'],
    ],
    [
      'contradictory limits',
      'models: { a: { targets: [sandbox/x], context: 10, max_output: 20, default_output: 30 } }',
      [
        'models.a.max_output cannot be larger than context',
        'models.a.default_output cannot be larger than max_output',
      ],
    ],
    [
      'an ability',
      'models: { a: { targets: [sandbox/x], abilities: { flying: true } } }',
      ['models.a.abilities.flying is not a setting'],
    ],
    ['invalid YAML', 'server: [', ['line ']],
    [
      'a duplicate',
      'sandbox: true\nsandbox: false',
      ['line 2 is not valid YAML: Map keys must be unique'],
    ],
    [
      'a secret that YAML takes for an alias',
      'sandbox: true\nproviders: { a: { kind: openai, api_key: *hunter2 } }',
      ['line 2 is not valid YAML: a text that begins with * needs quotes'],
    ],
    [
      'an alias of its own parent',
      'providers: &all { a: *all }',
      ['line 1 is not valid YAML: a text that begins with * needs quotes'],
    ],
    ['a single value', 'hello', ['line 1 must begin with a section']],
    [
      'several mistakes of all kinds',
      'server: { port: x }\nproviders: { a: { kind: openai } }\nmodels: { m: { targets: [b/c] } }',
      [
        'server.port must be',
        'providers.a.api_key is missing',
        'models.m.targets[0] names the provider b',
      ],
    ],
    [
      'a model with two mistakes, beside an unknown setting',
      'nonsense: 1\nmodels: { m: { targets: [b/c], context: x, bad: 1 } }',
      [
        'models.m.context must be',
        'models.m.bad is not a setting',
        'nonsense is not a setting',
        'models.m.targets[0] names the provider b',
      ],
    ],
  ]
  for (const [name, yaml, expected] of cases) {
    test(name, () => {
      const problems = problemsOfLoad(yaml)
      assert.equal(problems.length, expected.length, problems.join('\n'))
      for (const [index, text] of expected.entries()) {
        assert.ok(
          problems[index]?.startsWith(text),
          `${problems[index]} does not start with ${text}`,
        )
      }
    })
  }

  test('aliases that multiply', () => {
    const lines = Array.from('abcdef', (name, index) => {
      const before = index === 0 ? 'x' : `*${'abcdef'[index - 1]}`
      return `${name}: &${name} [${Array(9).fill(before).join(', ')}]`
    })
    const [problem, ...more] = problemsOfLoad(lines.join('\n'))
    assert.match(
      problem ?? '',
      /\.yaml repeats its aliases \(\*name\) too often: write the values out$/,
    )
    assert.deepEqual(more, [])
  })

  test('a wrong variable or option is named as written', () => {
    const source = { env: { TOLLGATE_PORT: 'x', TOLLGATE_DATABASE: 'y' }, folder: '/' }
    assert.deepEqual(pathsOf(source), ['TOLLGATE_PORT', 'TOLLGATE_DATABASE'])
    assert.deepEqual(pathsOf({ env: {}, folder: '/', options: { port: 'x' } }), ['--port'])
  })

  test('a file that was named must exist', () => {
    const source = { env: { TOLLGATE_CONFIG: 'nope.yaml' }, folder }
    assert.throws(() => loadConfig(source), /nope\.yaml cannot be read \(ENOENT\)/)
  })
})

function load(yaml: string, env: ConfigSource['env'] = {}) {
  writeFileSync(join(folder, 'tollgate.yaml'), yaml)
  try {
    return loadConfig({ env, folder })
  } finally {
    rmSync(join(folder, 'tollgate.yaml'))
  }
}

function problemsOfLoad(yaml: string): readonly string[] {
  const error = thrownBy(() => load(yaml))
  return error.problems.map(({ path, message }) => `${path} ${message}`)
}

function pathsOf(source: ConfigSource): readonly string[] {
  return thrownBy(() => loadConfig(source)).problems.map(({ path }) => path)
}

function thrownBy(action: () => unknown): ConfigError {
  try {
    action()
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  return assert.fail('nothing was wrong')
}
