// A whole LiteLLM comes over with one command: 20 models, 5 teams, 300 keys and a month of spend. Its applications keep
// their secrets, may call what they could, and are refused at the budgets they had.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { Client } from 'pg'
import { COMMAND, startGateway, type TestGateway } from '../support/gateway.ts'
import { freshLiteLlm, insert, keyRow, type LiteLlm } from '../support/litellm.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres/postgres.ts'
import { bareEnv, run } from '../support/process.ts'
import { startProvider, type TestProvider } from '../support/provider.ts'
import { until } from '../support/until.ts'

const MODELS = Array.from({ length: 20 }, (_, n) => `model-${n}`)
/** Two teams may call every model, the others half of them. */
const TEAMS = Array.from({ length: 5 }, (_, n) => ({
  name: `team-${n}`,
  models: n < 2 ? [] : MODELS.slice(0, 10),
}))
const FLEET = Array.from({ length: 300 }, (_, n) => fleetKey(n))
const EDGE = 'sk-edge-of-its-budget'

/** Keys take turns in what they are. `callable`: what LiteLLM lets it call. */
function fleetKey(n: number) {
  const team = TEAMS[n % 6]
  const ofTeam = team === undefined || team.models.length === 0 ? MODELS : team.models
  const own = [`model-${n % 10}`, `model-${(n + 7) % 10}`]
  const [models, meant] =
    [
      [own, own],
      [[], ofTeam],
      [['all-team-models'], ofTeam],
      [
        ['openai/model-3', 'model-4'],
        ['model-3', 'model-4'],
      ],
    ][n % 4] ?? []
  return {
    n,
    name: `app-${n}`,
    secret: `sk-fleet-${n}-0123456789`,
    team,
    models,
    callable: MODELS.filter((model) => meant?.includes(model) && ofTeam.includes(model)),
    budget: n % 10 === 9 ? null : 5,
    spend: n % 7 === 0 ? 5 : n / 100,
  }
}

function configOf(provider: string): string {
  const models = MODELS.map(
    (name) => `  - model_name: ${name}
    litellm_params:
      model: openai/upstream-${name}
      api_base: ${provider}/v1
      api_key: os.environ/OPENAI_API_KEY
      input_cost_per_token: 0.000001
      output_cost_per_token: 0.000002
    model_info: { max_input_tokens: 8000, max_output_tokens: 1000 }`,
  )
  return `model_list:\n${models.join('\n')}\n`
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-fleet-'))
const answered = new Set<string>()
let there: LiteLlm
let here: TestDatabase
let provider: TestProvider
let gateway: TestGateway

before(async () => {
  provider = await startProvider((_, response, body) => {
    const { model } = JSON.parse(body.toString()) as { model: string }
    answered.add(model)
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        ...{ id: 'x', object: 'chat.completion', created: 1, model },
        choices: [
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi.' } },
        ],
        usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
      }),
    )
  })
  writeFileSync(join(folder, 'config.yaml'), configOf(provider.url))
  there = await freshLiteLlm()
  await fill()
  here = await freshDatabase()
  const imported = await importAll()
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stdout, /keys: 301 new, 0 changed; groups: 5 new, 0 changed; people: 5 new/)
  const config = readFileSync(join(folder, 'tollgate.yaml'), 'utf8')
  gateway = await startGateway({ folder, config, database: here.url, env: VARIABLES })
})
after(async () => {
  await gateway.stop()
  await provider[Symbol.asyncDispose]()
  await there.drop()
  await here.drop()
  rmSync(folder, { recursive: true, force: true })
})

const VARIABLES = { OPENAI_API_KEY: 'a key' }

const tollgate = (...words: string[]) =>
  run(process.execPath, [COMMAND, ...words], {
    cwd: folder,
    env: { ...bareEnv, ...VARIABLES, TOLLGATE_DATABASE: here.url },
  })

const importAll = () =>
  tollgate(
    ...['import', 'litellm', '--config', 'config.yaml', '--all-models-as', 'every'],
    ...['--database', there.url],
  )

async function fill(): Promise<void> {
  for (const [n, { name, models }] of TEAMS.entries()) {
    await insert(there, 'UserTable', { user_id: `u${n}`, user_email: `person-${n}@example.com` })
    await insert(there, 'TeamTable', {
      ...{ team_id: name, team_alias: name, models, max_budget: 1000, budget_duration: '30d' },
      members_with_roles: JSON.stringify([{ user_id: `u${n}`, role: 'admin' }]),
    })
  }
  for (const { name, secret, team, models, budget, spend } of FLEET) {
    const row = { key_alias: name, team_id: team?.name ?? null, models, spend }
    const limits = { max_budget: budget, budget_duration: budget === null ? null : '30d' }
    await insert(there, 'VerificationToken', keyRow(secret, { ...row, ...limits }))
  }
  const edge = { key_alias: 'edge', models: ['model-0'], max_budget: 1, spend: 0.998 }
  await insert(there, 'VerificationToken', keyRow(EDGE, edge))
  await there.run(`INSERT INTO "LiteLLM_DailyUserSpend"
    (id, date, api_key, model, model_group, prompt_tokens, completion_tokens, spend, updated_at)
    SELECT token || day, to_char(now() - day * interval '1 day', 'YYYY-MM-DD'), token, 'm', 'model-' || day % 20,
      1000, 100, 0.001, now() FROM "LiteLLM_VerificationToken", generate_series(0, 29) AS day`)
}

