// The store's contract for refused calls, on any database: run by test/contract/store.test.ts.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { newId } from '../../src/core/ids.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/units.ts'
import { listDeliveries } from '../../src/store/alerts/alerts.ts'
import { addDestination } from '../../src/store/alerts/destinations.ts'
import type { Store } from '../../src/store/database/store.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import {
  listRefusals,
  NO_KEY,
  purgeRefusals,
  recordRefusals,
  refusalJson,
  type NewRefusal,
  type Refusals,
} from '../../src/store/refusals.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { newKey, standingClock, type FreshDatabase } from '../support/store.ts'

export function refusalsContract(fresh: FreshDatabase): void {
  const clock = standingClock()
  const start = clock.at
  let database: Awaited<ReturnType<FreshDatabase>>
  let store: Store

  before(async () => {
    database = await fresh()
    store = await openStore(database.url, { clock })
    await seedFrame(store, SAMPLE_FRAME)
  })
  after(async () => {
    await store.close()
    await database.drop()
  })
  beforeEach(() => {
    clock.at = start
  })

  const refusal = (keyId: string, more: Partial<NewRefusal> = {}): NewRefusal => ({
    requestId: newId('req', clock),
    keyId,
    groupId: '',
    masked: null,
    code: 'model_not_allowed',
    scope: null,
    period: null,
    endpoint: 'chat',
    modelAsked: 'gpt-5',
    requiredNanodollars: null,
    remainingNanodollars: null,
    userAgent: 'test',
    address: '192.0.2.0/24',
    createdAt: clock.at,
    ...more,
  })

  /** As a node gives them: at most the first 100 with a row. */
  const many = (keyId: string, count: number, more: Partial<NewRefusal> = {}): Refusals => ({
    keyId,
    groupId: more.groupId ?? '',
    code: more.code ?? 'model_not_allowed',
    startsAt: clock.at - (clock.at % HOUR_MS),
    count,
    rows: Array.from({ length: Math.min(count, 100) }, () => refusal(keyId, more)),
  })

  test('a refusal is given back as it was', async () => {
    const budget = {
      ...{ code: 'key_budget_exceeded', scope: 'key', period: 'month' },
      ...{ requiredNanodollars: 930_000_000n, remainingNanodollars: 410_000_000n },
    }
    await recordRefusals(store, [many('key_given', 1, budget)])
    const [row, ...rest] = await listRefusals(store, { keyId: 'key_given', limit: 10 })
    assert.ok(row)
    assert.deepEqual(rest, [])
    assert.deepEqual(refusalJson(row, new Map([['key_given', 'given']])), {
      id: row.requestId,
      created_at: new Date(start).toISOString(),
      key: 'key_given',
      key_name: 'given',
      masked: null,
      code: 'key_budget_exceeded',
      scope: 'key',
      period: 'month',
      endpoint: 'chat',
      model: 'gpt-5',
      required: '0.93',
      remaining: '0.41',
      user_agent: 'test',
      address: '192.0.2.0/24',
      further: 0,
    })
  })

  test('of 300 refusals with one code within an hour, 100 have a row and 200 are counted', async () => {
    await recordRefusals(store, [many('key_many', 300)])
    const rows = await listRefusals(store, { keyId: 'key_many', limit: 500 })
    assert.equal(rows.length, 100)
    const told = rows.flatMap(({ further }) => (further > 0 ? [further] : []))
    assert.deepEqual(told, [200])

    clock.at += HOUR_MS
    await recordRefusals(store, [
      many('key_many', 1),
      many('key_many', 1, { code: 'rate_limit_exceeded' }),
    ])
    assert.equal((await listRefusals(store, { keyId: 'key_many', limit: 500 })).length, 102)
  })

  test('the bound holds over all nodes, whichever writes when', async () => {
    const nodes = Array.from({ length: 6 }, () => many('key_nodes', 40))
    await Promise.all(nodes.map((node) => recordRefusals(store, [node])))
    const rows = await listRefusals(store, { keyId: 'key_nodes', limit: 500 })
    assert.equal(rows.length, 100)
    assert.equal(new Set(rows.map(({ number }) => number)).size, 100)
    assert.equal(
      rows.reduce((sum, { further }) => sum + further, 0),
      140,
    )
  })

  test('nodes that write the same keys in another order do not stop each other', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `key_order_${index}`)
    const all = names.map((name) => many(name, 3))
    await Promise.all([
      recordRefusals(store, all),
      recordRefusals(
        store,
        names.toReversed().map((name) => many(name, 3)),
      ),
    ])
    assert.equal((await listRefusals(store, { keyId: 'key_order_0', limit: 500 })).length, 6)
  })

  test('the list is filtered and paged, newest first', async () => {
    const codes = ['rate_limit_exceeded', 'paused_api_key'] as const
    for (let index = 0; index < 7; index++) {
      clock.at += 1_000
      await recordRefusals(store, [many('key_paged', 1, { code: codes[index % 2] ?? '' })])
    }
    const filter = { keyId: 'key_paged', code: 'rate_limit_exceeded' }
    const first = await listRefusals(store, { ...filter, limit: 3 })
    const second = await listRefusals(store, {
      ...filter,
      limit: 3,
      before: first.at(-1)?.requestId,
    })
    const times = [...first, ...second].map(({ createdAt }) => (createdAt - start) / 1_000)
    assert.deepEqual(times, [7, 5, 3, 1])
    const between = { keyId: 'key_paged', since: start + 2_000, until: start + 5_000, limit: 9 }
    const some = await listRefusals(store, between)
    assert.deepEqual(
      some.map(({ createdAt }) => (createdAt - start) / 1_000),
      [4, 3, 2],
    )
    const ofCode = await listRefusals(store, { code: 'paused_api_key', limit: 9 })
    assert.deepEqual(new Set(ofCode.map(({ keyId }) => keyId)), new Set(['key_paged']))
  })

  test('what is older than the retention is deleted, in pages', async () => {
    clock.at = start - 50 * DAY_MS
    await recordRefusals(
      store,
      Array.from({ length: 6 }, (_, index) => many(`key_old_${index}`, 120)),
    )
    clock.at = start
    let pages = 1
    while (await purgeRefusals(store, start - 40 * DAY_MS)) pages += 1
    assert.ok(pages > 1)
    assert.deepEqual(await listRefusals(store, { keyId: 'key_old_1', limit: 1 }), [])
    const old = store.db
      .selectFrom('refusal_counts')
      .selectAll()
      .where('starts_at', '<', start - 40 * DAY_MS)
    assert.deepEqual(await old.execute(), [])
    assert.equal((await listRefusals(store, { keyId: 'key_given', limit: 9 })).length, 1)
  })

  test('many refusals of a key give one alert a day, unless it wants none', async () => {
    await addDestination(store, {
      ...{ kind: 'webhook', name: 'chat', address: 'https://hooks.example.com/alert' },
    })
    const loud = (await createKey(store, newKey('loud'))).key.id
    const silent = (await createKey(store, newKey('silent', { alertThresholds: [] }))).key.id
    const given = async () =>
      (await listDeliveries(store, { limit: 50 })).map(({ alert }) =>
        alert.kind === 'refusals' ? [alert.accountName, alert.code, alert.count] : alert.kind,
      )
    await recordRefusals(store, [many(loud, 99), many(silent, 300)])
    assert.deepEqual(await given(), [])
    await recordRefusals(store, [many(loud, 2), many(loud, 100, { code: 'key_budget_exceeded' })])
    assert.deepEqual(await given(), [['loud', 'model_not_allowed', 101]])
    await recordRefusals(store, [many(loud, 100, { code: 'paused_api_key' }), many(loud, 300)])
    assert.equal((await given()).length, 1)
    clock.at += 1_000
    await recordRefusals(store, [many(NO_KEY, 150, { code: 'invalid_api_key' })])
    assert.deepEqual((await given())[0], [null, 'invalid_api_key', 150])
    clock.at += DAY_MS
    await recordRefusals(store, [many(loud, 100)])
    assert.equal((await given()).length, 3)
  })
}
