// `tollgate import litellm` as an operator runs it: first to look, then to write, and what wrong usage gets.
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { COMMAND } from '../../support/gateway.ts'
import { freshLiteLlm, insert, keyRow, type LiteLlm } from '../../support/litellm.ts'
import { bareEnv, run } from '../../support/process.ts'

const CONFIG = `
model_list:
  - { model_name: gpt-5, litellm_params: { model: openai/gpt-5, api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: house, litellm_params: { model: openai/gpt-5-mini, input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 } }
litellm_settings: { cache: true }
`

let folder = ''
let there: LiteLlm
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-import-'))
  writeFileSync(join(folder, 'config.yaml'), CONFIG)
  there = await freshLiteLlm()
  const day = new Date().toISOString().slice(0, 10)
  await insert(there, 'TeamTable', {
    ...{ team_id: 't', team_alias: 'search', models: [], max_budget: 50, budget_duration: '30d' },
  })
  await insert(
    there,
    'VerificationToken',
    keyRow('sk-app-1', { key_alias: 'app', team_id: 't', max_budget: 10, spend: 2.5 }),
  )
  await insert(there, 'DailyUserSpend', {
    ...{ id: '1', date: day, api_key: 'x', model: 'gpt-5', model_group: 'gpt-5', updated_at: day },
    ...{ prompt_tokens: 1_000_000, completion_tokens: 100_000, spend: 1.5 },
  })
})
after(async () => {
  await there.drop()
  rmSync(folder, { recursive: true, force: true })
})

const tollgate = (...words: string[]) =>
  run(process.execPath, [COMMAND, ...words], {
    cwd: folder,
    env: { ...bareEnv, OPENAI_API_KEY: 'a key' },
  })

test('a dry run shows everything and writes nothing', async () => {
  const words = ['import', 'litellm', '--config', 'config.yaml', '--dry-run']
  const { code, stdout } = await tollgate(...words, '--database', there.url)
  assert.equal(code, 0)
  for (const part of [
    /^tollgate\.yaml would be:$/m,
    /config\.yaml:5 litellm_settings\.cache: answers are not cached here/,
    /^house +openai\/gpt-5-mini +1 +1 +2 +2$/m,
    /keys: 1, which have spent 2\.5 USD in their periods; groups: 1; people: 0/,
    /^search +every model +50 \/ month +0 +0$/m,
    /^app +…pp-1 +none +10 \/ never +2\.5 +-$/m,
    /1 × keys may call every model there, and lists are explicit here: say --all-models-as/,
    /a budget that is spent is refused with 402 here/,
    /^gpt-5 +1\.5 +2\.25$/m,
  ])
    assert.match(stdout, part)
  assert.equal(existsSync(join(folder, 'tollgate.yaml')), false)
  const json = await tollgate(
    ...words,
    '--database',
    there.url,
    '--all-models-as',
    'every',
    '--json',
  )
  const told = JSON.parse(json.stdout) as { database: { first_keys: { models: string[] }[] } }
  assert.deepEqual(told.database.first_keys[0]?.models, ['gpt-5', 'house'])
})

test('what it writes is accepted, and is written again', async () => {
  const words = ['import', 'litellm', '--config', 'config.yaml']
  assert.equal((await tollgate(...words)).code, 0)
  const checked = await tollgate('check', '--config', 'tollgate.yaml')
  assert.equal(checked.code, 0, checked.stderr)
  assert.equal((await tollgate(...words)).code, 0)
})

const ALL = ['import', 'litellm', '--config', 'config.yaml', '--all-models-as', 'every']

