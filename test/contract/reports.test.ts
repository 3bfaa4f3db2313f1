// What reports say about usage, on both databases: every dimension, every filter, what a cut report leaves out.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import { firstIdAt } from '../../src/core/ids.ts'
import type { Dimension } from '../../src/core/limits.ts'
import { adjustHold } from '../../src/ledger/nodes/adjustments.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { describeLines, linesCsv } from '../../src/ledger/reports/lines.ts'
import { reportUsage, type UsageFilter } from '../../src/ledger/reports/report.ts'
import { sumUpKeyDays } from '../../src/ledger/reports/rollups.ts'
import { statementPage } from '../../src/ledger/reports/statement-page.ts'
import { makeStatement, statementCsv, statementJson } from '../../src/ledger/reports/statement.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import type { Store } from '../../src/store/database/store.ts'
import { findGroup, type Group } from '../../src/store/groups/groups.ts'
import { updateKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite, refusal, type FreshDatabase } from '../support/store.ts'
import { LedgerFixture, spend } from './ledger-fixture.ts'

const DAY_MS = 86_400_000

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`reports on ${name}`, () => reportsContract(fresh, async () => {}))
  // As if the day were over in the midst of its calls.
  describe(`reports on ${name} of days that are summed up`, () => {
    reportsContract(fresh, async (store) => {
      while (await sumUpKeyDays(store, systemClock.now() + DAY_MS));
    })
  })
}

type Midst = (store: Store) => Promise<void>

/** Four keys, one of them moved between groups after its first request. */
async function spendSome(fixture: LedgerFixture, midst: Midst) {
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
  await midst(store)
  await call(nobody, 5n)
  await updateKey(store, ann, { legs: { groupId: shop } })
  await call(ann, 100n, 502)
  node.countRefused(await fixture.ask(bob, 1000))
  // Writes what was only counted.
  await node.close()
  return { search, shop, ann, bob, nobody }
}

