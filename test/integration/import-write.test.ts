// What an import writes from LiteLLM's database, on both databases: keys that open with the secrets they had, at what
// they had spent; an import that is repeated; and nothing at all if anything is wrong.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import { hashSecret } from '../../src/core/secret.ts'
import { SENTENCES } from '../../src/core/sentences.ts'
import { adjustHold, resetSpent } from '../../src/ledger/nodes/adjustments.ts'
import { explain } from '../../src/ledger/reports/requests.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { readPlan } from '../../src/litellm/database/read-plan.ts'
import { SourceDatabase } from '../../src/litellm/database/source-database.ts'
import { type ImportReport, writePlan } from '../../src/litellm/database/write-plan.ts'
import { ImportError } from '../../src/litellm/source.ts'
import type { Store } from '../../src/store/database/store.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { readFrame, seedFrame } from '../../src/store/frame.ts'
import { findGroup } from '../../src/store/groups/groups.ts'
import { createGroup, updateGroup } from '../../src/store/groups/lifecycle.ts'
import { listMembers } from '../../src/store/groups/members.ts'
import { findKey, findKeyBySecretHash } from '../../src/store/keys/keys.ts'
import { createKey, revokeKey, updateKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { findPerson } from '../../src/store/people/people.ts'
import { freshLiteLlm, insert, keyRow, type LiteLlm } from '../support/litellm.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'

const USD = 1_000_000_000n
const MODELS = ['gpt-5', 'claude', 'embed']
const FILLED = ['VerificationToken', 'TeamTable', 'UserTable', 'BudgetTable', 'DailyUserSpend']

let there: LiteLlm
before(async () => {
  there = await freshLiteLlm()
})
after(() => there.drop())

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`an import into ${name}`, () => {
    let database: Awaited<ReturnType<typeof fresh>>
    let store: Store
    beforeEach(async () => {
      for (const table of FILLED) await there.run(`DELETE FROM "LiteLLM_${table}"`)
      database = await fresh()
      store = await openStore(database.url, {
        ...{ clock: systemClock, purpose: 'create', threadModules: [LEDGER_THREAD_MODULE] },
      })
      const frame = { limitNanodollars: 1_000n * USD, period: 'month', timezone: 'UTC' } as const
      await seedFrame(store, { ...frame, weekStart: 'mon' })
    })
    afterEach(async () => {
      await store.close()
      await database.drop()
    })

    async function importNow(): Promise<ImportReport> {
      await using source = await SourceDatabase.open(there.url)
      const known = { names: new Set(MODELS), accessGroups: new Map(), every: MODELS }
      const now = systemClock.now()
      return await writePlan(store, await readPlan(source, { known, now }), now)
    }

    const change = (secret: string, columns: string): Promise<void> =>
      there.run(`UPDATE "LiteLLM_VerificationToken" SET ${columns} WHERE token = $1`, [
        hashSecret(secret),
      ])

    async function fill(): Promise<void> {
      await insert(there, 'UserTable', {
        ...{ user_id: 'u1', user_email: 'Ada@example.com', user_role: 'proxy_admin' },
      })
      await insert(there, 'UserTable', { user_id: 'u2', user_email: 'bob@example.com' })
      await insert(there, 'TeamTable', {
        ...{ team_id: 't1', team_alias: 'search', models: ['gpt-5', 'claude'], max_budget: 50 },
        ...{ budget_duration: '30d', spend: 3.5, rpm_limit: 100 },
        members_with_roles: JSON.stringify([
          { user_id: 'u1', role: 'admin' },
          { user_id: 'u2', role: 'user' },
        ]),
      })
      await insert(
        there,
        'VerificationToken',
        keyRow('sk-app-1', {
          ...{ key_alias: 'app', team_id: 't1', user_id: 'u2', spend: 2.5, max_budget: 20 },
          ...{ budget_duration: '30d', rpm_limit: 10, tpm_limit: 1000, max_parallel_requests: 3 },
          metadata: { tags: ['eu'], cost_center: 4711 },
          model_max_budget: { 'gpt-5': { budget_limit: 2, time_period: '1d' } },
        }),
      )
      await insert(
        there,
        'VerificationToken',
        keyRow('sk-job-2', { key_alias: 'job', team_id: 't1', spend: 1, max_budget: 5 }),
      )
      await insert(
        there,
        'VerificationToken',
        keyRow('sk-old-3', { key_alias: 'old', user_id: 'someone', blocked: true }),
      )
    }

    test('makes groups, people and keys that open with the secrets they had', async () => {
      await fill()
      const report = await importNow()
      assert.deepEqual(report.keys, { made: 3, changed: 0 })
      assert.deepEqual(report.groups, { made: 1, changed: 0 })
      assert.equal(report.people, 2)
      const found = await findKeyBySecretHash(store, hashSecret('sk-app-1'))
      const key = found && (await findKey(store, found.key.id))
      assert.deepEqual(
        [key?.name, key?.group?.name, key?.models, key?.limitNanodollars, key?.period],
        ['app', 'search', ['claude', 'gpt-5'], 20n * USD, 'month'],
      )
      assert.deepEqual([key?.rpm, key?.tpm, key?.concurrency], [10, 1000, 3])
      assert.deepEqual([key?.tags, key?.description], [['eu'], 'cost_center: 4711'])
      assert.equal(key?.ownerPerson?.email, 'bob@example.com')
      assert.equal(key?.lastUsedAt, null)
      const [cap] = key?.modelBudgets ?? []
      assert.deepEqual([cap?.model, cap?.limitNanodollars, cap?.period], ['gpt-5', 2n * USD, 'day'])
      const old = await findKey(store, 'old')
      assert.deepEqual(
        [old.status, old.owner, old.models],
        ['paused', 'someone', [...MODELS].toSorted()],
      )
      const group = await findGroup(store, 'search')
      assert.deepEqual(
        [group.models, group.limitNanodollars, group.rpm],
        [['claude', 'gpt-5'], 50n * USD, 100],
      )
      const members = await listMembers(store, group.id)
      assert.deepEqual(
        members.map(({ email, roleId }) => [email, roleId]),
        [
          ['ada@example.com', 'manager'],
          ['bob@example.com', 'member'],
        ],
      )
      const ada = await findPerson(store.db, { email: 'ada@example.com' })
      assert.deepEqual(
        [ada?.roleId, ada?.status, ada?.hasPassword],
        ['administrator', 'invited', false],
      )
      const bob = await findPerson(store.db, { email: 'bob@example.com' })
      assert.equal(bob?.roleId, 'member')
    })

    test('counts what was spent on the key, its group and the frame', async () => {
      await fill()
      assert.equal((await importNow()).spentNanodollars, 3_500_000_000n)
      const key = await findKey(store, 'app')
      const group = await findGroup(store, 'search')
      const frame = await readFrame(store)
      assert.deepEqual(
        [key, group, frame].map(({ spentNanodollars }) => spentNanodollars),
        [2_500_000_000n, 3_500_000_000n, 3_500_000_000n],
      )
      assert.equal(key.remainingNanodollars, 17_500_000_000n)
      assert.deepEqual(await verifyLedger(store, { quiescent: true }), [])
      const row = await store.db
        .selectFrom('usage')
        .select(['request_id', 'endpoint'])
        .where('key_id', '=', key.id)
        .executeTakeFirstOrThrow()
      assert.equal(row.endpoint, 'taken_over')
      const { why } = await explain(store, row.request_id)
      assert.equal(why, 'what the key had spent at the gateway that it came from')
    })

    test('takes what a key without a budget spent this month, and nothing of a period that is over', async () => {
      const today = new Date().toISOString()
      const past = new Date(Date.now() - 86_400_000).toISOString()
      const free = keyRow('sk-free', { key_alias: 'free', spend: 900 })
      await insert(there, 'VerificationToken', free)
      await insert(
        there,
        'VerificationToken',
        keyRow('sk-over', {
          ...{ key_alias: 'over', spend: 9, max_budget: 10, budget_duration: '7d' },
          budget_reset_at: past,
        }),
      )
      for (const [id, date] of [
        ['1', today.slice(0, 10)],
        ['2', '2020-01-01'],
      ])
        await insert(there, 'DailyUserSpend', {
          ...{ id, date, api_key: free.token, model: 'm', updated_at: today, spend: 1.5 },
        })
      await importNow()
      assert.equal((await findKey(store, 'free')).spentNanodollars, 1_500_000_000n)
      assert.equal((await findKey(store, 'over')).spentNanodollars, 0n)
    })

    test('that is repeated changes what is new there, and keeps what was changed here', async () => {
      await fill()
      await importNow()
      const again = await importNow()
      assert.deepEqual(
        [again.keys, again.groups, again.people],
        [{ made: 0, changed: 0 }, { made: 0, changed: 0 }, 0],
      )
      assert.equal(again.kept.count, 0)
      await updateKey(store, 'job', { limitNanodollars: 7n * USD })
      await updateGroup(store, 'search', { description: 'finds things' })
      await change(
        'sk-app-1',
        `max_budget = 30, spend = 4, blocked = true, models = '{gpt-5}', model_max_budget = '{}'`,
      )
      await change('sk-job-2', 'max_budget = 9, spend = 1.5')
      await there.run(`UPDATE "LiteLLM_TeamTable" SET max_budget = 60`)
      await insert(there, 'VerificationToken', keyRow('sk-new-4', { key_alias: 'new' }))
      await there.run(`DELETE FROM "LiteLLM_VerificationToken" WHERE key_alias = 'old'`)
      const report = await importNow()
      assert.deepEqual(report.keys, { made: 1, changed: 1 })
      assert.deepEqual(report.kept.first.toSorted(), ['job (budget)', 'search (budget)'])
      assert.deepEqual(report.gone.first, ['old'])
      const app = await findKey(store, 'app')
      assert.deepEqual(
        [app.limitNanodollars, app.status, app.models, app.modelBudgets, app.spentNanodollars],
        [30n * USD, 'paused', ['gpt-5'], [], 4n * USD],
      )
      const job = await findKey(store, 'job')
      assert.deepEqual([job.limitNanodollars, job.spentNanodollars], [7n * USD, 1_500_000_000n])
      assert.equal((await findGroup(store, 'search')).limitNanodollars, 50n * USD)
      assert.equal((await readFrame(store)).spentNanodollars, 5_500_000_000n)
      assert.deepEqual(await verifyLedger(store, { quiescent: true }), [])
      assert.equal((await importNow()).keys.changed, 0)
    })

    const spentBy = async (...groups: readonly string[]) => {
      const found = await Promise.all(groups.map((group) => findGroup(store, group)))
      const accounts = [...found, await readFrame(store)]
      assert.deepEqual(await verifyLedger(store, { quiescent: true }), [])
      return accounts.map(({ spentNanodollars }) => Number(spentNanodollars) / Number(USD))
    }

    test('counts what was spent once when a key is in another team, or in none', async () => {
      await fill()
      await insert(there, 'TeamTable', { team_id: 't2', team_alias: 'other', models: [] })
      await importNow()
      await there.run(`UPDATE "LiteLLM_VerificationToken" SET team_id = 't2', spend = spend + 1
        WHERE team_id = 't1'`)
      const moved = await importNow()
      assert.deepEqual(moved.apart.first, [
        'search (3.5 USD there, 0 USD by its keys)',
        'other (0 USD there, 5.5 USD by its keys)',
      ])
      assert.deepEqual(await spentBy('search', 'other'), [0, 5.5, 5.5])
      await change('sk-app-1', 'team_id = NULL, spend = 4')
      await importNow()
      assert.deepEqual(await spentBy('search', 'other'), [0, 2, 6])
    })

    test('counts what was spent once when a period begins here before one does there', async () => {
      const resetsIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
      const endPeriod = () =>
        store.db
          .updateTable('accounts')
          .set({ period_ends_at: Date.now() - 1 })
          .where('id', 'in', (query) => query.selectFrom('keys').select('id'))
          .execute()
      await insert(
        there,
        'VerificationToken',
        keyRow('sk-week', {
          ...{ key_alias: 'week', spend: 4, max_budget: 9, budget_duration: '7d' },
          budget_reset_at: resetsIn(2),
        }),
      )
      await importNow()
      await endPeriod()
      await change('sk-week', 'spend = 5')
      await importNow()
      assert.equal((await findKey(store, 'week')).spentNanodollars, 5n * USD)
      assert.deepEqual(await spentBy(), [5])
      await endPeriod()
      await change('sk-week', `spend = 1, budget_reset_at = '${resetsIn(7.5)}'`)
      await importNow()
      assert.equal((await findKey(store, 'week')).spentNanodollars, USD)
      assert.deepEqual(await spentBy(), [6])
    })

    test('of which two run at once makes everything once', async () => {
      await fill()
      const [one, other] = await Promise.all([importNow(), importNow()])
      assert.equal(one.keys.made + other.keys.made, 3)
      assert.deepEqual(await spentBy('search'), [3.5, 3.5])
    })

    test('leaves alone what people have reset or adjusted', async () => {
      await fill()
      await importNow()
      const app = await findKey(store, 'app')
      const job = await findKey(store, 'job')
      await resetSpent(store, { accountId: app.id, reason: 'a fresh start' })
      const row = await store.db
        .selectFrom('usage')
        .select('id')
        .where('key_id', '=', job.id)
        .executeTakeFirstOrThrow()
      await adjustHold(store, { holdId: row.id, costNanodollars: USD / 2n, reason: 'the bill' })
      await importNow()
      assert.equal((await findKey(store, 'app')).spentNanodollars, 0n)
      assert.equal((await findKey(store, 'job')).spentNanodollars, USD / 2n)
      assert.deepEqual(await verifyLedger(store, { quiescent: true }), [])
    })

    const refusalOf = (work: Promise<unknown>): Promise<readonly string[]> =>
      work.then(
        () => [],
        (error: unknown) => {
          assert.ok(error instanceof ImportError, String(error))
          return error.message.split('\n').toSorted()
        },
      )

    test('names the row of a key whose name is taken meanwhile, or whose secret was renewed', async () => {
      await fill()
      await importNow()
      await createKey(store, { name: 'mine', models: [], limitNanodollars: USD })
      await change('sk-old-3', `key_alias = 'mine'`)
      await change('sk-app-1', `token = '${hashSecret('sk-renewed')}'`)
      const at = 'LiteLLM_VerificationToken, key_alias'
      assert.deepEqual(await refusalOf(importNow()), [
        `${at} "app": a key of this name came over with another secret: rename one, or revoke the one here if its secret is gone there`,
        `${at} "mine": there is already a key named "mine": choose another name, or revoke that key first`,
      ])
      await revokeKey(store, 'app', 'its secret was renewed')
      await change('sk-old-3', `key_alias = 'old'`)
      assert.deepEqual((await importNow()).keys, { made: 1, changed: 0 })
    })

    test('names keys and teams whose names only look different', async () => {
      for (const [index, alias] of ['caf\u00e9', 'cafe\u0301\t'].entries()) {
        await insert(there, 'VerificationToken', keyRow(`sk-${index}`, { key_alias: alias }))
        await insert(there, 'TeamTable', { team_id: `t${index}`, team_alias: alias, models: [] })
      }
      assert.deepEqual(await refusalOf(importNow()), [
        'LiteLLM_TeamTable, team_alias "caf\u00e9": there is already a group named "caf\u00e9", perhaps an archived one: choose another name',
        'LiteLLM_VerificationToken, key_alias "caf\u00e9": a key of this name came over with another secret: rename one, or revoke the one here if its secret is gone there',
      ])
    })

    test('writes nothing if a name or a secret is taken here', async () => {
      await fill()
      await createKey(store, { name: 'old', models: [], limitNanodollars: USD })
      await createGroup(store, { name: 'research' })
      await insert(there, 'TeamTable', { team_id: 't2', team_alias: 'research', models: [] })
      await insert(there, 'TeamTable', { team_id: 't3', team_alias: 'a/b', models: [] })
      for (const team of ['t2', 't3']) {
        const twin = keyRow(`sk-twin-${team}`, { key_alias: 'twin', team_id: team })
        await insert(there, 'VerificationToken', twin)
      }
      await store.db
        .updateTable('secrets')
        .set({ hash: hashSecret('sk-job-2') })
        .execute()
      await assert.rejects(importNow(), (error: Error) => {
        assert.ok(error instanceof ImportError)
        assert.deepEqual(error.message.split('\n').toSorted(), [
          `LiteLLM_TeamTable, team_alias "a/b": ${SENTENCES.group_name_slash}`,
          'LiteLLM_TeamTable, team_alias "research": there is already a group named "research", perhaps an archived one: choose another name',
          'LiteLLM_VerificationToken, key_alias "job": its secret opens a key here already',
          'LiteLLM_VerificationToken, key_alias "old": a key of this name is here already, and no import made it: rename one',
        ])
        return true
      })
      const rows = await store.db.selectFrom('accounts').select('id').execute()
      assert.deepEqual(rows.filter(({ id }) => id !== FRAME_ID).length, 2)
      assert.equal((await readFrame(store)).spentNanodollars, 0n)
    })
  })
}
