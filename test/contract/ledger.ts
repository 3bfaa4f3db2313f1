// The contract of every ledger, on any database. `open` returns a fresh one; each case ends by verifying the books,
// because an answer can be right while the books are wrong.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Price } from '../../src/catalog/prices.ts'
import { NO_COST } from '../../src/catalog/worst-case.ts'
import { systemClock } from '../../src/core/clock.ts'
import { NO_USAGE } from '../../src/core/events.ts'
import type { Ask, Ledger, Refused, Reserved, Settlement } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { readLatencies } from '../../src/ledger/reports/latencies.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { setFrame } from '../../src/store/frame.ts'
import { pauseKey, revokeKey, updateKey } from '../../src/store/keys/lifecycle.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import {
  ask,
  granted,
  LedgerFixture,
  refusal,
  settlement,
  spend,
  type Database,
  type It,
  USD,
} from './ledger-fixture.ts'
import { legs, legsWhileOpen } from './ledger-legs.ts'
import { byHand, reports } from './ledger-reports.ts'

export function ledgerContract(name: string, open: () => Promise<Database>, nodes = 3): void {
  describe(`ledger on ${name}`, () => {
    const opened = open()
    const fixture = opened.then((database) => new LedgerFixture(database.store, { nodes }))
    after(async () => {
      await (await fixture).close()
      await (await opened).drop()
    })

    /** Verifies the books after each case. */
    const it: It = (what, run) => {
      test(what, async () => {
        const here = await fixture
        await here.ready
        await run(here)
        assert.deepEqual(await verifyLedger(here.store), [])
      })
    }

    basics(it)
    latencies(it)
    limits(it)
    periods(it)
    several(it)
    trouble(it)
    byHand(it)
    reports(it)
    legs(it)
    legsWhileOpen(it)
  })
}

