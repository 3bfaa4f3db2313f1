// Every rule about budgets, rates and the key itself, one case each, against accounts as they stand.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { NO_COST, type WorstCase } from '../catalog/tokens.ts'
import type { Account, PlainAsk } from './books.ts'
import { judge } from './judge.ts'
import { SAMPLE_ASK, sampleAccount } from './sample-books.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
/** One token costs one nano-dollar, so that amounts and tokens read alike. */
const PICO = 1000n

function account(changes: Partial<Account>): Account {
  return sampleAccount({ limit: 100_000n, period: 'month', periodEndsAt: NOW + 1, ...changes })
}

/** Input that costs 1,000 and output of 20,000, of which at least 256 are wanted. */
function ask(changes: Partial<PlainAsk> = {}, worst: Partial<WorstCase> = {}): PlainAsk {
  return {
    ...SAMPLE_ASK,
    worstCase: {
      fixedPicodollars: 1000n * PICO,
      outputTokenPicodollars: PICO,
      outputTokens: 20_000,
      outputTokensFrom: 'client',
      outputTokensMinimum: 256,
      ...worst,
    },
    estimatedTokens: 1000,
    ...changes,
  }
}

const wealthy = account({ id: 'frame', limit: 1_000_000_000n })

describe('budgets', () => {
  type Case = {
    readonly name: string
    readonly key: Partial<Account>
    readonly frame?: Partial<Account>
    readonly ask?: PlainAsk
    readonly granted?: number
    readonly refused?: string
  }
  const cases: readonly Case[] = [
    { name: 'an ask that fits is granted whole', key: {}, granted: 20_000 },
    { name: 'an ask may use the last nano-dollar', key: { spent: 79_000n }, granted: 20_000 },
    { name: 'holds count as spending', key: { spent: 70_000n, held: 9_000n }, granted: 20_000 },
    { name: 'a top-up counts', key: { spent: 100_000n, topUp: 21_000n }, granted: 20_000 },
    {
      name: 'a key without a limit is bound by the frame alone',
      key: { limit: null },
      granted: 20_000,
    },
    {
      name: 'a bound from bytes is recounted before the output is capped',
      key: { spent: 79_001n },
      ask: ask({ recounted: false }),
      refused: 'recount',
    },
    {
      name: 'no recount is requested if the key has nothing left',
      key: { spent: 100_000n },
      ask: ask({ recounted: false }),
      refused: 'budget key',
    },
    {
      name: 'no recount is requested if the frame has nothing left',
      key: {},
      frame: { limit: 50_000n, spent: 50_001n },
      ask: ask({ recounted: false }),
      refused: 'budget frame',
    },
    { name: 'spending caps the output', key: { spent: 79_001n }, granted: 19_999 },
    { name: 'spending caps the output down to the minimum', key: { spent: 98_744n }, granted: 256 },
    {
      name: 'spending never caps the output below the minimum',
      key: { spent: 98_745n },
      refused: 'budget key',
    },
    {
      name: 'reasoning raises the minimum',
      key: { spent: 95_000n },
      ask: ask({}, { outputTokensMinimum: 4096 }),
      refused: 'budget key',
    },
    {
      name: 'a key that accepts no caps is refused',
      key: { spent: 79_001n },
      ask: ask({ whenTight: 'refuse' }),
      refused: 'budget key',
    },
    {
      name: 'a small output limit of the client is never capped',
      key: { spent: 98_901n },
      ask: ask({}, { outputTokens: 100 }),
      refused: 'budget key',
    },
    {
      name: 'holds cap the output down to an ample answer',
      key: { spent: 10_000n, held: 80_000n },
      granted: 9000,
    },
    {
      name: 'holds never cap the output below an ample answer',
      key: { spent: 10_000n, held: 85_000n },
      refused: 'held key',
    },
    {
      name: 'holds cap nothing for a key that accepts no caps',
      key: { spent: 10_000n, held: 80_000n },
      ask: ask({ whenTight: 'refuse' }),
      refused: 'held key',
    },
    {
      name: 'waiting helps when holds take the small answer that spending leaves',
      key: { spent: 90_000n, held: 10_000n },
      refused: 'held key',
    },
    {
      name: 'the frame refuses what the key could pay',
      key: {},
      frame: { limit: 50_000n, spent: 50_000n },
      refused: 'budget frame',
    },
    {
      name: 'the frame caps too',
      key: {},
      frame: { limit: 50_000n, spent: 40_000n },
      granted: 9000,
    },
    {
      name: 'a refusal names the account that refused, not one that only capped',
      key: { spent: 90_000n },
      frame: { limit: 50_000n, spent: 50_000n },
      refused: 'budget frame',
    },
    {
      name: 'a refusal does not name an account with just enough left',
      key: { spent: 98_744n },
      frame: { limit: 50_000n, spent: 50_000n },
      refused: 'budget frame',
    },
    { name: 'a lowered limit refuses', key: { limit: 10n, spent: 100n }, refused: 'budget key' },
    {
      name: 'free calls pass even with a limit below spent',
      key: { limit: 10n, spent: 100n },
      ask: ask({ worstCase: NO_COST }),
      granted: 0,
    },
    {
      name: 'input alone is refused if it costs too much',
      key: { spent: 99_500n },
      ask: ask({}, { outputTokens: 0, outputTokenPicodollars: 0n, outputTokensMinimum: 0 }),
      refused: 'budget key',
    },
    {
      name: 'input alone waits if only holds stand in its way',
      key: { held: 99_500n },
      ask: ask({}, { outputTokens: 0, outputTokenPicodollars: 0n, outputTokensMinimum: 0 }),
      refused: 'held key',
    },
  ]
  for (const { name, key, frame, ask: asked, granted, refused } of cases) {
    test(name, () => {
      const legs = { key: account(key), frame: { ...wealthy, ...frame } }
      const verdict = judge(asked ?? ask(), legs, NOW)
      if (verdict.reserved) {
        assert.equal(verdict.outputTokens, granted)
      } else {
        const scope = 'shortage' in verdict ? ` ${verdict.shortage.scope}` : ''
        assert.equal(`${verdict.reason}${scope}`, refused)
      }
    })
  }

  test('a grant holds what it may cost, capped or not', () => {
    for (const [spent, outputTokens, capped] of [
      [79_000n, 20_000, false],
      [79_001n, 19_999, true],
    ] as const) {
      const verdict = judge(ask(), { key: account({ spent }), frame: wealthy }, NOW)
      const amountNanodollars = 1000n + BigInt(outputTokens)
      assert.deepEqual(verdict, { reserved: true, amountNanodollars, outputTokens, capped })
    }
  })

  test('a default output is not reduced if it is free or nothing limits it', () => {
    const output = { outputTokens: 60_000, outputTokensFrom: 'default' } as const
    const free = ask({}, { ...output, outputTokenPicodollars: 0n })
    const unlimited = { key: account({ limit: null }), frame: { ...wealthy, limit: null } }
    for (const [asked, legs] of [
      [free, { key: account({}), frame: wealthy }],
      [ask({}, output), unlimited],
    ] as const) {
      const verdict = judge(asked, legs, NOW)
      assert.deepEqual(verdict.reserved && verdict.outputTokens, 60_000)
    }
  })

  test('a default output takes an eighth of what remains, and at least 4,096 tokens', () => {
    const open = ask({}, { outputTokens: 60_000, outputTokensFrom: 'default' })
    const outputs = [0n, 60_000n, 90_000n].map((spent) => {
      const verdict = judge(open, { key: account({ spent }), frame: wealthy }, NOW)
      return verdict.reserved && [verdict.outputTokens, verdict.capped]
    })
    assert.deepEqual(outputs, [
      [12_500, false],
      [5000, false],
      [4096, false],
    ])
  })

  test('a refusal reports the figures and the affordable output', () => {
    const key = account({ spent: 99_900n - 1000n, held: 10n })
    const verdict = judge(ask(), { key, frame: wealthy }, NOW)
    assert.deepEqual(verdict, {
      reserved: false,
      reason: 'budget',
      shortage: {
        scope: 'key',
        limitNanodollars: 100_000n,
        spentNanodollars: 98_900n,
        heldNanodollars: 10n,
        requiredNanodollars: 21_000n,
        affordableOutputTokens: 90,
        resetsAt: NOW + 1,
      },
    })
  })

  test('a refusal names no affordable output if not one token could be paid', () => {
    for (const [spent, affordable] of [
      [98_999n, 1],
      [99_000n, null],
      [99_001n, null],
    ] as const) {
      const verdict = judge(ask(), { key: account({ spent }), frame: wealthy }, NOW)
      assert.ok('shortage' in verdict)
      assert.equal(verdict.shortage.affordableOutputTokens, affordable)
    }
  })
})

