// A record is carried out as it was decided: every kind of item arrives as it was written, and the books that a replay
// leaves are those that the decision left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleAccount } from '../../../test/samples/ledger-rows.ts'
import { DAY_MS } from '../../core/units.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import type { Batch, Item, Writes } from './batch.ts'
import { decideIn } from './decide.ts'
import { concernedBy, packRecord, recordOf, replay, unpackRecord } from './replay.ts'
import type { JournalRecord } from './replay.ts'
import type { Account, Charge, Hold } from './rows.ts'
import { WorkingSet } from './working-set.ts'

/** More than a number can hold exactly. */
const HUGE = 9_007_199_254_740_993n
const NOW = Date.UTC(2026, 10, 18, 12)
const ON = { keyId: 'key_1', groupId: 'grp_1' }

test('a record arrives as it was written', () => {
  const record: JournalRecord = {
    now: NOW,
    opened: ['key_1', FRAME_ID],
    prices: [{ version: 'v', figures: '{"a":"b"}' }],
    items: [
      { kind: 'settle', charge: charge(3, HUGE) },
      { kind: 'void', ...ON, holdId: 1, reason: 'a "quoted" reason\n' },
      { kind: 'trim', ...ON, holdId: 2, amount: HUGE },
      { kind: 'orphan', keyId: 'key_2', groupId: null, holdId: 4 },
      { kind: 'refused', ...ON, endpoint: 'chat', modelAsked: 'm \u{1F9FE}', count: 3 },
      { kind: 'granted', hold: hold(5, HUGE), limits: [HUGE, null, 7n] },
      { kind: 'extend', ...ON, holdId: 5, extra: 9n, limits: [null, HUGE] },
    ],
  }
  assert.deepEqual(unpackRecord(packRecord(record)), record)
})

test('a replay leaves the books as the decision did, and holds that came and went leave no row', () => {
  const decided = new Books()
  const replayed = new Books()
  const records: JournalRecord[] = []
  for (const [index, items] of [
    [reserve(1, 600), reserve(2, 300), reserve(3, 5000)],
    [{ kind: 'extend', keyId: 'key_1', groupId: null, holdId: 2, extra: 50n }],
    [
      settle(1, 400n),
      reserve(4, 100),
      { kind: 'trim', keyId: 'key_1', groupId: null, holdId: 2, amount: 20n },
    ],
    // The day is over: what was reserved before belongs to it.
    [settle(2, 20n), reserve(5, 900)],
  ].entries()) {
    const record = decided.decide(items as Item[], NOW + index * DAY_THIRD)
    if (record !== undefined) records.push(unpackRecord(packRecord(record)))
  }
  const writes = replayed.replay(records)
  assert.deepEqual(replayed.accounts, decided.accounts)
  assert.deepEqual(
    writes.holdsInserted.map(({ id }) => id),
    [4, 5],
  )
  assert.deepEqual(writes.holdsDeleted, [])
  assert.deepEqual(
    writes.usageInserted.map(({ id, costNanodollars }) => [id, costNanodollars]),
    [
      [1, 400n],
      [2, 20n],
    ],
  )
  assert.equal(writes.closedPeriods.length, 2)
})

test('what was granted is granted, whatever the limits are by now, and under those of then', () => {
  const decided = new Books()
  const record = decided.decide([reserve(1, 900)], NOW)
  assert.ok(record)
  const changed = new Books({ limit: 10n })
  changed.replay([record])
  const [key] = changed.accounts
  assert.deepEqual([key?.held, key?.grantedLimit], [900n, 1000n])
})

test('a period that had begun begins, whatever its end is by now', () => {
  const decided = new Books()
  const before = decided.decide([reserve(1, 300)], NOW)
  const after = decided.decide([settle(1, 300n), reserve(2, 900)], NOW + DAY_MS)
  assert.ok(before && after)
  const changed = new Books()
  changed.replay([before])
  const [key] = changed.accounts
  assert.ok(key)
  // Somebody made it a period that goes on.
  Object.assign(key, { period: 'year', periodEndsAt: NOW + 30 * DAY_MS })
  const { closedPeriods } = changed.replay([after], [1])
  assert.deepEqual([key.periodSeq, key.spent, key.held], [2, 0n, 900n])
  assert.equal(key.periodEndsAt, NOW + 30 * DAY_MS)
  assert.deepEqual(
    closedPeriods.map(({ accountId, seq, spent }) => [accountId, seq, spent]),
    [
      [FRAME_ID, 1, 0n],
      ['key_1', 1, 300n],
    ],
  )
})