function basics(it: It): void {
  it('a hold is taken from key and frame, and settled at its cost', async (fixture) => {
    const key = await fixture.key(1000n)
    const frameBefore = await fixture.account('frame')
    const asked = ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    assert.equal(reserved.amountNanodollars, 600n)
    assert.equal(reserved.balances.key.remainingNanodollars, 400n)
    assert.equal((await fixture.account(key)).held_nanodollars, 600n)
    assert.equal(
      (await fixture.account('frame')).held_nanodollars - frameBefore.held_nanodollars,
      600n,
    )

    const settled = await fixture.ledger.settle(
      settlement(asked, reserved, { costNanodollars: 250n }),
    )
    assert.equal(settled.durableIn, 'database')
    assert.equal(settled.costNanodollars, 250n)
    assert.equal(settled.balances?.key.remainingNanodollars, 750n)
    const account = await fixture.account(key)
    assert.deepEqual([account.spent_nanodollars, account.held_nanodollars], [250n, 0n])
    assert.deepEqual(settled.balances, await fixture.ledger.balances(key))
  })

  it('a settlement is stored as a complete row', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 600)
    const price: Price = {
      version: 'test-1',
      rates: { input: 1n, cached: 1n, cacheWriteShort: 1n, cacheWriteLong: 1n, output: 1000n },
      tiers: [],
      fees: { request: 0n, webSearch: null },
    }
    await spend(fixture.ledger, asked, {
      price,
      endUser: 'ann',
      tags: { team: 'a' },
      attempts: [{ target: 'sandbox/m', why: 'only target', outcome: 'ok', durationMs: 12 }],
    })
    const [row] = await fixture.usage(key)
    assert.ok(row)
    assert.deepEqual(
      [row.request_id, row.state, row.status, row.input_tokens, row.output_tokens, row.latency_ms],
      [asked.requestId, 'settled', 200, 4, 6, 13],
    )
    assert.deepEqual([row.price_version, row.end_user, row.tags], ['test-1', 'ann', '{"team":"a"}'])
    const { figures } = await fixture.store.db
      .selectFrom('prices')
      .select('figures')
      .where('version', '=', 'test-1')
      .executeTakeFirstOrThrow()
    assert.match(figures, /"output":"1000"/)
  })

  it('settling again changes nothing, on this node and on another', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 100)
    const reserved = granted(await fixture.ledger.reserve(asked))
    const first = settlement(asked, reserved, { costNanodollars: 40n })
    const again = settlement(asked, reserved, { costNanodollars: 90n })
    const answers = await Promise.all([
      fixture.ledger.settle(first),
      fixture.ledger.settle(again),
      ...fixture.nodes.slice(1).map(async (node) => {
        await fixture.ledger.settle(first)
        return node.settle(again)
      }),
    ])
    for (const answer of answers) assert.equal(answer.costNanodollars, 40n)
    assert.equal((await fixture.account(key)).spent_nanodollars, 40n)
  })

  it('a void frees the hold and leaves a row that cost nothing', async (fixture) => {
    const key = await fixture.key(1000n)
    const reserved = granted(await fixture.ledger.reserve(ask(key, 600)))
    await fixture.ledger.void(reserved.holdId, 'client_gone')
    await fixture.ledger.void(reserved.holdId, 'client_gone')
    const account = await fixture.account(key)
    assert.deepEqual([account.spent_nanodollars, account.held_nanodollars], [0n, 0n])
    const [row] = await fixture.usage(key)
    assert.deepEqual(
      [row?.state, row?.cost_nanodollars, row?.error_code],
      ['voided', 0n, 'client_gone'],
    )
  })

  it('a voided call that cost something after all is charged as an overrun', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    await fixture.ledger.void(reserved.holdId, 'client_gone')
    const settled = await fixture.ledger.settle(
      settlement(asked, reserved, { costNanodollars: 50n }),
    )
    assert.deepEqual([settled.costNanodollars, settled.overrunNanodollars], [50n, 50n])
    assert.equal((await fixture.account(key)).spent_nanodollars, 50n)
  })

  it('a bill above its hold is charged in full and counted as an overrun', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    const settled = await fixture.ledger.settle(
      settlement(asked, reserved, { costNanodollars: 1500n }),
    )
    assert.equal(settled.overrunNanodollars, 900n)
    const account = await fixture.account(key)
    assert.deepEqual([account.spent_nanodollars, account.overrun_nanodollars], [1500n, 900n])
    assert.equal(refusal(await fixture.ledger.reserve(ask(key, 1))).reason, 'budget')
  })

  it('a hold can be trimmed, and extended if there is room', async (fixture) => {
    const key = await fixture.key(1000n)
    const { holdId } = granted(await fixture.ledger.reserve(ask(key, 600)))
    await fixture.ledger.trim(holdId, 200n)
    await fixture.ledger.trim(holdId, 500n)
    assert.equal((await fixture.account(key)).held_nanodollars, 200n)
    assert.equal(await fixture.ledger.extend(holdId, 801n), false)
    assert.equal(await fixture.ledger.extend(holdId, 800n), true)
    assert.equal((await fixture.account(key)).held_nanodollars, 1000n)
    await fixture.ledger.void(holdId, 'test')
  })

  it('tells of each charge and of each refusal for spending', async (fixture) => {
    const key = await fixture.key(1000n)
    const told: unknown[] = []
    const node = await openLedger({
      store: fixture.store,
      ...SAMPLE_PACE,
      onSettled: (accountId, balance) => told.push([accountId, balance?.spentNanodollars]),
      onRefused: ({ keyId }, { requiredNanodollars }) => told.push([keyId, requiredNanodollars]),
    })
    const asked = ask(key, 600)
    const reserved = granted(await node.reserve(asked))
    await node.settle(settlement(asked, reserved, { costNanodollars: 500n }))
    assert.equal(refusal(await node.reserve(ask(key, 600))).reason, 'budget')
    await node.close()
    assert.deepEqual(told, [
      [key, 500n],
      [FRAME_ID, (await fixture.account(FRAME_ID)).spent_nanodollars],
      [key, 600n],
    ])
  })

  it('a dry run answers like reserve and writes nothing', async (fixture) => {
    const key = await fixture.key(1000n)
    assert.equal(granted(await fixture.ledger.dryRun(ask(key, 1000))).amountNanodollars, 1000n)
    assert.equal(refusal(await fixture.ledger.dryRun(ask(key, 1001))).reason, 'budget')
    assert.equal((await fixture.account(key)).held_nanodollars, 0n)
    assert.deepEqual(await fixture.usage(key), [])
  })

  it('free calls pass with nothing left', async (fixture) => {
    const key = await fixture.key(0n)
    const asked = ask(key, 0, { candidates: [NO_COST], endpoint: 'count_tokens' })
    await spend(fixture.ledger, asked)
    assert.equal(refusal(await fixture.ledger.reserve(ask(key, 1))).reason, 'budget')
  })

  it('refusals are counted', async (fixture) => {
    const key = await fixture.key(0n)
    const node = await openLedger({ store: fixture.store, ...SAMPLE_PACE })
    for (const _ of [1, 2, 3]) node.countRefused(ask(key, 1))
    await node.close()
    const rows = await fixture.store.db
      .selectFrom('rollups')
      .select(['span', 'refused', 'requests'])
      .where('key_id', '=', key)
      .orderBy('span')
      .execute()
    assert.deepEqual(rows, [
      { span: 'day', refused: 3, requests: 0 },
      { span: 'hour', refused: 3, requests: 0 },
    ])
  })
}

