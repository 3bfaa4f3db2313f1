// What reports say about usage, on both databases: every dimension, every filter, what a cut report leaves out.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import type { Dimension } from '../../src/core/limits.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { describeLines, linesCsv } from '../../src/ledger/reports/lines.ts'
import { reportUsage, type UsageFilter } from '../../src/ledger/reports/report.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import type { Store } from '../../src/store/database/store.ts'
import { updateKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite, type FreshDatabase } from '../support/store.ts'
import { LedgerFixture, spend } from './ledger-fixture.ts'

const DAY_MS = 86_400_000

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const)
  describe(`reports on ${name}`, () => reportsContract(fresh))

/** Four keys, one of them moved between groups after its first request. */
async function spendSome(fixture: LedgerFixture) {
  const { store } = fixture
  const [search, shop] = [await fixture.group(null), await fixture.group(null)]
  const ann = await fixture.key(null, {
    ...{ legs: { groupId: search }, owner: 'ann', environment: 'production', tags: ['web', 'eu'] },
  })
  const bob = await fixture.key(null, { legs: { groupId: shop }, owner: 'bob', tags: ['web'] })
  const nobody = await fixture.key(null)
  await fixture.key(null, { owner: 'unused' })
  const node = await openLedger({ store, ...SAMPLE_PACE })
  const call = async (key: string, costNanodollars: bigint, status = 200) =>
    spend(node, await fixture.ask(key, 1000), { costNanodollars, status, latencyMs: 100 })
  await call(ann, 10n)
  await call(bob, 7n)
  await call(nobody, 5n)
  await updateKey(store, ann, { legs: { groupId: shop } })
  await call(ann, 100n, 502)
  node.countRefused(await fixture.ask(bob, 1000))
  // Writes what was only counted.
  await node.close()
  return { search, shop, ann, bob, nobody }
}