test('with a database it writes keys too, again and again, and keeps a file that was changed', async () => {
  const words = [...ALL, '--out', 'whole.yaml', '--database', there.url]
  const first = await tollgate(...words)
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^Wrote whole\.yaml$/m)
  assert.match(
    first.stdout,
    /keys: 1 new, 0 changed; groups: 1 new, 0 changed; people: 0 new; spent so far: 2\.5 USD/,
  )
  assert.match(first.stdout, /^ +search \(0 USD there, 2\.5 USD by its keys\)$/m)
  const shown = await tollgate('keys', 'show', 'app', '--config', 'whole.yaml', '--json')
  const { group, models, spent } = JSON.parse(shown.stdout) as Record<string, unknown>
  assert.deepEqual(
    [(group as { name: string }).name, models, spent],
    ['search', ['gpt-5', 'house'], '2.5'],
  )
  assert.equal((await tollgate('ledger', 'verify', '--config', 'whole.yaml')).code, 0)
  appendFileSync(join(folder, 'whole.yaml'), '# ours\n')
  const again = await tollgate(...words)
  assert.equal(again.code, 0, again.stderr)
  assert.match(again.stdout, /^whole\.yaml was changed here, or is not of an import: it stays$/m)
  assert.match(again.stdout, /keys: 0 new, 0 changed/)
  const told = JSON.parse((await tollgate(...words, '--json')).stdout) as {
    written: string | null
    database: { imported: { keys: object } }
  }
  assert.equal(told.written, null)
  assert.deepEqual(told.database.imported.keys, { made: 0, changed: 0 })
})

test('what cannot be written leaves everything as it was', async () => {
  const part = mkdtempSync(join(tmpdir(), 'tollgate-import-'))
  try {
    const env = { ...bareEnv }
    const command = (...words: string[]) =>
      run(process.execPath, [COMMAND, ...words], { cwd: part, env })
    writeFileSync(join(part, 'config.yaml'), CONFIG)
    await insert(
      there,
      'VerificationToken',
      keyRow('sk-alone', { key_alias: 'alone', models: ['gpt-5'] }),
    )
    await command('keys', 'create', '--name', 'alone', '--models', 'gpt-5', '--budget', '1')
    const { code, stderr } = await command(...ALL, '--database', there.url)
    assert.equal(code, 1)
    assert.match(stderr, /key_alias "alone": a key of this name is here already/)
    assert.equal(existsSync(join(part, 'tollgate.yaml')), false)
    const { stdout } = await command('groups', 'list', '--json')
    assert.deepEqual(JSON.parse(stdout), { groups: [] })
    await there.run(
      `UPDATE "LiteLLM_VerificationToken" SET max_budget = 'NaN' WHERE key_alias = 'alone'`,
    )
    rmSync(join(part, 'data'), { recursive: true })
    await there.run(
      `UPDATE "LiteLLM_VerificationToken" SET max_budget = 1 WHERE key_alias = 'alone'`,
    )
    // A new database, on a machine that has no keys of providers.
    const bare = await command(...ALL, '--database', there.url)
    assert.equal(bare.code, 0, bare.stderr)
    assert.match(bare.stderr, /OPENAI_API_KEY}, which is not set/)
    await there.run(
      `UPDATE "LiteLLM_VerificationToken" SET max_budget = 'NaN' WHERE key_alias = 'alone'`,
    )
    const wrong = await command(...ALL, '--database', there.url)
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /key_alias "alone": max_budget is NaN, which is no amount/)
  } finally {
    rmSync(part, { recursive: true, force: true })
    await there.run(`DELETE FROM "LiteLLM_VerificationToken" WHERE key_alias = 'alone'`)
  }
})

test('wrong usage and wrong input have their exit codes, and one line each', async () => {
  const wrong: readonly (readonly [string[], number, RegExp])[] = [
    [[], 2, /^tollgate: missing: --config <file>\n$/],
    [['--config', 'none.yaml'], 1, /^tollgate: none\.yaml cannot be read \(ENOENT\)\n$/],
    [
      ['--config', 'config.yaml', '--database', there.url],
      2,
      /say --all-models-as every, or which\n$/,
    ],
    [['--config', 'config.yaml', '--prices', 'config.yaml'], 1, /is not LiteLLM's price data/],
    [
      ['--config', 'config.yaml', '--dry-run', '--database', there.url, '--all-models-as', 'x'],
      2,
      /--all-models-as names x, which does not come over/,
    ],
  ]
  for (const [words, expected, message] of wrong) {
    const { code, stderr } = await tollgate('import', 'litellm', ...words)
    assert.equal(code, expected, stderr)
    assert.match(stderr, message)
  }
  const same = await run(process.execPath, [COMMAND, ...ALL, '--database', there.url], {
    cwd: folder,
    env: { ...bareEnv, OPENAI_API_KEY: 'a key', TOLLGATE_DATABASE: there.url },
  })
  assert.equal(same.code, 2)
  assert.match(
    same.stderr,
    /--database is also Tollgate’s own: name another one in tollgate\.yaml\n$/,
  )
})
