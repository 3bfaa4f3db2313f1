// The legs of a request, on any database: every budget above a call bounds it, and is charged for it, whatever becomes of
// key, group and windows in between.
import assert from 'node:assert/strict'
import { systemClock } from '../../src/core/clock.ts'
import type { Ask, Ledger, Refused, Reserved } from '../../src/ledger/ledger.ts'
import { adjustHold, resetSpent, topUp } from '../../src/ledger/nodes/adjustments.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { purgeUsage } from '../../src/ledger/nodes/maintenance.ts'
import { Auditor, verifyLedger, verifyOpenAccounts } from '../../src/ledger/reports/verify.ts'
import type { BudgetAmount, LegsChange } from '../../src/store/accounts/budget-changes.ts'
import { unpackBudgets } from '../../src/store/accounts/budgets.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { setFrame } from '../../src/store/frame.ts'
import { updateKey } from '../../src/store/keys/lifecycle.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { granted, refusal, settlement, type It, type LedgerFixture } from './ledger-fixture.ts'

const perDay = (limitNanodollars: bigint): BudgetAmount => ({ limitNanodollars, period: 'day' })
const perWeek = (limitNanodollars: bigint): BudgetAmount => ({ limitNanodollars, period: 'week' })
const cap = (limitNanodollars: bigint): LegsChange['modelBudgets'] =>
  new Map([['m', perWeek(limitNanodollars)]])

/** Asks until the answer is final, like a client that is asked to retry. */
async function persist(ledger: Ledger, asked: Ask): Promise<Reserved | Refused> {
  for (;;) {
    const answer = await ledger.reserve(asked)
    if (answer.reserved || answer.reason !== 'held') return answer
  }
}

async function spent(
  fixture: LedgerFixture,
  asked: Ask,
  costNanodollars?: bigint,
): Promise<Reserved> {
  const reserved = granted(await fixture.ledger.reserve(asked))
  const cost = costNanodollars ?? reserved.amountNanodollars
  await fixture.ledger.settle(settlement(asked, reserved, { costNanodollars: cost }))
  return reserved
}

