// How much the key overview and the reports may read, on any database: run by test/contract/admin.test.ts. Checked on query
// plans, because timings depend on the machine: a plan that reads everything is slow on all of them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CompiledQuery, type RootOperationNode } from 'kysely'
import {
  KEY_CONCERNS,
  KEY_SORTS,
  KEY_STATES,
  type KeyPage,
  type KeyQuery,
  type KeyRow,
} from '../../src/admin/contract/keys.ts'
import { makeMetrics } from '../../src/admin/http/metrics.ts'
import { KeyList } from '../../src/admin/keys/list.ts'
import { firstIdAt } from '../../src/core/ids.ts'
import type { Dimension } from '../../src/core/limits.ts'
import { BUDGET_MAX, parseUsd } from '../../src/core/money.ts'
import { reportUsage } from '../../src/ledger/reports/report.ts'
import type { Store } from '../../src/store/database/store.ts'
import type { AccountStatus } from '../../src/store/database/tables.ts'
import { readAllocated } from '../../src/store/keys/counts.ts'
import { searchedColumns } from '../../src/store/keys/lifecycle.ts'
import {
  countMatching,
  FEW_MAX,
  fewMatching,
  matchingIds,
  searchKeys,
  type KeySort,
} from '../../src/store/keys/search.ts'
import { openTestAdmin, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MANY = FEW_MAX + 200
const PAGES = 7
const STATUSES = ['current', 'active', 'paused', 'expired', 'revoked'] as const
/** Sort orders that have an index, so that only one page is read. */
const INDEXED: readonly KeySort[] = [
  ...(['name', 'models', 'last_used_at', 'expires_at', 'owner', 'created_at'] as const),
]
const REPORTS: readonly (readonly Dimension[])[] = [
  ...([['day'], ['key'], ['model'], ['day', 'model'], ['key', 'model'], ['hour']] as const),
  ...([['group'], ['owner'], ['tag', 'day'], ['provider', 'endpoint']] as const),
]

export function adminScaleContract(fresh: FreshDatabase): void {
  let admin: TestAdmin

  before(async () => {
    admin = await openTestAdmin(fresh)
    for (const name of ['one', 'two']) {
      const key = { name, models: ['sandbox-chat'], budget: '1', owner: 'ann' }
      const { body } = await admin.call('POST', '/keys', { body: key })
      await admin.call('POST', `/keys/${body['id']}/test`, { body: {} })
    }
    await insertMany(admin.store)
  })
  after(() => admin[Symbol.asyncDispose]())

  const list = async (store: Store, query: Partial<KeyQuery>): Promise<KeyPage> => {
    const usual = { sort: 'last_used_at', order: 'desc', page: 1, per_page: 50 } as const
    return new KeyList({ ...admin.parts, store }).page(store, { ...usual, ...query })
  }

  describe('with more keys than are sorted at once', () => {
    for (const sort of KEY_SORTS)
      test(`pages by ${sort} hold every key once, in both orders`, async () => {
        for (const order of ['asc', 'desc'] as const) {
          const rows: KeyRow[] = []
          for (let page = 1; page <= PAGES; page++) {
            const { keys } = await list(admin.store, { sort, order, page, per_page: 200 })
            rows.push(...keys)
          }
          assert.equal(new Set(rows.map(({ id }) => id)).size, MANY + 2)
          assert.equal(rows.length, MANY + 2)
          assertInOrder(rows.map(FIGURES[sort]), order)
        }
      })

    test('the filter above 80 percent agrees with the figures', async () => {
      const high: string[] = []
      const found: string[] = []
      for (let page = 1; page <= PAGES; page++) {
        const all = await list(admin.store, { status: 'current', page, per_page: 200 })
        const above = all.keys.filter(({ limit, ...row }) => {
          return limit !== null && usedOf(row) * 100n >= parseUsd(limit) * 80n
        })
        high.push(...above.map(({ id }) => id))
        const some = await list(admin.store, { concern: 'over_80_percent', page, per_page: 200 })
        found.push(...some.keys.map(({ id }) => id))
        assert.equal(all.counts.over_80_percent, some.total)
      }
      assert.ok(high.length > 0)
      assert.deepEqual(found.toSorted(), high.toSorted())
    })

    test('the most expensive keys come first, within a filter too', async () => {
      for (const query of [{}, { mode: 'live' }, { status: 'current' }] as const) {
        const { keys, total } = await list(admin.store, { ...query, sort: 'cost_7d' })
        assert.ok(total > FEW_MAX)
        assert.deepEqual(new Set(keys.slice(0, 2).map(({ name }) => name)), new Set(['one', 'two']))
      }
    })

    for (const filter of [
      ...STATUSES.map((status) => ({ status })),
      ...KEY_CONCERNS.map((concern) => ({ concern })),
      ...[{ search: 'MANY 10' }, { tag: 'web' }, { model: 'sandbox-chat' }, { owner: 'ann' }],
      ...([{ used: 'last_30_days' }, { used: 'not_last_30_days', mode: 'live' }] as const),
      { model: 'sandbox-chat', status: 'paused', search: 'many', concern: 'never_expires' },
    ] as const)
      test(`${JSON.stringify(filter)} finds the same keys by every query`, async () => {
        const { store } = admin
        const expected = (await matchingIds(store, filter)).toSorted()
        assert.equal(await countMatching(store, filter), expected.length)
        const few = await fewMatching(store, filter)
        assert.deepEqual(few?.toSorted(), expected.length > FEW_MAX ? undefined : expected)
        const slice = { limit: MANY * 2, offset: 0 }
        for (const sort of ['name', 'expires_at', 'spent', 'percent', 'owner'] as const) {
          const ids = await searchKeys(store, { filter, sort, order: 'desc', ...slice })
          assert.deepEqual(ids.toSorted(), expected, sort)
        }
      })
  })

  describe('the overview reads no usage rows, and only the days it shows', () => {
    const queries: readonly Partial<KeyQuery>[] = [
      ...KEY_SORTS.map((sort) => ({ sort })),
      ...STATUSES.map((status) => ({ status })),
      ...KEY_CONCERNS.map((concern) => ({ concern })),
      ...[{ search: 'on' }, { tag: 'web' }, { model: 'sandbox-chat' }, { owner: 'ann' }],
    ]
    for (const query of queries)
      test(JSON.stringify(query), async () => {
        for (const plan of await plansOf(admin.store, (store) => list(store, query))) {
          assertReadsRollupsByTime(plan)
        }
      })
  })

  for (const sort of INDEXED)
    for (const order of ['asc', 'desc'] as const)
      test(`a page by ${sort}, ${order}, comes from an index without sorting`, async () => {
        const search = { filter: {}, sort, order, limit: 2 * MANY, offset: 0 }
        const plans = await plansOf(admin.store, (store) => searchKeys(store, search))
        assert.ok(plans.length > 0)
        for (const plan of plans) assert.doesNotMatch(plan, /TEMP B-TREE|Sort|Seq Scan/)
      })

  test('a scrape reads no usage rows, counts keys from an index, and reads rollups by time', async () => {
    const scrape = (store: Store) => makeMetrics({ ...admin.parts, store })()
    const plans = await plansOf(admin.store, scrape)
    assert.ok(plans.some((plan) => plan.includes('rollups')))
    for (const plan of plans) assertReadsRollupsByTime(plan)
    const steps = plans.flatMap((plan) => plan.split('\n'))
    const counting = steps.filter((step) => /scan.* accounts/i.test(step) && !/\bid = /.test(step))
    assert.ok(counting.length > 0)
    for (const step of counting) assert.match(step, /COVERING INDEX|Index Only Scan/)
  })

  for (const by of REPORTS)
    test(`a report by ${by.join(' and ')} reads only the rollups of its time`, async () => {
      const until = Date.now()
      const question = { since: until - 30 * DAY_MS, until, by, limit: 10 }
      const plans = await plansOf(admin.store, (store) => reportUsage(store, question))
      assert.ok(plans.some((plan) => plan.includes('rollups')))
      for (const plan of plans) assertReadsRollupsByTime(plan)
    })

  test('a report not by key reads one row per day and model, however many keys there are', async () => {
    const until = Date.now()
    const question = { since: until - DAY_MS, until, by: ['model'] as const }
    const { total } = await reportUsage(admin.store, question)
    const byKey = await reportUsage(admin.store, { ...question, by: ['key'] })
    assert.equal(byKey.rows.length, 2, 'only two were used')
    assert.equal(
      total.costNanodollars,
      byKey.rows.reduce((sum, row) => sum + row.costNanodollars, 0n),
    )
    const { count } = await admin.store.db
      .selectFrom('rollups')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('key_id', '=', 'frame')
      .where('span', '=', 'day')
      .executeTakeFirstOrThrow()
    assert.ok(count <= 2, 'two at midnight')
  })

  test('a report cut to a limit keeps the most expensive rows, and its total covers all', async () => {
    const until = Date.now()
    const question = { since: until - DAY_MS, until, by: ['key'] as const }
    const all = await reportUsage(admin.store, question)
    const one = await reportUsage(admin.store, { ...question, limit: 1 })
    assert.equal(one.rows.length, 1)
    assert.equal(one.leftOut, 1)
    assert.deepEqual(one.total, all.total)
    assert.equal(
      one.rest.costNanodollars + (one.rows[0]?.costNanodollars ?? 0n),
      one.total.costNanodollars,
    )
    assert.ok(all.rows.some((row) => row.key === one.rows[0]?.key))
  })

  test('the budgets of all keys may add up to more than a database integer holds', async () => {
    const { db } = admin.store
    const before = await readAllocated(admin.store)
    const accounts = Array.from({ length: 1_100 }, (_, index) => ({
      ...{ id: `key_large_${index}`, limit_nanodollars: BUDGET_MAX - 1n, period: 'never' as const },
      ...{ timezone: 'UTC', week_start: 'mon' as const },
    }))
    await db.insertInto('accounts').values(accounts).execute()
    const after = await readAllocated(admin.store)
    assert.equal(after - before, 1_100n * (BUDGET_MAX - 1n))
    const { status } = await admin.call('GET', '/keys')
    assert.equal(status, 200)
    await db.deleteFrom('accounts').where('id', 'like', 'key_large_%').execute()
  })
}

/** The value a row is sorted by; null sorts last in either order. */
const FIGURES: Readonly<
  Record<(typeof KEY_SORTS)[number], (row: KeyRow) => string | number | bigint | null>
> = {
  name: ({ name }) => name,
  // A rotation does not affect the budget, so it sorts as active.
  state: ({ state }) => KEY_STATES.indexOf(state === 'rotating' ? 'active' : state),
  percent: (row) => percentOf(row),
  spent: ({ spent }) => parseUsd(spent),
  share: ({ frame_share }) => frame_share,
  models: ({ model_count }) => model_count,
  last_used_at: ({ last_used_at }) => last_used_at,
  expires_at: ({ expires_at }) => expires_at,
  owner: ({ owner }) => owner,
  created_at: ({ id }) => id,
  cost_7d: ({ cost_7d }) => (cost_7d.total === '0' ? null : parseUsd(cost_7d.total)),
}

function percentOf({ limit, ...row }: KeyRow): number | null {
  return limit === null || limit === '0' ? null : Number(usedOf(row)) / Number(parseUsd(limit))
}

function usedOf({ spent, held }: Pick<KeyRow, 'spent' | 'held'>): bigint {
  return parseUsd(spent) + parseUsd(held)
}

function assertInOrder(
  figures: readonly (string | number | bigint | null)[],
  order: 'asc' | 'desc',
): void {
  for (const [index, after] of figures.entries()) {
    const before = figures[index - 1]
    if (index === 0 || before === undefined || after === null) continue
    assert.ok(before !== null, `${after} comes after a row without`)
    const isInOrder = order === 'asc' ? before <= after : before >= after
    assert.ok(isInOrder, `${after} comes after ${before} at ${index}`)
  }
}

/** Keys varied enough for every filter to matter. */
async function insertMany({ db, clock }: Store): Promise<void> {
  const now = clock.now()
  const made = Array.from({ length: MANY }, (_, index) => {
    const id = firstIdAt('key', now) + String(index).padStart(16, '0')
    const isRevoked = index % 20 === 3
    const isTest = index % 50 === 0
    const status = isRevoked
      ? ('revoked' as const)
      : index % 9 === 1
        ? ('paused' as const)
        : 'active'
    const expiresAt = index % 4 === 0 ? now + (index - 50) * HOUR_MS : null
    return {
      account: {
        ...{ id, status: status as AccountStatus, expires_at: expiresAt, timezone: 'UTC' },
        ...{ limit_nanodollars: limitOf(index), week_start: 'mon' as const },
        spent_nanodollars: isTest ? 0n : BigInt(index % 1_000),
        held_nanodollars: isTest ? 0n : BigInt((index % 11) * 50),
        top_up_nanodollars: index % 13 === 0 ? 100n : 0n,
        // Those that spent only in an earlier period of the frame have no part of this one.
        frame_period: index % 3,
        frame_spent_nanodollars: isTest ? 0n : BigInt((index * 7) % 1_000),
        ...(index % 10 === 5
          ? { period: 'day' as const, period_ends_at: now - 1 }
          : { period: 'never' as const, period_ends_at: null }),
      },
      key: {
        ...{ id, description: null },
        ...searchedColumns({
          name: `many ${index}`,
          owner: index % 3 === 0 ? null : `owner ${index % 5}`,
          environment: null,
          tags: index % 6 === 0 ? ['web'] : [],
        }),
        ...{ mode: isTest ? ('test' as const) : ('live' as const), model_count: 1 },
        ...{ permissions: '[]', when_tight: 'cap' as const },
        created_at: now - 100 * DAY_MS,
        last_used_at: index % 8 === 0 ? null : now - index * 3 * HOUR_MS,
        revoked_at: isRevoked ? now : null,
      },
    }
  })
  await db
    .insertInto('accounts')
    .values(made.map(({ account }) => account))
    .execute()
  await db
    .insertInto('keys')
    .values(made.map(({ key }) => key))
    .execute()
  const models = made.map(({ key }) => ({ key_id: key.id, model: 'sandbox-chat' }))
  await db.insertInto('key_models').values(models).execute()
}

/** No limit, a limit of zero, or one whose 80 percent is not a whole number. */
function limitOf(index: number): bigint | null {
  if (index % 7 === 0) return null
  return index % 25 === 0 ? 0n : 1_000n + BigInt(index % 9)
}

function assertReadsRollupsByTime(plan: string): void {
  assert.doesNotMatch(plan, /\busage\b/)
  for (const line of plan.split('\n').filter((step) => /(scan|search)[^:]* rollups/i.test(step))) {
    assert.match(line, /Index Cond.*span = .*starts_at|span=\? AND starts_at[=>]/)
  }
}

/** The plans of the queries that `work` makes, one text per query. */
async function plansOf(
  store: Store,
  work: (recorded: Store) => Promise<unknown>,
): Promise<readonly string[]> {
  const nodes: RootOperationNode[] = []
  const db = store.db.withPlugin({
    transformQuery: ({ node }) => {
      nodes.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await work({ ...store, db })
  const plans: string[] = []
  for (const node of nodes) {
    const { sql, parameters } = compiled(store, node)
    if (/^\s*SELECT/i.test(sql)) plans.push(await planOf(store, sql, parameters))
  }
  return plans
}

function compiled({ db }: Store, node: RootOperationNode): CompiledQuery {
  return db.getExecutor().compileQuery(node, { queryId: 'plan' })
}

async function planOf(
  { kind, db }: Store,
  text: string,
  parameters: readonly unknown[],
): Promise<string> {
  if (kind === 'sqlite') {
    const explain = CompiledQuery.raw(`EXPLAIN QUERY PLAN ${text}`, [...parameters])
    const { rows } = await db.executeQuery<{ readonly detail: string }>(explain)
    return rows.map(({ detail }) => detail).join('\n')
  }
  return db.transaction().execute(async (tx) => {
    // PostgreSQL would rather read and sort all of a small table.
    for (const way of ['seqscan', 'bitmapscan', 'sort'])
      await tx.executeQuery(CompiledQuery.raw(`SET LOCAL enable_${way} = off`))
    const explain = CompiledQuery.raw(`EXPLAIN (COSTS OFF) ${text}`, [...parameters])
    const { rows } = await tx.executeQuery<{ readonly 'QUERY PLAN': string }>(explain)
    return oneLinePerStep(rows.map((row) => row['QUERY PLAN']))
  })
}

/** Joins each step with PostgreSQL's details about its index. */
function oneLinePerStep(lines: readonly string[]): string {
  return lines.join('\n').replaceAll(/\n +(Index Cond|Filter|Sort Key|Group Key|Recheck)/g, ' $1')
}
