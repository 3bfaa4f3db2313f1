// What an import makes of LiteLLM's database: keys, teams and people in Tollgate's words, and a clear line for whatever
// means something else, cannot be read or is wrong.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { hashSecret } from '../../src/core/secret.ts'
import { SourceDatabase } from '../../src/litellm/database/source-database.ts'
import type { PlannedKey } from '../../src/litellm/database/plan.ts'
import { readPlan, type ImportPlan } from '../../src/litellm/database/read-plan.ts'
import { ImportError } from '../../src/litellm/source.ts'
import { freshLiteLlm, insert, keyRow, type LiteLlm } from '../support/litellm.ts'

const NOW = Date.UTC(2026, 10, 18)
const KNOWN = {
  names: new Set(['gpt-5', 'claude', 'openai/gpt-4.1', 'openai/gpt-4o']),
  accessGroups: new Map([['beta', ['claude']]]),
  every: ['gpt-5', 'claude'],
}
const USD = 1_000_000_000n
const FILLED = [
  ...['VerificationToken', 'TeamTable', 'UserTable', 'OrganizationTable', 'BudgetTable'],
  ...['ProxyModelTable', 'DailyUserSpend', 'EndUserTable', 'SpendLogs'],
]

let there: LiteLlm
before(async () => {
  there = await freshLiteLlm()
})
after(() => there.drop())
beforeEach(async () => {
  for (const table of FILLED) await there.run(`DELETE FROM "LiteLLM_${table}"`)
})

async function planned<Result>(
  work: (plan: ImportPlan) => Promise<Result> | Result,
  known: typeof KNOWN | (Omit<typeof KNOWN, 'every'> & { every: null }) = KNOWN,
): Promise<Result> {
  await using database = await SourceDatabase.open(there.url)
  return await work(await readPlan(database, { known, now: NOW }))
}