function reportsContract(fresh: FreshDatabase, midst: Midst): void {
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
    made = await spendSome(fixture, midst)
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
      [shop, 107n],
      [search, 10n],
      ['', 5n],
    ])
    assert.deepEqual(await costs('owner'), [
      ['ann', 110n],
      ['bob', 7n],
      ['', 5n],
    ])
    assert.deepEqual(await costs('environment'), [
      ['production', 110n],
      ['', 12n],
    ])
    assert.deepEqual(await costs('owner', { group: shop }), [
      ['ann', 100n],
      ['bob', 7n],
    ])
    assert.deepEqual(await costs('group', { group: '' }), [['', 5n]])
    assert.deepEqual(await costs('group', { group: search }), [[search, 10n]])
  })

  test('groups, and what was used outside them, are told apart beside anything else', async () => {
    const { search, shop } = made
    const lines = async (by: readonly Dimension[], filter: UsageFilter = {}) => {
      const { rows } = await reportUsage(store, { ...time, by, ...filter })
      return rows.map((row) => [row.group, row.model, row.costNanodollars, row.requests])
    }
    assert.deepEqual(await lines(['group', 'model']), [
      [shop, 'm', 107n, 3],
      [search, 'm', 10n, 1],
      ['', 'm', 5n, 1],
    ])
    assert.deepEqual(await lines(['group', 'model'], { group: '' }), [['', 'm', 5n, 1]])
    assert.deepEqual(await lines(['group', 'group'], { group: shop }), [[shop, null, 107n, 3]])
    for (const each of ['day', 'hour'] as const) {
      const groups = (await lines([each, 'group'])).map(([group]) => group)
      assert.deepEqual(new Set(groups), new Set(['', search, shop]))
    }
  })

  test('a key with two tags counts in both, and once in the total', async () => {
    assert.deepEqual(await costs('tag'), [
      ['web', 117n],
      ['eu', 110n],
      ['', 5n],
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
    assert.deepEqual(await counts('group'), [[3, 1, 1], [1, 0, 0], [1, 0, 0], all])
    assert.deepEqual(await counts('owner'), [[2, 1, 0], [2, 0, 1], [1, 0, 0], all])
    assert.deepEqual(await counts('model'), [all, all])
    assert.deepEqual(await counts('endpoint'), [all, all])
    // What was refused reached no provider.
    assert.deepEqual(await counts('provider'), [[4, 1, 0], [1, 0, 1], all])
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

  const month = (at: number) => new Date(at).toISOString().slice(0, 7)

  test('a statement has every request of a group, by key, model and price, and what was adjusted', async () => {
    const { search, shop, bob } = made
    const group = await findGroup(store, shop)
    const statement = (of: Group, keepUsageMs = 400 * DAY_MS, which = month(systemClock.now())) =>
      makeStatement(store, { group: of, month: which, keepUsageMs })
    const { total } = await statement(group)
    assert.deepEqual([total.requests, total.failed, total.costNanodollars], [2, 1, 107n])
    const [row] = await fixture.usage(bob)
    const change = { holdId: row?.id ?? 0, costNanodollars: 4n, reason: '<b>too much</b>' }
    await adjustHold(store, change)
    const later = await statement(group)
    assert.equal(later.total.costNanodollars, 104n)
    assert.deepEqual(
      statementJson(later).lines.map((line) => [line.owner, line.cost, line.adjusted_by]),
      [
        ['ann', '0.0000001', '0'],
        ['bob', '0.000000004', '-0.000000003'],
      ],
    )
    const page = statementPage(later)
    assert.match(page, /&#60;b&#62;too much&#60;\/b&#62;/)
    assert.doesNotMatch(page, /<b>|<script/)
    assert.match(page, /The month has not ended/)
    const csv = statementCsv(later).split('\n')
    assert.match(
      csv[0] ?? '',
      /^group,month,timezone,key,key_name,owner,environment,tags,model,price_version,discount,/,
    )
    assert.equal(csv.length, 3)
    // The request of the moved key stays where it was made.
    const other = await statement(await findGroup(store, search))
    assert.equal(other.total.costNanodollars, 10n)
    await adjustHold(store, { ...change, costNanodollars: 7n, reason: 'as it was' })
  })

  test('a statement needs a month that has begun and of which every request is kept', async () => {
    const group = await findGroup(store, made.shop)
    const now = systemClock.now()
    const asked = (which: string, keepUsageMs = 400 * DAY_MS) =>
      makeStatement(store, { group, month: which, keepUsageMs })
    for (const wrong of [
      '2026-13',
      '2026-00',
      '2026',
      '26-11',
      '2026-1',
      '2026-11-01',
      'may',
      '0001-01',
      '',
    ])
      await assert.rejects(asked(wrong), refusal('invalid_value', /enter a month such as/), wrong)
    await assert.rejects(asked('9998-01'), refusal('invalid_value', /9998-01 has not begun yet/))
    await assert.rejects(
      asked(month(now - 500 * DAY_MS)),
      refusal('invalid_value', /are not all kept any more: ledger.keep_usage is 400 days/),
    )
    const before = await asked(month(now - 40 * DAY_MS))
    assert.deepEqual([before.lines, before.total.costNanodollars], [[], 0n])
    assert.match(statementPage(before), /Nothing was used/)
  })

  test('a month is that of the time zone of the group', async () => {
    const id = await fixture.group(null, { timezone: 'Pacific/Auckland' })
    const key = await fixture.key(null, { legs: { groupId: id } })
    await spend(fixture.ledger, await fixture.ask(key, 1000), { costNanodollars: 3n })
    // In UTC still October, in Auckland already November.
    const at = Date.UTC(2026, 9, 31, 12)
    const rows = { reserved_at: at, request_id: firstIdAt('req', at) }
    await store.db.updateTable('usage').set(rows).where('key_id', '=', key).execute()
    const group = await findGroup(store, id)
    const cost = async (which: string) => {
      const statement = await makeStatement(store, {
        group,
        month: which,
        keepUsageMs: 4000 * DAY_MS,
      })
      return statement.total.costNanodollars
    }
    assert.deepEqual([await cost('2026-10'), await cost('2026-11')], [0n, 3n])
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