function latencies(it: It): void {
  it('how long answers take is counted by model', async (fixture) => {
    const key = await fixture.key(null)
    const node = await openLedger({ store: fixture.store, ...SAMPLE_PACE })
    const call = (latencyMs: number, more: Partial<Settlement> = {}) =>
      spend(node, ask(key, 1, { modelAsked: 'timed' }), { latencyMs, firstTokenMs: 10, ...more })
    for (let count = 0; count < 18; count++) await call(100)
    for (let count = 0; count < 2; count++) await call(3000, { firstTokenMs: null })
    await call(9000, { status: 502 })
    await call(9000, { provider: null })
    await node.close()
    const now = systemClock.now()
    const found = await readLatencies(fixture.store, { since: now - 3_600_000, until: now + 1000 })
    // To within a tenth.
    assert.deepEqual(found.get('timed'), {
      whole: { requests: 20, p50: 108, p95: 3158 },
      firstToken: { requests: 18, p50: 10, p95: 10 },
    })
  })
}

function limits(it: It): void {
  it('a key that is paused, revoked, expired or changed grants nothing', async (fixture) => {
    const [paused, revoked, expired, changed] = await Promise.all([
      fixture.key(1000n),
      fixture.key(1000n),
      fixture.key(1000n, { expiresAt: systemClock.now() + 60_000 }),
      fixture.key(1000n),
    ])
    await pauseKey(fixture.store, paused)
    await revokeKey(fixture.store, revoked, 'test')
    await fixture.store.db
      .updateTable('accounts')
      .set({ expires_at: 1 })
      .where('id', '=', expired)
      .execute()
    await updateKey(fixture.store, changed, { addModels: ['n'] })
    const statuses = []
    for (const key of [paused, revoked, expired, changed, 'key_unheard_of']) {
      const answer = refusal(await fixture.ledger.reserve(ask(key, 1)))
      statuses.push(answer.reason === 'key_status' && answer.status)
    }
    // Pausing also makes the request stale; the plainer reason is reported.
    assert.deepEqual(statuses, ['paused', 'revoked', 'expired', 'stale', 'unknown'])
  })

  it('requests per minute are exact across nodes', async (fixture) => {
    const key = await fixture.key(null, { rpm: 20 })
    const asks = Array.from({ length: 60 }, () => ask(key, 1))
    const answers = await Promise.all(asks.map((asked, turn) => fixture.node(turn).reserve(asked)))
    assert.equal(answers.filter((answer) => answer.reserved).length, 20)
    const refused = answers.find((answer) => !answer.reserved)
    assert.ok(refused && !refused.reserved && refused.reason === 'rate')
    assert.equal(refused.limit, 'rpm')
    assert.ok(refused.retryAfterSeconds >= 58 && refused.retryAfterSeconds <= 61)
    assert.equal(refused.balances.requests?.remaining, 0)
  })

  it('tokens per minute count the estimate, then the truth', async (fixture) => {
    const key = await fixture.key(null, { tpm: 1000 })
    const asked = ask(key, 1, { estimatedTokens: 900 })
    const reserved = granted(await fixture.ledger.reserve(asked))
    const second = ask(key, 1, { estimatedTokens: 200 })
    assert.equal(refusal(await fixture.ledger.reserve(second)).reason, 'rate')
    await fixture.ledger.settle(settlement(asked, reserved))
    assert.equal(granted(await fixture.ledger.reserve(second)).balances.tokens?.remaining, 790)
  })

  it('concurrency counts holds on all nodes', async (fixture) => {
    const key = await fixture.key(null, { concurrency: 2 })
    const [one, two] = await Promise.all(
      [0, 1].map((turn) => fixture.node(turn).reserve(ask(key, 1))),
    )
    assert.ok(one && two)
    const answer = refusal(await fixture.ledger.reserve(ask(key, 1)))
    assert.equal(answer.reason === 'rate' && answer.limit, 'concurrency')
    await fixture.ledger.void(granted(one).holdId, 'test')
    granted(await fixture.ledger.reserve(ask(key, 1)))
  })

  it('a lowered limit stops new requests and touches nothing else', async (fixture) => {
    const key = await fixture.key(1000n)
    await spend(fixture.ledger, ask(key, 300))
    const asked = ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    const { allowVersion } = await updateKey(fixture.store, key, { limitNanodollars: 100n })
    const refused = refusal(await fixture.ledger.reserve(ask(key, 1, { allowVersion })))
    assert.equal(refused.reason, 'budget')
    await fixture.ledger.settle(settlement(asked, reserved))
    assert.equal((await fixture.account(key)).spent_nanodollars, 900n)
  })
}