async function keysOf({ keys }: ImportPlan): Promise<readonly PlannedKey[]> {
  return (await Array.fromAsync(keys())).toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

async function problems(): Promise<readonly string[]> {
  return planned(() => []).catch((error: unknown) => {
    assert.ok(error instanceof ImportError, String(error))
    return error.message.split('\n')
  })
}

const notesOf = ({ notes }: ImportPlan) => notes.map(({ note, count }) => `${count} ${note}`)

describe('keys', () => {
  test('come by their hashes, with budgets, limits, dates, state and tags', async () => {
    await insert(there, 'TeamTable', { team_id: 't1', team_alias: 'search', models: ['gpt-5'] })
    await insert(
      there,
      'VerificationToken',
      keyRow('sk-app-1', {
        ...{ key_alias: ' app ', team_id: 't1', user_id: 'u1', spend: 1.25, max_budget: 20.5 },
        ...{ budget_duration: '30d', tpm_limit: 1000, rpm_limit: 10, max_parallel_requests: 3 },
        ...{ blocked: true, expires: new Date('2027-01-31T00:00:00Z').toISOString() },
        metadata: { tags: ['eu'], service_account_id: 'x', floor: 3, nested: { a: 1 } },
        model_max_budget: { 'gpt-5': { budget_limit: 2, time_period: '1d' } },
        allowed_routes: ['/v1/chat/completions', '/models', '/audio/speech'],
      }),
    )
    const [[key], notes] = await planned(
      async (plan) => [await keysOf(plan), notesOf(plan)] as const,
    )
    assert.deepEqual(key, {
      hash: hashSecret('sk-app-1'),
      end: 'pp-1',
      name: 'app',
      ...{
        teamId: 't1',
        ownerId: 'u1',
        spentSince: 0,
        models: ['gpt-5'],
        permissions: ['models', 'chat'],
      },
      ...{ limitNanodollars: 20_500_000_000n, period: 'month', spentNanodollars: 1_250_000_000n },
      ...{ rpm: 10, tpm: 1000, concurrency: 3, alertAt: null },
      modelBudgets: [{ model: 'gpt-5', limitNanodollars: 2n * USD, period: 'day' }],
      expiresAt: Date.UTC(2027, 0, 31),
      isPaused: true,
      tags: ['eu'],
      description: 'floor: 3',
    })
    assert.ok(notes.includes('1 metadata.nested of keys is not taken over'))
    assert.ok(notes.includes('1 metadata.service_account_id of keys is not taken over'))
    assert.ok(notes.includes('1 the route /audio/speech of a key has no counterpart'))
    assert.ok(notes.some((note) => note.includes('30d there, a month of the calendar here')))
    assert.ok(notes.includes('1 max_parallel_requests is concurrency here, and exact across nodes'))
  })

  test('take what they do not say from the budget they refer to', async () => {
    await insert(there, 'BudgetTable', {
      ...{ budget_id: 'b', max_budget: 10, soft_budget: 8, budget_duration: '7d', rpm_limit: 5 },
      ...{ created_by: 'a', updated_by: 'a' },
    })
    await insert(there, 'VerificationToken', keyRow('sk-1', { key_alias: 'a', budget_id: 'b' }))
    await insert(
      there,
      'VerificationToken',
      keyRow('sk-2', { key_alias: 'b', budget_id: 'b', max_budget: 1, rpm_limit: 0 }),
    )
    const [[one, other], notes] = await planned(
      async (plan) => [await keysOf(plan), notesOf(plan)] as const,
    )
    assert.ok(notes.includes('2 a soft budget is an alert at that part of the budget here'))
    assert.deepEqual(
      [one?.limitNanodollars, one?.period, one?.rpm, one?.alertAt, one?.isPaused],
      [10n * USD, 'week', 5, 80, false],
    )
    // A limit of 0 allows nothing there.
    assert.deepEqual([other?.limitNanodollars, other?.rpm, other?.isPaused], [USD, null, true])
  })

  test('get explicit lists of models', async () => {
    await insert(there, 'TeamTable', { team_id: 't', team_alias: 't', models: ['claude', 'gpt-5'] })
    const lists: Readonly<Record<string, readonly [object, readonly string[]]>> = {
      a_empty: [{ models: [] }, ['gpt-5', 'claude']],
      b_of_team: [{ models: [], team_id: 't' }, ['claude', 'gpt-5']],
      c_all_team: [{ models: ['all-team-models'], team_id: 't' }, ['claude', 'gpt-5']],
      d_group: [{ models: ['beta'] }, ['claude']],
      e_wildcard: [{ models: ['openai/*'] }, ['openai/gpt-4.1', 'openai/gpt-4o']],
      f_prefixed: [{ models: ['openai/gpt-5', 'gpt-5'] }, ['gpt-5']],
      g_gone: [{ models: ['gpt-3'] }, ['gpt-3']],
      h_none: [{ models: ['no-default-models'] }, []],
    }
    for (const [name, [columns]] of Object.entries(lists)) {
      await insert(
        there,
        'VerificationToken',
        keyRow(`sk-${name}`, { key_alias: name, ...columns }),
      )
    }
    const [keys, notes] = await planned(
      async (plan) => [await keysOf(plan), notesOf(plan)] as const,
    )
    assert.deepEqual(
      Object.fromEntries(keys.map(({ name, models }) => [name, models])),
      Object.fromEntries(Object.entries(lists).map(([name, [, models]]) => [name, models])),
    )
    assert.ok(notes.some((note) => /the model gpt-3 is on lists, but not/.test(note)))
    const undecided = await planned(notesOf, { ...KNOWN, every: null })
    assert.ok(undecided.some((note) => /say --all-models-as every, or which/.test(note)))
  })

  test('of any number are read in pieces, and are left as they are', async () => {
    await there.run(
      `INSERT INTO "LiteLLM_VerificationToken" (token, key_name, key_alias, models)
       SELECT encode(sha256(number::text::bytea), 'hex'), 'sk-...0000', 'key ' || number, '{gpt-5}'
       FROM generate_series(1, 3001) AS number`,
    )
    const hashes = await planned(async (plan) => {
      assert.equal(plan.counts.keys, 3001)
      const seen = new Set<string>()
      for await (const { hash } of plan.keys()) seen.add(hash)
      return seen
    })
    assert.equal(hashes.size, 3001)
    await using database = await SourceDatabase.open(there.url)
    await assert.rejects(database.all('DELETE FROM "LiteLLM_VerificationToken"'), /read-only/)
  })

  test('that cannot be used any more are named, and so are sessions of its interface', async () => {
    const old = new Date(NOW - 1).toISOString()
    await insert(there, 'VerificationToken', keyRow('sk-old', { expires: old }))
    const session = { team_id: 'litellm-dashboard' }
    await insert(there, 'VerificationToken', keyRow('sk-ui', session))
    await insert(there, 'VerificationToken', keyRow('sk-nameless', { models: ['gpt-5'] }))
    const [keys, notes] = await planned(
      async (plan) => [await keysOf(plan), notesOf(plan)] as const,
    )
    assert.deepEqual(
      keys.map(({ name }) => name),
      [`key-${hashSecret('sk-nameless').slice(0, 12)}`],
    )
    assert.ok(notes.includes('1 an expired key is not taken over'))
    assert.ok(notes.includes('1 a session of LiteLLM’s interface is not taken over'))
    assert.equal(notes.length, 2)
  })
})

describe('teams, people and what else is there', () => {
  test('become groups and people, and the rest is named', async () => {
    await insert(there, 'BudgetTable', {
      ...{ budget_id: 'b', max_budget: 99, created_by: 'a', updated_by: 'a' },
    })
    await insert(there, 'OrganizationTable', {
      ...{ organization_id: 'o', organization_alias: 'Acme', budget_id: 'b', models: [] },
      ...{ created_by: 'a', updated_by: 'a' },
    })
    await insert(there, 'TeamTable', {
      ...{ team_id: 't', team_alias: 'search', organization_id: 'o', models: [], blocked: true },
      ...{ max_budget: 50, budget_duration: '1mo', spend: 3 },
      members_with_roles: JSON.stringify([
        { user_id: 'u', role: 'admin' },
        { user_id: 'v', role: 'user' },
      ]),
    })
    await insert(there, 'UserTable', {
      ...{ user_id: 'u', user_email: 'ada@example.com', user_role: 'proxy_admin', max_budget: 5 },
      ...{ teams: ['t'], models: [] },
    })
    await insert(there, 'UserTable', { user_id: 'default_user_id', models: [] })
    await insert(there, 'ProxyModelTable', {
      ...{ model_id: 'm', model_name: 'secret-gpt', litellm_params: { model: 'gAAAAB' } },
      ...{ created_by: 'a', updated_by: 'a' },
    })
    await insert(there, 'EndUserTable', { user_id: 'customer' })
    const { groups, people, notes } = await planned(async (plan) => ({
      groups: plan.groups,
      people: await Array.fromAsync(plan.people()),
      notes: notesOf(plan),
    }))
    assert.deepEqual(groups, [
      {
        ...{ teamId: 't', name: 'search', models: null, isArchived: true },
        ...{ limitNanodollars: 50n * USD, period: 'month', spentNanodollars: 3n * USD },
        ...{ rpm: null, tpm: null, concurrency: null, alertAt: null },
        members: [
          { userId: 'u', isAdmin: true },
          { userId: 'v', isAdmin: false },
        ],
      },
    ])
    assert.deepEqual(people, [
      { userId: 'u', email: 'ada@example.com', name: null, role: 'Administrator' },
    ])
    for (const part of [
      'the budget of the organization Acme is not taken over',
      'the model secret-gpt is in LiteLLM’s database, encrypted with its salt',
      'a budget of a person is not taken over',
      'a user without an address is not taken over',
      'end users and their budgets are not taken over (LiteLLM_EndUserTable)',
    ])
      assert.ok(
        notes.some((note) => note.includes(part)),
        `${part} in ${notes.join('\n')}`,
      )
  })
})

describe('the usage of the last 30 days', () => {
  const DAY_MS = 86_400_000
  const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString()

  test('is added up by public model, from sums by day', async () => {
    const sum = (id: string, ago: number, more: object) =>
      insert(there, 'DailyUserSpend', {
        ...{ id, date: day(ago).slice(0, 10), api_key: id, updated_at: day(0), model: 'm' },
        ...{ prompt_tokens: 100, completion_tokens: 10, cache_read_input_tokens: 40, spend: 0.5 },
        ...more,
      })
    await sum('1', 1, { model_group: 'gpt-5' })
    await sum('2', 29, { model_group: 'gpt-5' })
    await sum('3', 40, { model_group: 'gpt-5' })
    await sum('4', 2, { model_group: '', model: 'plain', spend: 0.1 })
    assert.deepEqual(await planned(({ usage }) => usage), [
      {
        ...{ model: 'gpt-5', inputTokens: 200, cachedTokens: 80, cacheWriteTokens: 0 },
        ...{ outputTokens: 20, spend: 1 },
      },
      {
        ...{ model: 'plain', inputTokens: 100, cachedTokens: 40, cacheWriteTokens: 0 },
        ...{ outputTokens: 10, spend: 0.1 },
      },
    ])
  })

  test('is added up from single requests where there are no sums', async () => {
    for (const [id, ago] of [
      ['1', 1],
      ['2', 31],
    ] as const)
      await insert(there, 'SpendLogs', {
        ...{ request_id: id, call_type: 'acompletion', startTime: day(ago), endTime: day(ago) },
        ...{ model: 'm', model_group: 'gpt-5', spend: 0.25 },
        ...{ prompt_tokens: 100, completion_tokens: 10 },
      })
    await there.run('ALTER TABLE "LiteLLM_DailyUserSpend" RENAME TO "Sums"')
    const usage = await planned((plan) => plan.usage)
    await there.run('ALTER TABLE "Sums" RENAME TO "LiteLLM_DailyUserSpend"')
    assert.deepEqual(usage, [
      {
        ...{ model: 'gpt-5', inputTokens: 100, cachedTokens: 0, cacheWriteTokens: 0 },
        ...{ outputTokens: 10, spend: 0.25 },
      },
    ])
  })
})

describe('what is wrong stops the import, each with its table', () => {
  test('budgets and limits that are none, names and teams that are none', async () => {
    await insert(there, 'VerificationToken', keyRow('sk-1', { key_alias: 'a', max_budget: NaN }))
    await insert(there, 'VerificationToken', keyRow('sk-2', { key_alias: 'b', max_budget: -1 }))
    await insert(there, 'VerificationToken', keyRow('sk-3', { key_alias: 'c', spend: Infinity }))
    await insert(there, 'VerificationToken', keyRow('sk-4', { key_alias: 'd', rpm_limit: -5 }))
    await insert(there, 'VerificationToken', keyRow('sk-5', { key_alias: 'e', team_id: 'gone' }))
    await insert(there, 'VerificationToken', keyRow('sk-6', { key_alias: 'x'.repeat(5000) }))
    const lines = await problems()
    for (const line of [
      'LiteLLM_VerificationToken, key_alias "a": max_budget is NaN, which is no amount',
      'LiteLLM_VerificationToken, key_alias "b": max_budget is -1, which is no amount',
      'LiteLLM_VerificationToken, key_alias "c": spend is Infinity, which is no amount',
      'LiteLLM_VerificationToken, key_alias "d": rpm_limit is -5, which is no limit',
      'LiteLLM_VerificationToken, key_alias "e": its team gone is not in LiteLLM_TeamTable',
    ])
      assert.ok(lines.includes(line), line)
    assert.equal(lines.length, 6)
  })

  test('budgets of models: a number may be written as text, any other text is none', async () => {
    const models = Array.from({ length: 51 }, (_, index) => `m${index}`)
    const each = (budget: unknown) => Object.fromEntries(models.map((name) => [name, budget]))
    const rows = {
      text: { m0: '5', m1: { budget_limit: '2.5', time_period: '1d' } },
      none: { m0: 'five' },
      many: each(1),
    }
    for (const [alias, caps] of Object.entries(rows)) {
      const columns = { key_alias: alias, models, model_max_budget: caps }
      await insert(there, 'VerificationToken', keyRow(`sk-${alias}`, columns))
    }
    const at = 'LiteLLM_VerificationToken, key_alias'
    assert.deepEqual((await problems()).toSorted(), [
      `${at} "many": model_max_budget has 51 models, and 50 are allowed`,
      `${at} "none": model_max_budget of m0 is NaN, which is no amount`,
    ])
    await there.run(`DELETE FROM "LiteLLM_VerificationToken" WHERE key_alias <> 'text'`)
    const [key] = await planned(keysOf)
    assert.deepEqual(key?.modelBudgets, [
      { model: 'm0', limitNanodollars: 5n * USD, period: 'never' },
      { model: 'm1', limitNanodollars: 2_500_000_000n, period: 'day' },
    ])
  })

  test('names that collide, a hash twice, and a secret in place of a hash, which is not shown', async () => {
    const hash = hashSecret('sk-1')
    await insert(there, 'VerificationToken', { ...keyRow('', { key_alias: 'a' }), token: hash })
    await insert(there, 'VerificationToken', {
      ...keyRow('', { key_alias: 'a ' }),
      token: hash.toUpperCase(),
    })
    await insert(there, 'VerificationToken', { ...keyRow(''), token: 'sk-plain-secret' })
    await insert(there, 'TeamTable', { team_id: 't', team_alias: 'same', models: [] })
    await insert(there, 'TeamTable', { team_id: 'u', team_alias: 'same', models: [] })
    const lines = await problems()
    assert.deepEqual(lines, [
      `LiteLLM_VerificationToken: 2 rows have the token ${hash.slice(0, 8)}…`,
      'LiteLLM_VerificationToken: 2 keys of one team have the key_alias "a": rename all but one',
      'LiteLLM_TeamTable: 2 teams have the team_alias "same": rename all but one',
      'LiteLLM_VerificationToken, a key without an alias: its token is no SHA-256 hash',
    ])
    assert.doesNotMatch(lines.join(), /plain-secret/)
  })

  test('tables and columns that are missing; those that are new are named', async () => {
    await there.run('ALTER TABLE "LiteLLM_TeamTable" ADD COLUMN brand_new TEXT')
    const notes = await planned(notesOf)
    await there.run('ALTER TABLE "LiteLLM_TeamTable" DROP COLUMN brand_new')
    const newer =
      'LiteLLM_TeamTable.brand_new is newer than this import: what it says is not taken over'
    assert.ok(notes.includes(`1 ${newer}`))
    await there.run('ALTER TABLE "LiteLLM_VerificationToken" RENAME COLUMN spend TO spent')
    await there.run('ALTER TABLE "LiteLLM_UserTable" RENAME TO "Users"')
    const lines = await problems()
    await there.run('ALTER TABLE "LiteLLM_VerificationToken" RENAME COLUMN spent TO spend')
    await there.run('ALTER TABLE "Users" RENAME TO "LiteLLM_UserTable"')
    assert.deepEqual(lines, [
      'LiteLLM_VerificationToken has no spend: this version of LiteLLM is not known',
      'there is no table LiteLLM_UserTable: is this LiteLLM’s database, and its schema the right one?',
    ])
  })

  test('a database that is none', async () => {
    const open = (url: string) => SourceDatabase.open(url)
    await assert.rejects(open('sqlite:x.db'), /--database must look like postgresql:/)
    await assert.rejects(open('postgres://a:secret@127.0.0.1:9/x'), (error: Error) => {
      assert.match(error.message, /^postgres:\/\/a@127\.0\.0\.1:9\/x cannot be read: ECONNREFUSED$/)
      return error instanceof ImportError
    })
    await using database = await SourceDatabase.open(
      `${there.url}?schema=public&connection_limit=5`,
    )
    assert.equal((await database.all('SELECT 1')).length, 1)
  })
})