describe('status and rates of the key', () => {
  const cases: readonly [Partial<Account>, string][] = [
    [{ status: 'paused' }, 'paused'],
    [{ status: 'revoked' }, 'revoked'],
    [{ status: 'of a later version' }, 'unknown'],
    [{ expiresAt: NOW }, 'expired'],
    [{ allowVersion: 2 }, 'stale'],
  ]
  for (const [changes, status] of cases) {
    test(`${status} refuses even a free call`, () => {
      const legs = { key: account(changes), frame: wealthy }
      const verdict = judge(ask({ worstCase: NO_COST }), legs, NOW)
      assert.deepEqual(verdict, { reserved: false, reason: 'key_status', status })
    })
  }

  test('a key works until the moment it expires', () => {
    const legs = { key: account({ expiresAt: NOW + 1 }), frame: wealthy }
    assert.equal(judge(ask(), legs, NOW).reserved, true)
  })

  test('concurrency counts open holds', () => {
    const at = (inFlight: number) =>
      judge(ask(), { key: account({ concurrency: 2, inFlight }), frame: wealthy }, NOW)
    assert.equal(at(1).reserved, true)
    assert.deepEqual(at(2), {
      reserved: false,
      reason: 'rate',
      limit: 'concurrency',
      retryAfterSeconds: 1,
    })
  })

  test('rates are judged before budgets', () => {
    const key = account({ rpm: 0, spent: 100_000n })
    const verdict = judge(ask(), { key, frame: wealthy }, NOW)
    assert.equal(!verdict.reserved && verdict.reason, 'rate')
  })
})