function periods(it: It): void {
  it('a hold belongs to the period it was reserved in', async (fixture) => {
    const key = await fixture.key(1000n, { period: 'day' })
    const asked = ask(key, 900)
    const reserved = granted(await fixture.ledger.reserve(asked))
    const before = await fixture.account(key)
    await fixture.endPeriod(key)

    await spend(fixture.ledger, ask(key, 500))
    const running = await fixture.account(key)
    assert.equal(running.period_seq, before.period_seq + 1)
    assert.deepEqual([running.spent_nanodollars, running.held_nanodollars], [500n, 0n])

    await fixture.ledger.settle(settlement(asked, reserved, { costNanodollars: 700n }))
    const closed = await fixture.store.db
      .selectFrom('account_periods')
      .selectAll()
      .where('account_id', '=', key)
      .execute()
    assert.deepEqual(
      closed.map((period) => [period.seq, period.spent_nanodollars, period.held_nanodollars]),
      [[before.period_seq, 700n, 0n]],
    )
    assert.equal((await fixture.account(key)).spent_nanodollars, 500n)
  })

  it('a period ends at the calendar’s next boundary', async (fixture) => {
    const key = await fixture.key(1000n, { period: 'day', timezone: 'Asia/Kolkata' })
    const { balances } = await spend(fixture.ledger, ask(key, 1))
    const endsAt = balances.key.resetsAt ?? 0
    assert.equal(endsAt % 86_400_000, 18.5 * 3_600_000)
    assert.ok(endsAt > systemClock.now() && endsAt - systemClock.now() <= 86_400_000)
  })

  it('a period that never ends has no reset', async (fixture) => {
    const key = await fixture.key(1000n, { period: 'never' })
    const { balances } = await spend(fixture.ledger, ask(key, 1))
    assert.equal(balances.key.resetsAt, null)
  })
}

/** Asks until the answer is final, like a client that is asked to retry. */
async function persist(ledger: Ledger, asked: Ask): Promise<Reserved | Refused> {
  for (;;) {
    const answer = await ledger.reserve(asked)
    if (answer.reserved || answer.reason !== 'held') return answer
  }
}