const HELLO = { messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 20 }

/** As the application has it, with another base URL. On a slow machine the books may be late: the library asks again. */
const clientOf = (apiKey: string) => new OpenAI({ baseURL: gateway.url, apiKey, maxRetries: 10 })

async function statusOf(client: OpenAI, model: string): Promise<number> {
  try {
    await client.chat.completions.create({ model, ...HELLO })
    return 200
  } catch (error) {
    if (error instanceof OpenAI.APIError) return Number(error.status)
    throw error
  }
}

test('each application calls all its models with its old secret, and none of the others', async () => {
  for (const { secret, callable, budget, spend } of FLEET) {
    const client = clientOf(secret)
    const { data } = await client.models.list()
    assert.deepEqual(data.map(({ id }) => id).toSorted(), callable.toSorted(), secret)
    const expected = budget !== null && spend >= budget ? 402 : 200
    const statuses = await Promise.all(callable.map((model) => statusOf(client, model)))
    assert.deepEqual(new Set(statuses), new Set([expected]), secret)
    const other = MODELS.find((model) => !callable.includes(model))
    if (other !== undefined) assert.equal(await statusOf(client, other), 403)
  }
  assert.equal(answered.size, MODELS.length)
})

test('an application is refused at the budget it had', async () => {
  const client = clientOf(EDGE)
  let calls = 0
  while ((await statusOf(client, 'model-0')) === 200) calls++
  const { spent, budget } = await gateway.tollgate('keys', 'show', 'edge')
  assert.ok(calls > 0 && Number(spent) > 0.998 && Number(spent) <= Number(budget), String(spent))
})

test('guesses at old secrets never reach the database', async () => {
  const database = new Client(here.url)
  await database.connect()
  /** How often the table of secrets was looked into. */
  const looks = async (): Promise<number> => {
    const { rows } = await database.query<{ looks: string }>(
      `SELECT seq_scan + idx_scan AS looks FROM pg_stat_user_tables WHERE relname = 'secrets'`,
    )
    return Number(rows[0]?.looks)
  }
  try {
    // Whoever looks shows in the counts a while later: a new key, which nobody has looked up yet, is waited for.
    const counted = async (): Promise<number> => {
      const before = await looks()
      const secret = await gateway.key(`new-${before}`, 'model-0')
      await clientOf(secret).models.list()
      return until(async () => {
        const now = await looks()
        return now > before && now
      })
    }
    const before = await counted()
    for (let guess = 0; guess < 1_000; guess++) {
      await assert.rejects(clientOf(`sk-fleet-${guess}-9876543210`).models.list(), /unknown/)
    }
    const reached = (await counted()) - before
    // PostgreSQL may count up to a minute later, so some are those of the 300 keys above.
    assert.ok(reached < 400, `${reached} looks for 1000 guesses`)
  } finally {
    await database.end()
  }
})

test('an import that is repeated beside running applications brings what they spent there meanwhile', async () => {
  const moved = FLEET.filter(({ n, budget }) => budget !== null && n % 7 === 1)
  await there.run(
    `UPDATE "LiteLLM_VerificationToken" SET spend = spend + 0.5 WHERE key_alias = ANY ($1)`,
    [moved.map(({ name }) => name)],
  )
  const before = await gateway.tollgate('keys', 'show', moved[0]?.name ?? '')
  let isOver = false
  const statuses = new Set<number>()
  const calls = moved.slice(0, 8).map(async ({ secret, callable }) => {
    const client = clientOf(secret)
    while (!isOver) statuses.add(await statusOf(client, callable[0] ?? ''))
  })
  const again = await importAll()
  isOver = true
  await Promise.all(calls)
  assert.equal(again.code, 0, again.stderr)
  assert.match(again.stdout, /keys: 0 new, 0 changed; groups: 0 new, 0 changed; people: 0 new/)
  // While the import writes, calls wait; on a slow machine for longer than they are let.
  assert.ok(statuses.has(200) && statuses.isSubsetOf(new Set([200, 503])), String([...statuses]))
  const after = await gateway.tollgate('keys', 'show', moved[0]?.name ?? '')
  const grown = Number(after['spent']) - Number(before['spent'])
  assert.ok(grown >= 0.5 && grown < 1, String(grown))
})

test('the books balance', async () => {
  const { code, stdout } = await tollgate('ledger', 'verify')
  assert.equal(code, 0, stdout)
})