function reportsContract(fresh: FreshDatabase): void {
  let store: Store
  let fixture: LedgerFixture
  let drop = async () => {}
  let made: Awaited<ReturnType<typeof spendSome>>
  const today = Math.floor(systemClock.now() / DAY_MS) * DAY_MS
  const time = { since: today - DAY_MS, until: today + 2 * DAY_MS }

  before(async () => {
    const database = await fresh()
    const threadModules = [LEDGER_THREAD_MODULE]
    store = await openStore(database.url, { clock: systemClock, threadModules })
    drop = () => database.drop()
    fixture = new LedgerFixture(store)
    await fixture.ready
    made = await spendSome(fixture)
  })
  after(async () => {
    await fixture.close()
    await drop()
  })

  const costs = async (by: Dimension, filter: UsageFilter = {}) => {
    const { rows } = await reportUsage(store, { ...time, by: [by], ...filter })
    return rows.map((row) => [row[by], row.costNanodollars])
  }

  test('usage is that of the group it was made in, and of the owner that its key has now', async () => {
    const { search, shop } = made
    assert.deepEqual(await costs('group'), [
      ['', 5n],
      [search, 10n],
      [shop, 107n],
    ])
    assert.deepEqual(await costs('owner'), [
      ['', 5n],
      ['ann', 110n],
      ['bob', 7n],
    ])
    assert.deepEqual(await costs('environment'), [
      ['', 12n],
      ['production', 110n],
    ])
    assert.deepEqual(await costs('owner', { group: shop }), [
      ['ann', 100n],
      ['bob', 7n],
    ])
    assert.deepEqual(await costs('group', { group: '' }), [['', 5n]])
    assert.deepEqual(await costs('group', { group: search }), [[search, 10n]])
  })

  test('a key with two tags counts in both, and once in the total', async () => {
    assert.deepEqual(await costs('tag'), [
      ['', 5n],
      ['eu', 110n],
      ['web', 117n],
    ])
    const { total } = await reportUsage(store, { ...time, by: ['tag'] })
    assert.equal(total.costNanodollars, 122n)
  })

  test('every filter leaves what matches, however it is grouped', async () => {
    const { search, shop, ann } = made
    const expected: readonly (readonly [UsageFilter, bigint])[] = [
      [{}, 122n],
      [{ group: search }, 10n],
      [{ group: '' }, 5n],
      [{ group: shop, owner: 'ann' }, 100n],
      [{ owner: 'bob' }, 7n],
      [{ owner: '' }, 5n],
      [{ owner: 'unused' }, 0n],
      [{ environment: 'production' }, 110n],
      [{ environment: '' }, 12n],
      [{ tag: 'web' }, 117n],
      [{ tag: '' }, 5n],
      [{ key: ann }, 110n],
      [{ key: ann, owner: 'bob' }, 0n],
      [{ key: ann, group: shop }, 100n],
      [{ model: 'm' }, 122n],
      [{ model: 'm', group: '' }, 5n],
      [{ model: 'other' }, 0n],
      [{ provider: 'sandbox' }, 122n],
      [{ provider: '' }, 0n],
      [{ endpoint: 'chat' }, 122n],
      [{ endpoint: 'messages', tag: 'web' }, 0n],
    ]
    for (const [filter, cost] of expected) {
      for (const by of ['key', 'group', 'owner', 'environment', 'model', 'day', 'hour'] as const) {
        const report = await reportUsage(store, { ...time, ...filter, by: [by], limit: 1_000 })
        const sum = report.rows.reduce((all, row) => all + row.costNanodollars, 0n)
        assert.deepEqual(
          [report.total.costNanodollars, sum],
          [cost, cost],
          JSON.stringify({ by, filter }),
        )
      }
    }
  })

  test('requests, failed and refused ones are apart, by every dimension', async () => {
    const counts = async (by: Dimension) => {
      const { rows, total } = await reportUsage(store, { ...time, by: [by] })
      return [...rows, total].map((row) => [row.requests, row.failed, row.refused])
    }
    const all = [5, 1, 1]
    assert.deepEqual(await counts('group'), [[1, 0, 0], [1, 0, 0], [3, 1, 1], all])
    assert.deepEqual(await counts('owner'), [[1, 0, 0], [2, 1, 0], [2, 0, 1], all])
    assert.deepEqual(await counts('model'), [all, all])
    assert.deepEqual(await counts('endpoint'), [all, all])
    // What was refused reached no provider.
    assert.deepEqual(await counts('provider'), [[1, 0, 1], [4, 1, 0], all])
  })

  test('a row of a key says its group, owner, environment and tags, also as CSV', async () => {
    const { shop, ann } = made
    const question = { ...time, by: ['key'] as const }
    const { rows } = await reportUsage(store, question)
    const lines = await describeLines(store, question, rows)
    assert.deepEqual(
      lines.map(({ group, owner, environment, tags }) => [group, owner, environment, tags]),
      [
        // It was moved, so its requests are in no single group.
        [null, 'ann', 'production', ['web', 'eu']],
        [shop, 'bob', '', ['web']],
        ['none', '', '', []],
      ],
    )
    const [header = '', first = ''] = linesCsv(lines).split('\n')
    assert.match(header, /^key,key_name,group,group_name,owner,environment,tags,tag,model,/)
    assert.equal(first.startsWith(`${ann},key 1,,,ann,production,"web, eu",`), true, first)
    assert.equal(linesCsv([]), header)
  })

  test('a cut report has the dearest rows, and what the rest adds up to', async () => {
    const cut = async (by: Dimension) => {
      const { rows, leftOut, rest } = await reportUsage(store, { ...time, by: [by], limit: 1 })
      return [rows.map((row) => row.costNanodollars), leftOut, rest.costNanodollars, rest.requests]
    }
    assert.deepEqual(await cut('key'), [[110n], 2, 12n, 3])
    assert.deepEqual(await cut('group'), [[107n], 2, 15n, 2])
    // By tag, a key of two tags is in two rows.
    assert.deepEqual(await cut('tag'), [[117n], 2, 115n, 3])
  })

  test('a report by model alone says how long answers took', async () => {
    const lines = async (by: readonly Dimension[], filter: UsageFilter = {}) => {
      const question = { ...time, by, ...filter }
      return describeLines(store, question, (await reportUsage(store, question)).rows)
    }
    const [line] = await lines(['model'])
    assert.ok(line && line.latency_ms_p50 !== null && line.latency_ms_p95 !== null)
    // At most 9 % above the truth.
    assert.ok(line.latency_ms_p50 >= 100 && line.latency_ms_p50 <= 109, String(line.latency_ms_p50))
    const [filtered] = await lines(['model'], { group: made.shop })
    assert.equal(filtered?.latency_ms_p50, null)
    const [byDay] = await lines(['day', 'model'])
    assert.equal(byDay?.latency_ms_p50, null)
  })
}
