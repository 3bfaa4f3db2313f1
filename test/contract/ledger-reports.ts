// The ledger's contract for what people see: manual changes, reports, explanations, retention, and a verification that
// finds errors.
import assert from 'node:assert/strict'
import { sql, type RawBuilder } from 'kysely'
import { costOf, type Price } from '../../src/catalog/prices.ts'
import { systemClock } from '../../src/core/clock.ts'
import { NO_USAGE } from '../../src/core/events.ts'
import { firstIdAt } from '../../src/core/ids.ts'
import { adjustHold, listOrphans, resetSpent, topUp } from '../../src/ledger/nodes/adjustments.ts'
import { purgeUsage } from '../../src/ledger/nodes/maintenance.ts'
import { reportUsage } from '../../src/ledger/reports/report.ts'
import { explain, findUsage, searchUsage } from '../../src/ledger/reports/requests.ts'
import { sumUpKeyDays } from '../../src/ledger/reports/rollups.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { findKey, listKeys } from '../../src/store/keys/keys.ts'
import { recordUse } from '../../src/store/keys/secrets.ts'
import { ask, granted, refusal, settlement, spend, type It, USD } from './ledger-fixture.ts'

const someone = { reason: 'a test' }
const DAY_MS = 86_400_000

export function byHand(it: It): void {
  it('a top-up counts until the period ends', async (fixture) => {
    const key = await fixture.key(1000n, { period: 'day' })
    await spend(fixture.ledger, ask(key, 1000))
    await topUp(fixture.store, { ...someone, accountId: key, amountNanodollars: 500n })
    const { balances } = await spend(fixture.ledger, ask(key, 500))
    assert.equal(balances.key.limitNanodollars, 1500n)
    await fixture.endPeriod(key)
    await spend(fixture.ledger, ask(key, 1000))
    assert.equal(refusal(await fixture.ledger.reserve(ask(key, 1))).reason, 'budget')
  })

  it('a reset starts from zero at once, and keeps the old figures and the end of the period', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 400)
    await spend(fixture.ledger, ask(key, 600))
    const open = granted(await fixture.ledger.reserve(asked))
    const before = await fixture.account(key)
    await resetSpent(fixture.store, { ...someone, accountId: key })
    await fixture.ledger.settle(settlement(asked, open))
    await spend(fixture.ledger, ask(key, 1000))
    const account = await fixture.account(key)
    assert.equal(account.spent_nanodollars, 1000n)
    assert.equal(account.period_ends_at, before.period_ends_at)
    const { spent_nanodollars } = await fixture.store.db
      .selectFrom('account_periods')
      .select('spent_nanodollars')
      .where('account_id', '=', key)
      .executeTakeFirstOrThrow()
    assert.equal(spent_nanodollars, 1000n)
  })

  it('a reset ends a period that a clock far ahead has opened', async (fixture) => {
    const key = await fixture.key(1000n)
    await spend(fixture.ledger, ask(key, 600))
    const { period_starts_at: startsAt, period_ends_at: endsAt } = await fixture.account(key)
    await fixture.store.db
      .updateTable('accounts')
      .set({ period_starts_at: startsAt + 1000 * DAY_MS, period_ends_at: startsAt + 1031 * DAY_MS })
      .where('id', '=', key)
      .execute()
    await spend(fixture.ledger, ask(key, 100))
    await resetSpent(fixture.store, { ...someone, accountId: key })
    assert.equal((await fixture.account(key)).period_ends_at, endsAt)
  })

  it('a charge can be adjusted down and up, and records who did it', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 500)
    const { holdId } = await spend(fixture.ledger, asked)
    await adjustHold(fixture.store, { ...someone, holdId, costNanodollars: 100n })
    assert.equal((await fixture.account(key)).spent_nanodollars, 100n)
    await spend(fixture.ledger, ask(key, 900))
    await adjustHold(fixture.store, { ...someone, holdId, costNanodollars: 450n })
    const account = await fixture.account(key)
    assert.deepEqual([account.spent_nanodollars, account.overrun_nanodollars], [1350n, 350n])
    const { entries, row } = await explain(fixture.store, asked.requestId)
    assert.equal(row.state, 'adjusted')
    assert.deepEqual(
      entries.map((entry) => [entry.actor, entry.reason, entry.before, entry.after]),
      [
        ['tollgate', 'a test', 500n, 100n],
        ['tollgate', 'a test', 100n, 450n],
      ],
    )
  })

  it('a change needs a reason and something to change', async (fixture) => {
    const key = await fixture.key(1000n)
    const amountNanodollars = 1n
    await assert.rejects(topUp(fixture.store, { reason: ' ', accountId: key, amountNanodollars }), {
      code: 'invalid_value',
    })
    await assert.rejects(
      topUp(fixture.store, { ...someone, accountId: 'key_none', amountNanodollars }),
      {
        code: 'unknown_key',
      },
    )
    await assert.rejects(
      adjustHold(fixture.store, { ...someone, holdId: 1, costNanodollars: 1n }),
      {
        code: 'unknown_hold',
      },
    )
    const { holdId } = await spend(fixture.ledger, ask(key, 100))
    for (const costNanodollars of [-1n, 9_000_000n * USD + 1n, 10n ** 25n]) {
      const change = { ...someone, holdId, costNanodollars }
      await assert.rejects(adjustHold(fixture.store, change), { code: 'invalid_value' })
    }
    assert.equal((await fixture.account(key)).spent_nanodollars, 100n)
    assert.deepEqual(await listOrphans(fixture.store), [])
  })
}

