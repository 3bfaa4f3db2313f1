// Whatever crosses to the database's thread arrives as it was sent: every kind, in its order, to the last nano-dollar.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deserialize, serialize } from 'node:v8'
import { sampleBalances } from '../../../test/samples/ledger-rows.ts'
import { NO_COST, type WorstCase } from '../../catalog/worst-case.ts'
import type { Balance, Balances, Grant } from '../ledger.ts'
import type { Batch, BatchResult, Item, Outcome } from '../rules/batch.ts'
import type { Charge } from '../rules/rows.ts'
import { packBatch, packResult, unpackBatch, unpackResult } from './runner.ts'

/** More than a number can hold exactly. */
const HUGE = 9_007_199_254_740_993n

const NOTE = { entryId: 'entry_1', actor: 'ann@example.com', reason: 'a "quoted" reason\n' }

const ITEMS: readonly Item[] = [
  { kind: 'void', keyId: 'key_1', groupId: 'grp_1', holdId: 1, reason: 'abandoned' },
  reserve(HUGE),
  { kind: 'top-up', keyId: 'key_2', budget: 'window', amount: HUGE, note: NOTE },
  settle(11_150n),
  { kind: 'reset', keyId: 'key_2', budget: '', note: NOTE },
  settle(HUGE, {
    modelServed: 'served',
    provider: 'local',
    errorCode: null,
    priceVersion: 'price_1',
    firstTokenMs: 7,
    endUser: 'a user',
    groupId: 'grp_1',
  }),
  reserve(0n),
  reserve(1n, { ...NO_COST, fixedPicodollars: HUGE, outputTokens: 7 }, NO_COST),
  { kind: 'refused', keyId: 'key_3', groupId: null, endpoint: 'chat', modelAsked: 'm', count: 3 },
]

test('a batch arrives as it was sent', () => {
  const batch: Batch = {
    nodeId: null,
    items: ITEMS,
    prices: [{ version: 'v', figures: '{}' }],
    isRetry: true,
  }
  assert.deepEqual(unpackBatch(cloned(packBatch(batch))), batch)
})

const OUTCOMES: readonly Outcome[] = [
  { kind: 'judged', answer: { reserved: false, reason: 'recount', isFirstFit: true } },
  granted(HUGE),
  { kind: 'settled', found: 'open', cost: HUGE, overrun: 0n },
  { kind: 'changed', done: true },
  granted(7n),
  granted(8n, ['budget', { outputTokens: 7, capped: true }, 'held']),
  { kind: 'settled', found: 'unknown', cost: 0n, overrun: HUGE },
]

test('a result arrives as it was sent', () => {
  const balances = new Map<string, Balances>([
    ['key_1', balancesOf({ limit: null, remaining: null })],
    ['key_2', balancesOf({ limit: HUGE, remaining: 0n })],
    ['key_3', { ...balancesOf({ limit: 5n, remaining: 5n }), ...more() }],
  ])
  const result: BatchResult = { live: true, outcomes: OUTCOMES, balances }
  assert.deepEqual(unpackResult(cloned(packResult(result))), result)
})

test('a result without balances and that of a node declared dead arrive as they were sent', () => {
  const empty: BatchResult = { live: true, outcomes: [], balances: new Map() }
  assert.deepEqual(unpackResult(cloned(packResult(empty))), empty)
  assert.deepEqual(unpackResult(cloned(packResult({ live: false }))), { live: false })
})

/** As the other thread receives it. */
function cloned<Message>(message: Message): Message {
  return deserialize(serialize(message)) as Message
}

function reserve(fixedPicodollars: bigint, ...more: readonly WorstCase[]): Item {
  return {
    kind: 'reserve',
    holdId: 2 ** 52,
    ask: {
      requestId: 'req_1',
      keyId: 'key_1',
      groupId: more.length > 0 ? 'grp_1' : null,
      groupVersion: more.length,
      allowVersion: 3,
      endpoint: 'chat',
      modelAsked: 'a model, "quoted", with \u{1F9FE}',
      candidates: [
        {
          fixedPicodollars,
          outputTokenPicodollars: 400_000n,
          outputTokens: 256,
          outputTokensFrom: 'default',
          outputTokensMinimum: 128,
        },
        ...more,
      ],
      isLastTry: more.length > 0,
      whenTight: 'cap',
      estimatedTokens: 1_200,
      recounted: false,
    },
  }
}

function settle(costNanodollars: bigint, more: Partial<Charge> = {}): Item {
  return {
    kind: 'settle',
    charge: {
      id: 3,
      requestId: 'req_2',
      keyId: 'key_2',
      groupId: null,
      endpoint: 'messages',
      modelAsked: 'm',
      modelServed: null,
      provider: null,
      status: 499,
      errorCode: 'client_gone',
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
      ...more,
    },
  }
}

function granted(amountNanodollars: bigint, grants?: readonly Grant[]): Outcome {
  const answer = {
    reserved: true,
    holdId: 5,
    amountNanodollars,
    outputTokens: 9,
    capped: true,
  } as const
  return { kind: 'judged', answer: grants === undefined ? answer : { ...answer, grants } }
}

const BALANCE: Balance = {
  period: 'month',
  limitNanodollars: 1n,
  spentNanodollars: HUGE,
  heldNanodollars: 2n,
  remainingNanodollars: 1n,
  startsAt: 3,
  resetsAt: 5,
}

function balancesOf(key: { limit: bigint | null; remaining: bigint | null }): Balances {
  return sampleBalances({
    key: {
      ...BALANCE,
      limitNanodollars: key.limit,
      remainingNanodollars: key.remaining,
      resetsAt: null,
    },
    frame: BALANCE,
    frameWindow: { ...BALANCE, period: 'day' },
    requests: { limit: 60, remaining: 59, resetsAt: 1_790_000_000_000 },
    tokens: null,
    concurrency: { limit: null, inFlight: 4 },
  })
}

/** What only some keys have. */
function more(): Partial<Balances> {
  return {
    keyWindow: { ...BALANCE, period: 'week' },
    models: [{ ...BALANCE, model: 'a "model"', period: 'never', resetsAt: null }],
    groupId: 'grp_1',
    group: { ...BALANCE, spentNanodollars: 7n },
    groupWindow: { ...BALANCE, heldNanodollars: HUGE },
    groupRates: { requests: null, tokens: null, concurrency: { limit: 3, inFlight: 1 } },
  }
}