export function legs(it: It): void {
  it('a hold is on every leg, and each is charged what it cost', async (fixture) => {
    const group = await fixture.group(5000n, {}, { window: perDay(4000n) })
    const key = await fixture.key(3000n, {
      legs: { groupId: group, window: perDay(2000n), modelBudgets: cap(1000n) },
    })
    await setFrame(fixture.store, { window: perDay(10n ** 15n) })
    const frame = await fixture.budgets('frame')
    const asked = await fixture.ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    assert.equal(reserved.groupId, group)
    assert.deepEqual(await fixture.budgets(key), {
      '': [0n, 600n],
      window: [0n, 600n],
      'model:m': [0n, 600n],
    })
    assert.deepEqual(await fixture.budgets(group), { '': [0n, 600n], window: [0n, 600n] })
    const { balances } = reserved
    assert.deepEqual(
      [
        balances.key,
        balances.keyWindow,
        ...balances.models,
        balances.group,
        balances.groupWindow,
      ].map((leg) => leg?.remainingNanodollars),
      [2400n, 1400n, 400n, 4400n, 3400n],
    )
    const settled = await fixture.ledger.settle(
      settlement(asked, reserved, { costNanodollars: 250n }),
    )
    assert.deepEqual(settled.balances, await fixture.ledger.balances(key))
    assert.deepEqual(await fixture.budgets(key), {
      '': [250n, 0n],
      window: [250n, 0n],
      'model:m': [250n, 0n],
    })
    assert.deepEqual(await fixture.budgets(group), { '': [250n, 0n], window: [250n, 0n] })
    const after = await fixture.budgets('frame')
    assert.equal((after['']?.[0] ?? 0n) - (frame['']?.[0] ?? 0n), 250n)
    assert.deepEqual(after['window'], [250n, 0n])
    const [row] = await fixture.usage(key)
    assert.deepEqual(
      [row?.group_id, row?.key_window, row?.model_cap, row?.group_period, row?.group_window],
      [group, 1, 1, 1, 1],
    )
    const rollups = await fixture.store.db
      .selectFrom('rollups')
      .select(['key_id', 'group_id', 'provider', 'endpoint', 'cost_nanodollars as cost'])
      .where('span', '=', 'day')
      .where('key_id', 'in', [key, group])
      .orderBy('key_id')
      .execute()
    const of = { provider: 'sandbox', endpoint: 'chat' }
    assert.deepEqual(
      rollups.map(({ cost, ...rollup }) => ({ ...rollup, cost: BigInt(cost) })),
      [
        { key_id: group, group_id: '', ...of, cost: 250n },
        { key_id: key, group_id: group, ...of, cost: 250n },
      ],
    )
    await setFrame(fixture.store, { window: null })
  })

  it('a leg that the model has no cap on, and a key outside groups, are not held', async (fixture) => {
    const key = await fixture.key(3000n, { legs: { modelBudgets: cap(0n) } })
    await spent(fixture, await fixture.ask(key, 10, { modelAsked: 'n' }))
    const [row] = await fixture.usage(key)
    assert.deepEqual([row?.group_id, row?.model_cap, row?.key_window], [null, null, null])
  })

  const tight: readonly [string, (fixture: LedgerFixture) => Promise<string>][] = [
    [
      'the second window of a key',
      (fixture) => fixture.key(null, { legs: { window: perDay(5000n) } }),
    ],
    ['a cap for a model', (fixture) => fixture.key(null, { legs: { modelBudgets: cap(5000n) } })],
    [
      'a group',
      async (fixture) => fixture.key(null, { legs: { groupId: await fixture.group(5000n) } }),
    ],
    [
      'the second window of a group',
      async (fixture) => {
        const groupId = await fixture.group(null, {}, { window: perDay(5000n) })
        return fixture.key(90_000n, { legs: { groupId } })
      },
    ],
  ]
  for (const [name, open] of tight) {
    it(`${name} for five calls answers five of forty made at once on all nodes`, async (fixture) => {
      const key = await open(fixture)
      const asks = await Promise.all(Array.from({ length: 40 }, () => fixture.ask(key, 1000)))
      const calls = asks.map(async (asked, index) => {
        const node = fixture.node(index)
        const answer = await persist(node, asked)
        if (answer.reserved) await node.settle(settlement(asked, answer))
        return answer.reserved ? 'answered' : answer.reason
      })
      const results = await Promise.all(calls)
      assert.equal(results.filter((result) => result === 'answered').length, 5)
      assert.equal(results.filter((result) => result === 'budget').length, 35)
    })
  }

  it('the second window of the frame limits all keys', async (fixture) => {
    const keys = [await fixture.key(null), await fixture.key(90_000n)]
    await setFrame(fixture.store, { window: perDay(1000n) })
    await spent(fixture, await fixture.ask(keys[0] ?? '', 700))
    const refused = refusal(await fixture.ledger.reserve(await fixture.ask(keys[1] ?? '', 700)))
    assert.ok('shortage' in refused)
    const { scope, period, spentNanodollars } = refused.shortage
    assert.deepEqual([scope, period, spentNanodollars], ['frame', 'day', 700n])
    await setFrame(fixture.store, { window: null })
  })

  it('what one request may cost bounds its hold and its extensions', async (fixture) => {
    const groupId = await fixture.group(null, {}, { requestCostMaxNanodollars: 800n })
    const key = await fixture.key(null, { legs: { groupId, requestCostMaxNanodollars: 900n } })
    const refused = refusal(await fixture.ledger.reserve(await fixture.ask(key, 801)))
    assert.ok('shortage' in refused)
    assert.deepEqual([refused.shortage.scope, refused.shortage.limitNanodollars], ['request', 800n])
    const capped = granted(
      await fixture.ledger.reserve(await fixture.ask(key, 9000, { whenTight: 'cap' })),
    )
    assert.deepEqual([capped.outputTokens, capped.capped], [800, true])
    await fixture.ledger.trim(capped.holdId, 500n)
    assert.equal(await fixture.ledger.extend(capped.holdId, 301n), false)
    assert.equal(await fixture.ledger.extend(capped.holdId, 300n), true)
    await fixture.ledger.void(capped.holdId, 'test')
  })

  it('of several that refuse, the one that resets latest is named', async (fixture) => {
    const groupId = await fixture.group(100n, { period: 'never' }, { window: perDay(200n) })
    const key = await fixture.key(300n, { legs: { groupId } })
    const refused = refusal(await fixture.ledger.reserve(await fixture.ask(key, 1000)))
    assert.ok('shortage' in refused)
    const { scope, period, resetsAt, also } = refused.shortage
    assert.deepEqual([scope, period, resetsAt], ['group', 'never', null])
    assert.deepEqual(
      also.map((each) => [each.scope, each.period]),
      [
        ['key', 'month'],
        ['group', 'day'],
      ],
    )
  })

  it('rates of a group are exact across its keys and nodes', async (fixture) => {
    const groupId = await fixture.group(null, { rpm: 4, concurrency: 3 })
    const keys = await Promise.all([1, 2, 3].map(() => fixture.key(null, { legs: { groupId } })))
    const asks = await Promise.all(
      Array.from({ length: 12 }, (_, index) => fixture.ask(keys[index % 3] ?? '', 1)),
    )
    const answers = await Promise.all(
      asks.map((asked, index) => fixture.node(index).reserve(asked)),
    )
    const holds = answers.filter((answer) => answer.reserved)
    assert.equal(holds.length, 3)
    const limits = answers.map((answer) => 'limit' in answer && [answer.scope, answer.limit])
    assert.equal(limits.filter(Boolean).length, 9)
    assert.deepEqual(limits.find(Boolean), ['group', 'concurrency'])
    for (const [index, answer] of answers.entries()) {
      if (answer.reserved) await fixture.node(index).void(answer.holdId, 'test')
    }
    granted(await fixture.ledger.reserve(await fixture.ask(keys[0] ?? '', 1)))
    const fifth = refusal(await fixture.ledger.reserve(await fixture.ask(keys[1] ?? '', 1)))
    assert.deepEqual('limit' in fifth && [fifth.scope, fifth.limit], ['group', 'rpm'])
    assert.equal((await fixture.ledger.balances(keys[0] ?? ''))?.groupRates?.requests?.remaining, 0)
  })

  it('a request that knows its group as it no longer is must be judged again', async (fixture) => {
    const [one, other] = [await fixture.group(null), await fixture.group(null)]
    const key = await fixture.key(null, { legs: { groupId: one } })
    const status = async (asked: Ask) => {
      const answer = await fixture.ledger.dryRun(asked)
      return answer.reserved || (answer.reason === 'key_status' && answer.status)
    }
    const asked = await fixture.ask(key, 1)
    assert.equal(await status(asked), true)
    await fixture.changeGroup(one, {})
    assert.equal(await status(asked), 'stale')
    const again = await fixture.ask(key, 1)
    await updateKey(fixture.store, key, { legs: { groupId: other } })
    assert.equal(await status(again), 'stale')
    const { allowVersion } = await fixture.ask(key, 1)
    // Even if only the group differs.
    assert.equal(await status({ ...again, allowVersion }), 'stale')
    await fixture.changeGroup(other, { status: 'archived' })
    assert.equal(await status(await fixture.ask(key, 0)), 'archived')
    await fixture.changeGroup(other, { status: 'active' })
    assert.equal(await status(await fixture.ask(key, 1)), true)
  })

  it('an ask that waits for its group gets what another key frees', async (fixture) => {
    const groupId = await fixture.group(1000n)
    const keys = [1, 2].map(() => fixture.key(null, { legs: { groupId } }))
    const [one = '', other = ''] = await Promise.all(keys)
    const first = granted(await fixture.ledger.reserve(await fixture.ask(one, 1000)))
    const waiting = fixture.ledger.reserve(await fixture.ask(other, 1000))
    // It is waiting once a later item has passed through the same writer.
    await fixture.ledger.dryRun(await fixture.ask(other, 1))
    await fixture.ledger.void(first.holdId, 'test')
    const answer = granted(await waiting)
    assert.ok(answer.waitedMs > 0)
    await fixture.ledger.void(answer.holdId, 'test')
  })

  it('a further budget is topped up and reset by its name', async (fixture) => {
    const accountId = await fixture.key(9000n, {
      legs: { window: perDay(100n), modelBudgets: cap(50n) },
    })
    const why = { accountId, reason: 'a test' }
    await spent(fixture, await fixture.ask(accountId, 50))
    assert.equal(
      refusal(await fixture.ledger.reserve(await fixture.ask(accountId, 50))).reason,
      'budget',
    )
    await topUp(fixture.store, { ...why, budget: 'model:m', amountNanodollars: 25n })
    await spent(fixture, await fixture.ask(accountId, 25))
    await resetSpent(fixture.store, { ...why, budget: 'model:m' })
    await resetSpent(fixture.store, { ...why, budget: 'window' })
    await spent(fixture, await fixture.ask(accountId, 50))
    assert.deepEqual(await fixture.budgets(accountId), {
      '': [125n, 0n],
      window: [50n, 0n],
      'model:m': [50n, 0n],
    })
    const entries = await fixture.store.db
      .selectFrom('ledger_entries')
      .select(['kind', 'budget', 'period_seq'])
      .where('account_id', '=', accountId)
      .orderBy('id')
      .execute()
    assert.deepEqual(entries, [
      { kind: 'top_up', budget: 'model:m', period_seq: 1 },
      { kind: 'reset', budget: 'model:m', period_seq: 1 },
      { kind: 'reset', budget: 'window', period_seq: 1 },
    ])
    await assert.rejects(resetSpent(fixture.store, { ...why, budget: 'model:n' }), {
      code: 'wrong_state',
    })
  })

  it('a group is topped up and reset like a key', async (fixture) => {
    const groupId = await fixture.group(100n)
    const key = await fixture.key(null, { legs: { groupId } })
    const why = { accountId: groupId, reason: 'a test' }
    await spent(fixture, await fixture.ask(key, 100))
    await topUp(fixture.store, { ...why, amountNanodollars: 30n })
    await spent(fixture, await fixture.ask(key, 30))
    await resetSpent(fixture.store, why)
    await spent(fixture, await fixture.ask(key, 100))
    assert.deepEqual(await fixture.budgets(groupId), { '': [100n, 0n] })
  })

  it('a charge that is adjusted, voided or corrected changes on every leg', async (fixture) => {
    const groupId = await fixture.group(null, {}, { window: perDay(9000n) })
    const key = await fixture.key(9000n, {
      legs: { groupId, window: perDay(9000n), modelBudgets: cap(9000n) },
    })
    const { holdId } = await spent(fixture, await fixture.ask(key, 500))
    await adjustHold(fixture.store, { holdId, costNanodollars: 900n, reason: 'a test' })
    const asked = await fixture.ask(key, 70)
    const reserved = granted(await fixture.ledger.reserve(asked))
    await fixture.ledger.void(reserved.holdId, 'test')
    // It had cost something after all.
    await fixture.ledger.settle(settlement(asked, reserved, { costNanodollars: 7n }))
    const legsOfKey = { '': [907n, 0n], window: [907n, 0n], 'model:m': [907n, 0n] }
    assert.deepEqual(await fixture.budgets(key), legsOfKey)
    assert.deepEqual(await fixture.budgets(groupId), { '': [907n, 0n], window: [907n, 0n] })
  })

  it('usage rows that retention deletes still add up on every leg', async (fixture) => {
    const groupId = await fixture.group(null, {}, { window: perDay(9000n) })
    const key = await fixture.key(9000n, {
      legs: { groupId, window: perDay(9000n), modelBudgets: cap(9000n) },
    })
    await spent(fixture, await fixture.ask(key, 500), 600n)
    while (await purgeUsage(fixture.store, systemClock.now() + 1000));
    assert.deepEqual(await fixture.usage(key), [])
    const sums = await fixture.store.db
      .selectFrom('purged_usage')
      .select(['account_id', 'budget'])
      .where('account_id', 'in', [key, groupId])
      .where('cost_nanodollars', '=', 600n)
      .where('overrun_nanodollars', '=', 100n)
      .execute()
    assert.equal(sums.length, 5)
    await spent(fixture, await fixture.ask(key, 10))
  })

  it('what is wrong on any leg is found, by verify and by the audit', async (fixture) => {
    const groupId = await fixture.group(null, {}, { window: perDay(9000n) })
    const key = await fixture.key(9000n, { legs: { groupId, modelBudgets: cap(9000n) } })
    const asked = await fixture.ask(key, 500)
    const reserved = granted(await fixture.ledger.reserve(asked))
    for (const [id, name] of [
      [key, 'model:m'],
      [groupId, 'window'],
    ] as const) {
      const { budgets } = await fixture.account(id)
      const set = (changed: string) =>
        fixture.store.db
          .updateTable('accounts')
          .set({ budgets: changed })
          .where('id', '=', id)
          .execute()
      await set(budgets.replace(/,500,/, ',499,'))
      const account = `${id} (${name})`
      const held = { check: 'held', account, expected: '0.0000005 USD', found: '0.000000499 USD' }
      const [found] = await verifyLedger(fixture.store)
      assert.partialDeepStrictEqual(found, held)
      assert.partialDeepStrictEqual(await verifyOpenAccounts(fixture.store), [held])
      const auditor = new Auditor(fixture.store)
      const audited = []
      for (let round = 0; round < 20; round++) audited.push(...(await auditor.look()).violations)
      assert.partialDeepStrictEqual(audited[0], held)
      await set(budgets)
    }
    await fixture.ledger.settle(settlement(asked, reserved))
  })
}