export function reports(it: It): void {
  it('a key counts as used from its first request on, before that is recorded', async (fixture) => {
    const id = await fixture.key(1000n)
    assert.equal((await findKey(fixture.store, id)).lastUsedAt, null)
    await spend(fixture.ledger, ask(id, 100))
    await spend(fixture.ledger, ask(id, 100))
    // Two requests of one millisecond have ids in any order.
    const byRequest = new Map(
      (await fixture.usage(id)).map((row) => [row.request_id, row.reserved_at]),
    )
    const lastId = [...byRequest.keys()].toSorted().at(-1) ?? ''
    const listed = (await listKeys(fixture.store)).find((key) => key.id === id)
    for (const key of [await findKey(fixture.store, id), listed]) {
      assert.equal(key?.lastUsedAt, byRequest.get(lastId))
    }
    await recordUse(fixture.store, { keys: new Map([[id, 5]]), secrets: new Map() })
    assert.equal((await findKey(fixture.store, id)).lastUsedAt, 5)
  })

  const price: Price = {
    version: 'report-1',
    rates: {
      input: 3_333n,
      cached: 333n,
      cacheWriteShort: 4_166n,
      cacheWriteLong: 6_666n,
      output: 15_001n,
    },
    tiers: [],
    fees: { request: 7n, webSearch: null },
  }
  const tokens = {
    ...NO_USAGE,
    inputTokens: 1001,
    cachedTokens: 400,
    outputTokens: 77,
    reasoningTokens: 5,
  }

  it('a cost can be computed again from its row, to the nano-dollar', async (fixture) => {
    const key = await fixture.key(null)
    const asked = ask(key, 100_000)
    const costNanodollars = costOf(tokens, price).nanodollars
    await spend(fixture.ledger, asked, { price, tokens, costNanodollars })
    const explanation = await explain(fixture.store, asked.requestId)
    assert.equal(explanation.recomputedNanodollars, costNanodollars)
    assert.equal(explanation.agrees, true)
    assert.deepEqual(explanation.lines, costOf(tokens, price).lines)
    assert.equal(
      (await findUsage(fixture.store, asked.requestId))?.costNanodollars,
      costNanodollars,
    )
    await assert.rejects(explain(fixture.store, 'req_none'), { code: 'unknown_request' })
  })

  it('a request without cost or price is explained as zero', async (fixture) => {
    const asked = ask(await fixture.key(null), 1000)
    await spend(fixture.ledger, asked, { price: null, status: 502, costNanodollars: 0n })
    const { recomputedNanodollars, agrees, lines } = await explain(fixture.store, asked.requestId)
    assert.deepEqual(
      { recomputedNanodollars, agrees, lines },
      { recomputedNanodollars: 0n, agrees: true, lines: [] },
    )
  })

  it('a request that was voided and retried is shown by its last attempt', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 100)
    const lost = granted(await fixture.ledger.reserve(asked))
    await fixture.ledger.void(lost.holdId, 'abandoned')
    await spend(fixture.ledger, asked)
    assert.equal((await findUsage(fixture.store, asked.requestId))?.costNanodollars, 100n)
  })

  it('a report adds up by key, by model and by day', async (fixture) => {
    const keys = [await fixture.key(null), await fixture.key(null)]
    for (const key of keys) {
      await spend(fixture.ledger, ask(key, 1000), { tokens, costNanodollars: 10n })
      await spend(fixture.ledger, ask(key, 1000, { modelAsked: 'n' }), {
        modelAsked: 'n',
        status: 502,
        estimated: true,
        costNanodollars: 5n,
      })
    }
    const [key = ''] = keys
    const today = Math.floor(systemClock.now() / DAY_MS) * DAY_MS
    const by = ['key', 'model', 'day'] as const
    const question = { key, since: today - DAY_MS, until: today + 2 * DAY_MS, by }
    const { rows, total } = await reportUsage(fixture.store, question)
    assert.deepEqual(
      rows.map((row) => [row.model, row.requests, row.failed, row.estimated, row.costNanodollars]),
      [
        ['m', 1, 0, 0, 10n],
        ['n', 1, 1, 1, 5n],
      ],
    )
    assert.deepEqual([total.requests, total.inputTokens, total.costNanodollars], [2, 1005, 15n])
    const hours = await reportUsage(fixture.store, {
      ...question,
      since: today + 1,
      until: today + DAY_MS - 1,
      by: ['key'],
    })
    assert.deepEqual(
      hours.rows.map((row) => [row.key, row.costNanodollars]),
      [[key, 15n]],
    )
    const all = await reportUsage(fixture.store, {
      since: today,
      until: today + DAY_MS,
      by: ['model'],
    })
    assert.ok(all.rows.find((row) => row.model === 'n')?.requests === 2)
  })

  it('a report by provider and endpoint adds up to the same', async (fixture) => {
    const key = await fixture.key(null)
    await spend(fixture.ledger, ask(key, 1000), { tokens, costNanodollars: 10n, provider: 'one' })
    await spend(fixture.ledger, ask(key, 1000), { costNanodollars: 7n, provider: 'two' })
    const silent = { costNanodollars: 5n, provider: null, status: 502 } as const
    await spend(fixture.ledger, ask(key, 1000, { endpoint: 'messages' }), silent)
    const today = Math.floor(systemClock.now() / DAY_MS) * DAY_MS
    const question = { key, since: today - DAY_MS, until: today + 2 * DAY_MS }
    const report = await reportUsage(fixture.store, { ...question, by: ['provider', 'endpoint'] })
    assert.deepEqual(
      report.rows
        .toSorted((one, other) => ((one.provider ?? '') < (other.provider ?? '') ? -1 : 1))
        .map((row) => [row.provider, row.endpoint, row.requests, row.failed, row.costNanodollars]),
      [
        ['', 'messages', 1, 1, 5n],
        ['one', 'chat', 1, 0, 10n],
        ['two', 'chat', 1, 0, 7n],
      ],
    )
    const known = await reportUsage(fixture.store, { ...question, by: ['key', 'day'] })
    assert.deepEqual(report.total, known.total)
    const days = await reportUsage(fixture.store, { ...question, by: ['day', 'endpoint'] })
    assert.ok(days.rows.every(({ day }) => day !== null && day % DAY_MS === 0))
  })

  it('rows are listed page by page, newest first', async (fixture) => {
    const key = await fixture.key(null)
    const requests = []
    for (let count = 0; count < 5; count++) {
      const asked = ask(key, 1, { requestId: firstIdAt('req', systemClock.now()) + count })
      requests.unshift(asked.requestId)
      await spend(fixture.ledger, asked)
    }
    const first = await searchUsage(fixture.store, { keyId: key, limit: 3 })
    const before = first.next ?? ''
    const second = await searchUsage(fixture.store, { keyId: key, before, limit: 3 })
    assert.deepEqual(
      [...first.rows, ...second.rows].map((row) => row.requestId),
      requests,
    )
  })

  it('spending still counts after retention has deleted its rows', async (fixture) => {
    const key = await fixture.key(1000n)
    const old = firstIdAt('req', systemClock.now() - 400 * DAY_MS)
    await spend(fixture.ledger, ask(key, 10, { requestId: old }), { costNanodollars: 30n })
    await spend(fixture.ledger, ask(key, 10))
    assert.equal(await purgeUsage(fixture.store, systemClock.now() - 90 * DAY_MS), false)
    assert.equal((await fixture.usage(key)).length, 1)
    assert.equal((await fixture.account(key)).spent_nanodollars, 40n)
  })

  it('a row purged while it is adjusted is counted once', async (fixture) => {
    const key = await fixture.key(null)
    const requestId = firstIdAt('req', systemClock.now() - 400 * DAY_MS)
    for (let round = 0; round < 20; round++) {
      const { holdId } = await spend(fixture.ledger, ask(key, 100, { requestId }))
      // In either order: the second finds the row changed or gone.
      const adjusting = adjustHold(fixture.store, { ...someone, holdId, costNanodollars: 30n })
      await Promise.allSettled([
        adjusting,
        purgeUsage(fixture.store, systemClock.now() - 90 * DAY_MS),
      ])
      assert.deepEqual(await verifyLedger(fixture.store), [])
    }
  })

  it('verification finds books that were tampered with', async (fixture) => {
    const key = await fixture.key(1000n)
    await spend(fixture.ledger, ask(key, 100))
    const tamper = async (spent_nanodollars: bigint) => {
      await fixture.store.db
        .updateTable('accounts')
        .set({ spent_nanodollars })
        .where('id', '=', key)
        .execute()
    }
    await tamper(99n)
    assert.deepEqual(await verifyLedger(fixture.store), [
      {
        check: 'spent',
        account: key,
        period: 1,
        expected: '0.0000001 USD',
        found: '0.000000099 USD',
      },
    ])
    await tamper(100n)
    const { holdId } = granted(await fixture.ledger.reserve(ask(key, 1)))
    const found = await verifyLedger(fixture.store, { quiescent: true })
    assert.ok(
      found.some(({ check, found: id }) => check === 'quiescent_holds' && id === `${holdId}`),
    )
  })
  const TOTALS = ['rollup_cost', 'rollup_requests']
  const BUCKETS = ['bucket_cost', 'bucket_requests']
  const ALL = ['rollup_cost', 'bucket_cost', 'rollup_requests', 'bucket_requests']
  for (const [what, plant, checks] of [
    [
      'counts too much',
      alter('requests = requests + 1, cost_nanodollars = cost_nanodollars + 1'),
      TOTALS,
    ],
    [
      'counts too little',
      alter('requests = requests - 1, cost_nanodollars = cost_nanodollars - 1'),
      ALL,
    ],
    ['is missing', (which) => sql`DELETE FROM rollups WHERE ${which}`, ALL],
    ['belongs to another time', alter('starts_at = 0'), BUCKETS],
    ['belongs to another model', alter(`model = 'other'`), BUCKETS],
  ] as readonly Plant[]) {
    it(`verification finds a rollup that ${what}, whatever retention has deleted`, async (fixture) => {
      const key = await fixture.key(null)
      const old = firstIdAt('req', systemClock.now() - 400 * DAY_MS)
      await spend(fixture.ledger, ask(key, 10, { modelAsked: 'm', requestId: old }))
      await spend(fixture.ledger, ask(key, 10, { modelAsked: key }))
      await purgeUsage(fixture.store, systemClock.now() - 90 * DAY_MS)
      assert.deepEqual(await verifyLedger(fixture.store), [])
      const rows = await fixture.store.db.selectFrom('rollups').selectAll().execute()
      for (const account of [key, FRAME_ID]) {
        for (const span of ['hour', 'day']) {
          await plant(sql`span = ${span} AND key_id = ${account} AND model = ${key}`).execute(
            fixture.store.db,
          )
          const found = await verifyLedger(fixture.store)
          await fixture.store.db.deleteFrom('rollups').execute()
          await fixture.store.db.insertInto('rollups').values(rows).execute()
          assert.deepEqual(
            found.map(({ check, account: of }) => [check, of]),
            checks.map((check) => [check, account]),
          )
        }
      }
    })
  }

  // The last ones: from here on, today is summed up.
  it('a day is summed up beside running calls, and what comes later is in its sums', async (fixture) => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => fixture.key(null)))
    const today = Math.floor(systemClock.now() / DAY_MS) * DAY_MS
    const summing = async (): Promise<void> => {
      for (;;) if (!(await sumUpKeyDays(fixture.store, today + DAY_MS))) return
    }
    const asked = ask(keys[0] ?? '', 100)
    const late = granted(await fixture.ledger.reserve(asked))
    const calls = [0, 1, 2].flatMap((turn) =>
      keys.map((key) => spend(fixture.node(turn), ask(key, 10))),
    )
    const [[first]] = await Promise.all([Promise.all(calls), summing(), summing()])
    assert.ok(first)
    await fixture.ledger.settle(settlement(asked, late, { costNanodollars: 3n }))
    await adjustHold(fixture.store, { ...someone, holdId: first.holdId, costNanodollars: 4n })
    assert.deepEqual(await verifyLedger(fixture.store), [])
    const question = { since: today, until: today + DAY_MS, by: ['key'], limit: 1000 } as const
    const { rows } = await reportUsage(fixture.store, question)
    const found = new Map(rows.map((row) => [row.key, row.costNanodollars]))
    assert.deepEqual(
      keys.map((key) => found.get(key)),
      keys.map((_, index) => (index === 0 ? 27n : 30n)),
    )
  })

  for (const [what, plant] of [
    ['counts too much', sql`UPDATE key_days SET cost_nanodollars = cost_nanodollars + 1`],
    ['belongs to another group', sql`UPDATE key_days SET group_id = 'grp_other'`],
    ['is missing', sql`DELETE FROM key_days`],
  ] as const) {
    it(`verification finds a day of a key that ${what}`, async (fixture) => {
      const key = await fixture.key(null)
      await spend(fixture.ledger, ask(key, 10))
      const rows = await fixture.store.db.selectFrom('key_days').selectAll().execute()
      await sql`${plant} WHERE key_id = ${key}`.execute(fixture.store.db)
      const found = await verifyLedger(fixture.store)
      await fixture.store.db.deleteFrom('key_days').execute()
      await fixture.store.db.insertInto('key_days').values(rows).execute()
      assert.ok(found.some(({ check }) => check === 'day_cost'))
      assert.ok(found.every(({ check, account }) => check.startsWith('day_') && account === key))
    })
  }
}

/** How to falsify the rollups that match a condition, and what verification then reports. */
type Plant = readonly [
  what: string,
  plant: (which: RawBuilder<unknown>) => RawBuilder<unknown>,
  checks: readonly string[],
]

function alter(change: string): Plant[1] {
  return (which) => sql`UPDATE rollups SET ${sql.raw(change)} WHERE ${which}`
}