function several(it: It): void {
  it('a budget for ten calls answers ten of two hundred made at once on all nodes', async (fixture) => {
    const key = await fixture.key(10_000n)
    const calls = Array.from({ length: 200 }, async (_, index) => {
      const node = fixture.node(index)
      const asked = ask(key, 1000)
      const answer = await persist(node, asked)
      if (answer.reserved) await node.settle(settlement(asked, answer))
      return answer.reserved ? 'answered' : answer.reason
    })
    const results = await Promise.all(calls)
    assert.equal(results.filter((result) => result === 'answered').length, 10)
    assert.equal(results.filter((result) => result === 'budget').length, 190)
    assert.equal((await fixture.account(key)).spent_nanodollars, 10_000n)
  })

  it('the frame limits twenty keys together', async (fixture) => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => fixture.key(null)))
    const frame = await fixture.account('frame')
    await setFrame(fixture.store, {
      limitNanodollars: frame.spent_nanodollars + frame.held_nanodollars + 10_000n,
    })
    const calls = keys.flatMap((key) =>
      Array.from({ length: 5 }, async (_, index) => {
        const node = fixture.node(index)
        const asked = ask(key, 1000)
        const answer = await persist(node, asked)
        if (answer.reserved) await node.settle(settlement(asked, answer))
        return answer.reserved
      }),
    )
    const answered = (await Promise.all(calls)).filter(Boolean).length
    const now = await fixture.account('frame')
    await setFrame(fixture.store, { limitNanodollars: 1_000_000n * USD })
    assert.equal(answered, 10)
    assert.equal(now.spent_nanodollars - frame.spent_nanodollars, 10_000n)
  })

  it('calls cheaper than their worst case use up the budget', async (fixture) => {
    const key = await fixture.key(10_000n)
    const calls = Array.from({ length: 60 }, async (_, index) => {
      const node = fixture.node(index)
      const asked = ask(key, 1000)
      const answer = await persist(node, asked)
      if (answer.reserved) await node.settle(settlement(asked, answer, { costNanodollars: 300n }))
      return answer.reserved
    })
    const answered = (await Promise.all(calls)).filter(Boolean).length
    assert.ok(answered >= (10_000 - 1000) / 300 + 1, `${answered} calls were answered`)
    assert.ok((await fixture.account(key)).spent_nanodollars <= 10_000n)
  })

  it('asks waiting for a hold get what it frees, first come first served', async (fixture) => {
    const key = await fixture.key(1000n)
    const first = granted(await fixture.ledger.reserve(ask(key, 1000)))
    const order: string[] = []
    const waiters = ['second', 'third'].map(async (name) => {
      const answer = granted(await fixture.ledger.reserve(ask(key, 1000)))
      order.push(name)
      assert.ok(answer.waitedMs > 0)
      await fixture.ledger.void(answer.holdId, 'test')
    })
    // Both are waiting once a later item of each has passed through the same writer.
    await fixture.ledger.dryRun(ask(key, 1))
    await fixture.ledger.dryRun(ask(key, 1))
    await fixture.ledger.void(first.holdId, 'test')
    await Promise.all(waiters)
    assert.deepEqual(order, ['second', 'third'])
  })

  it('freed budget goes to a waiting ask, not to one that arrives at that moment', async (fixture) => {
    const key = await fixture.key(1000n)
    let open = granted(await fixture.ledger.reserve(ask(key, 1000)))
    for (let round = 0; round < 5; round++) {
      const waiting = fixture.ledger.reserve(ask(key, 1000))
      // It is waiting once a later item has passed through the same writer.
      await fixture.ledger.dryRun(ask(key, 1))
      const newcomer = new AbortController()
      const [, waited, came] = await Promise.all([
        fixture.ledger.void(open.holdId, 'test'),
        waiting.finally(() => newcomer.abort()),
        fixture.ledger.reserve(ask(key, 1000, { signal: newcomer.signal })),
      ])
      assert.equal(came.reserved, false)
      open = granted(waited)
    }
    await fixture.ledger.void(open.holdId, 'test')
  })
}