test('of a key that the database does not know, nothing is carried out', () => {
  const record = new Books().decide([reserve(1, 900)], NOW)
  assert.ok(record)
  const other = new Books({ id: 'key_9' })
  assert.deepEqual(other.replay([record]).holdsInserted, [])
})

const DAY_THIRD = 8 * 3_600_000

/** A key and the frame. */
class Books {
  readonly accounts: Account[]
  readonly #holds = new Map<number, Hold>()

  constructor(key: Partial<Account> = {}) {
    const opened = { period: 'day', timezone: 'UTC', periodSeq: 0, periodEndsAt: 0 } as const
    this.accounts = [
      sampleAccount({ id: 'key_1', limit: 1000n, ...opened, ...key }),
      sampleAccount({ id: FRAME_ID, limit: 1_000_000n, ...opened }),
    ]
  }

  decide(items: readonly Item[], now: number): JournalRecord | undefined {
    const batch: Batch = { nodeId: 1, items, prices: [], isRetry: false }
    const work = new WorkingSet({
      now,
      accounts: this.accounts,
      holds: [...this.#holds.values()],
      usage: [],
    })
    const { outcomes } = decideIn(work, items)
    this.#holds.clear()
    for (const [id, each] of work.holds) this.#holds.set(id, each)
    return recordOf(batch, outcomes, work)
  }

  /** `known` = the holds that must be in the books for that. */
  replay(records: readonly JournalRecord[], known: readonly number[] = []): Writes {
    const { holdIds } = concernedBy(records)
    assert.deepEqual([...holdIds], known)
    const holds = known.flatMap((id) => this.#holds.get(id) ?? [])
    const work = new WorkingSet({ now: 0, accounts: this.accounts, holds, usage: [] })
    replay(work, records)
    this.#holds.clear()
    for (const [id, each] of work.holds) this.#holds.set(id, each)
    return work.writes()
  }
}

function reserve(holdId: number, outputTokens: number): Item {
  return {
    kind: 'reserve',
    holdId,
    ask: {
      requestId: `req_${holdId}`,
      keyId: 'key_1',
      groupId: null,
      groupVersion: 0,
      allowVersion: 1,
      endpoint: 'chat',
      modelAsked: 'm',
      candidates: [
        {
          fixedPicodollars: 0n,
          outputTokenPicodollars: 1000n,
          outputTokens,
          outputTokensFrom: 'client',
          outputTokensMinimum: outputTokens,
        },
      ],
      whenTight: 'refuse',
      estimatedTokens: 10,
      recounted: true,
    },
  }
}

function settle(holdId: number, costNanodollars: bigint): Item {
  return {
    kind: 'settle',
    charge: { ...charge(holdId, costNanodollars), keyId: 'key_1', groupId: null },
  }
}

function charge(id: number, costNanodollars: bigint): Charge {
  return {
    id,
    requestId: `req_${id}`,
    ...ON,
    endpoint: 'chat',
    modelAsked: 'm',
    modelServed: null,
    provider: 'local',
    status: 200,
    errorCode: null,
    inputTokens: 1,
    cachedTokens: 2,
    cacheWriteTokens: 3,
    cacheWriteLongTokens: 4,
    outputTokens: 5,
    reasoningTokens: 6,
    costNanodollars,
    priceVersion: null,
    estimated: true,
    latencyMs: 12,
    firstTokenMs: null,
    traceId: null,
    endUser: null,
    tags: '{"team":"a"}',
    attempts: '[]',
  }
}

function hold(id: number, heldNanodollars: bigint): Hold {
  return {
    id,
    requestId: `req_${id}`,
    ...ON,
    modelAsked: 'm',
    keyPeriod: 1,
    keyWindow: null,
    modelCap: 2,
    groupPeriod: 3,
    groupWindow: null,
    framePeriod: 4,
    frameWindow: 5,
    heldNanodollars,
    outputTokens: 7,
    capped: true,
    estimatedTokens: 8,
    at: NOW,
    endpoint: 'responses',
  }
}