/** Nothing is lost, whatever is changed while holds are open. */
export function legsWhileOpen(it: It): void {
  it('a moved key settles in the group that it asked in', async (fixture) => {
    const [one, other] = [await fixture.group(1000n), await fixture.group(1000n)]
    const key = await fixture.key(null, { legs: { groupId: one } })
    const asked = await fixture.ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    await updateKey(fixture.store, key, { legs: { groupId: other } })
    assert.equal(await fixture.ledger.extend(reserved.holdId, 100n), true)
    await spent(fixture, await fixture.ask(key, 5))
    await fixture.ledger.settle(settlement(asked, reserved, { costNanodollars: 250n }))
    assert.deepEqual(await fixture.budgets(one), { '': [250n, 0n] })
    assert.deepEqual(await fixture.budgets(other), { '': [5n, 0n] })
    assert.deepEqual((await fixture.account(one)).in_flight, 0)
    await updateKey(fixture.store, key, { legs: { groupId: null } })
    await spent(fixture, await fixture.ask(key, 3))
    assert.deepEqual(await fixture.budgets(other), { '': [5n, 0n] })
  })

  it('a charge to a group that the key has left is told as well', async (fixture) => {
    const [one, other] = [await fixture.group(1000n), await fixture.group(1000n)]
    const key = await fixture.key(null, { legs: { groupId: one } })
    const told: unknown[] = []
    const node = await openLedger({
      store: fixture.store,
      ...SAMPLE_PACE,
      onSettled: (accountId, balance) => told.push([accountId, balance?.spentNanodollars]),
    })
    const asked = await fixture.ask(key, 600)
    const reserved = granted(await node.reserve(asked))
    await updateKey(fixture.store, key, { legs: { groupId: other } })
    await node.settle(settlement(asked, reserved, { costNanodollars: 250n }))
    await node.close()
    assert.deepEqual(told, [
      [key, 250n],
      [FRAME_ID, (await fixture.account(FRAME_ID)).spent_nanodollars],
      [one, undefined],
    ])
  })

  it('a window that is removed keeps what it holds, and comes back as another one', async (fixture) => {
    const key = await fixture.key(9000n, { legs: { window: perDay(1000n) } })
    const asked = await fixture.ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    await updateKey(fixture.store, key, { legs: { window: null } })
    assert.deepEqual(await verifyLedger(fixture.store), [])
    // Its period is over for this hold.
    assert.equal(await fixture.ledger.extend(reserved.holdId, 1n), false)
    await updateKey(fixture.store, key, { legs: { window: perDay(700n) } })
    const second = granted(await fixture.ledger.reserve(await fixture.ask(key, 700)))
    await fixture.ledger.settle(settlement(asked, reserved, { costNanodollars: 400n }))
    assert.deepEqual(await fixture.budgets(key), { '': [400n, 700n], window: [0n, 700n] })
    await fixture.ledger.void(second.holdId, 'test')
    const closed = await fixture.store.db
      .selectFrom('account_periods')
      .select(['budget', 'seq', 'spent_nanodollars', 'held_nanodollars', 'limit_nanodollars'])
      .where('account_id', '=', key)
      .execute()
    assert.deepEqual(closed, [
      {
        budget: 'window',
        seq: 1,
        spent_nanodollars: 400n,
        held_nanodollars: 0n,
        limit_nanodollars: 1000n,
      },
    ])
    const [window] = unpackBudgets((await fixture.account(key)).budgets)
    assert.equal(window?.periodSeq, 2)
  })

  it('a window that is added counts from then on, and not what was held before', async (fixture) => {
    const key = await fixture.key(9000n)
    const asked = await fixture.ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    await updateKey(fixture.store, key, { legs: { window: perDay(100n), modelBudgets: cap(90n) } })
    await spent(fixture, await fixture.ask(key, 90))
    await fixture.ledger.settle(settlement(asked, reserved))
    assert.deepEqual(await fixture.budgets(key), {
      '': [690n, 0n],
      window: [90n, 0n],
      'model:m': [90n, 0n],
    })
  })

  it('an archived group grants nothing, and what runs in it is settled', async (fixture) => {
    const groupId = await fixture.group(1000n)
    const key = await fixture.key(null, { legs: { groupId } })
    const asked = await fixture.ask(key, 600)
    const reserved = granted(await fixture.ledger.reserve(asked))
    await fixture.changeGroup(groupId, { status: 'archived' })
    const refused = refusal(await fixture.ledger.reserve(await fixture.ask(key, 0)))
    assert.deepEqual(refused, { reserved: false, reason: 'key_status', status: 'archived' })
    await fixture.ledger.settle(settlement(asked, reserved))
    assert.deepEqual(await fixture.budgets(groupId), { '': [600n, 0n] })
  })

  it('a window ends by its own calendar, and a hold stays in the period it was reserved in', async (fixture) => {
    const groupId = await fixture.group(null, {}, { window: perDay(1000n) })
    const key = await fixture.key(9000n, { legs: { groupId, modelBudgets: cap(1000n) } })
    const asked = await fixture.ask(key, 900)
    const reserved = granted(await fixture.ledger.reserve(asked))
    await fixture.endBudget(groupId, 'window')
    await fixture.endBudget(key, 'model:m')
    assert.equal((await fixture.ledger.balances(key))?.groupWindow?.heldNanodollars, 0n)
    await spent(fixture, await fixture.ask(key, 500))
    assert.deepEqual((await fixture.budgets(groupId))['window'], [500n, 0n])
    assert.deepEqual(await fixture.budgets(key), { '': [500n, 900n], 'model:m': [500n, 0n] })
    await fixture.ledger.settle(settlement(asked, reserved, { costNanodollars: 700n }))
    assert.deepEqual((await fixture.budgets(groupId))['window'], [500n, 0n])
    const closed = await fixture.store.db
      .selectFrom('account_periods')
      .select(['budget', 'seq', 'spent_nanodollars'])
      .where('account_id', 'in', [key, groupId])
      .orderBy('budget')
      .execute()
    assert.deepEqual(closed, [
      { budget: 'model:m', seq: 1, spent_nanodollars: 700n },
      { budget: 'window', seq: 1, spent_nanodollars: 700n },
    ])
  })

  it('a new amount changes the limit alone, a new calendar the end', async (fixture) => {
    const key = await fixture.key(9000n, { legs: { window: perDay(1000n) } })
    await spent(fixture, await fixture.ask(key, 600))
    const windowOf = async () => unpackBudgets((await fixture.account(key)).budgets)[0]
    const before = await windowOf()
    await updateKey(fixture.store, key, { legs: { window: perDay(2000n) } })
    assert.deepEqual(await windowOf(), { ...before, limit: 2000n })
    await updateKey(fixture.store, key, { timezone: 'Asia/Kolkata' })
    const moved = await windowOf()
    assert.equal((moved?.periodEndsAt ?? 0) % 86_400_000, 18.5 * 3_600_000)
    assert.deepEqual([moved?.spent, moved?.periodSeq], [600n, before?.periodSeq])
  })

  it('what no budget can be is refused, with the field', async (fixture) => {
    const archived = await fixture.group(null, { status: 'archived' })
    const key = await fixture.key(1000n, { period: 'month' })
    const refused: readonly [LegsChange, string][] = [
      [{ window: { limitNanodollars: 1n, period: 'month' } }, 'window'],
      [{ window: perDay(-1n) }, 'window'],
      [{ modelBudgets: cap(10n ** 18n) }, 'model_budgets'],
      [
        { modelBudgets: new Map(Array.from({ length: 51 }, (_, at) => [`m${at}`, perDay(1n)])) },
        'model_budgets',
      ],
      [{ requestCostMaxNanodollars: 0n }, 'request_cost_max'],
      [{ groupId: 'grp_unheard_of' }, 'group'],
      [{ groupId: key }, 'group'],
      [{ groupId: archived }, 'group'],
    ]
    for (const [change, field] of refused) {
      await assert.rejects(updateKey(fixture.store, key, { legs: change }), {
        code: 'invalid_value',
        field,
      })
    }
    assert.equal((await fixture.account(key)).budgets, '')
    await updateKey(fixture.store, key, { legs: { window: perDay(1n) } })
    await assert.rejects(updateKey(fixture.store, key, { period: 'day' }), {
      code: 'invalid_value',
    })
  })
}