function trouble(it: It): void {
  it('text that no database stores does not fail a settlement', async (fixture) => {
    const key = await fixture.key(1000n)
    const odd = 'nul\0 half\ud800 quote\' back\\slash "\u2028'
    await spend(fixture.ledger, ask(key, 10, { modelAsked: 'm' }), {
      endUser: odd,
      modelServed: odd,
      tags: { [odd]: odd },
      attempts: [{ target: odd, why: odd, outcome: odd, durationMs: 1 }],
      errorCode: odd.repeat(1000),
    })
    const [row] = await fixture.usage(key)
    assert.equal(row?.end_user, 'nul half\ufffd quote\' back\\slash "\u2028')
    assert.equal(JSON.parse(row?.attempts ?? '')[0].why, odd)
  })

  it('an invalid figure is refused, and the hold stays', async (fixture) => {
    const key = await fixture.key(null)
    await spend(fixture.ledger, ask(key, 1000))
    const asked = ask(key, 10)
    const reserved = granted(await fixture.ledger.reserve(asked))
    const refuse = (action: Promise<unknown>) => assert.rejects(action, { name: 'AssertionError' })
    for (const costNanodollars of [-1n, 2n ** 53n, 5 as unknown as bigint]) {
      await refuse(fixture.ledger.settle(settlement(asked, reserved, { costNanodollars })))
      await refuse(fixture.ledger.trim(reserved.holdId, costNanodollars))
      await refuse(fixture.ledger.extend(reserved.holdId, costNanodollars))
    }
    for (const name of Object.keys(NO_USAGE)) {
      for (const wrong of [-1, 0.5, NaN, 2 ** 53]) {
        const tokens = { ...NO_USAGE, [name]: wrong }
        await refuse(fixture.ledger.settle(settlement(asked, reserved, { tokens })))
      }
    }
    const account = await fixture.account(key)
    assert.deepEqual([account.spent_nanodollars, account.held_nanodollars], [1000n, 10n])
    await fixture.ledger.settle(settlement(asked, reserved))
  })

  it('an item that the database refuses fails alone', async (fixture) => {
    const key = await fixture.key(null)
    const asks = Array.from({ length: 8 }, () => ask(key, 10))
    const holds = await Promise.all(
      asks.map(async (each) => granted(await fixture.ledger.reserve(each))),
    )
    const settled = await Promise.allSettled(
      holds.map((hold, index) => {
        const asked = asks[index]
        assert.ok(asked)
        const status = index === 3 ? 200.5 : 200
        return fixture.ledger.settle(settlement(asked, hold, { costNanodollars: 5n, status }))
      }),
    )
    assert.deepEqual(
      settled.map((answer) => answer.status),
      holds.map((_, index) => (index === 3 ? 'rejected' : 'fulfilled')),
    )
    const account = await fixture.account(key)
    assert.deepEqual([account.spent_nanodollars, account.held_nanodollars], [35n, 10n])
  })

  it('a hold granted to a client that has left is voided', async (fixture) => {
    const key = await fixture.key(1000n)
    const controller = new AbortController()
    const answer = fixture.ledger.reserve(ask(key, 1000, { signal: controller.signal }))
    controller.abort()
    assert.equal(refusal(await answer).reason, 'abandoned')
    // The void is queued behind the hold, and this ask behind the void.
    granted(await fixture.ledger.reserve(ask(key, 1000)))
  })

  it('settling a hold that never existed is an error', async (fixture) => {
    const key = await fixture.key(1000n)
    const asked = ask(key, 1)
    const reserved = granted(await fixture.ledger.reserve(asked))
    const unknown = { ...settlement(asked, reserved), holdId: 12 }
    await assert.rejects(fixture.ledger.settle(unknown), /not in the books/)
    await fixture.ledger.void(reserved.holdId, 'test')
  })
}
