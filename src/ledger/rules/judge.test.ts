// Every rule about budgets, rates and the key itself, one case each, against accounts as they stand.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SAMPLE_ASK, sampleAccount, sampleLegs } from '../../../test/samples/ledger-rows.ts'
import { NO_COST, type WorstCase } from '../../catalog/worst-case.ts'
import type { FurtherBudget } from '../../store/accounts/budgets.ts'
import type { Grant } from '../ledger.ts'
import type { CheckedAsk } from './batch.ts'
import { grantsWithin, judge, mayExtend, type Legs } from './judge.ts'
import type { Account } from './rows.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
/** One token costs one nano-dollar, so that amounts and tokens read alike. */
const PICO = 1000n

function account(changes: Partial<Account>): Account {
  return sampleAccount({ limit: 100_000n, period: 'month', periodEndsAt: NOW + 1, ...changes })
}

/** Input that costs 1,000 and output of 20,000, of which at least 256 are wanted. */
function ask(changes: Partial<CheckedAsk> = {}, worst: Partial<WorstCase> = {}): CheckedAsk {
  return {
    ...SAMPLE_ASK,
    candidates: [
      {
        fixedPicodollars: 1000n * PICO,
        outputTokenPicodollars: PICO,
        outputTokens: 20_000,
        outputTokensFrom: 'client',
        outputTokensMinimum: 256,
        ...worst,
      },
    ],
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
    readonly ask?: CheckedAsk
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
      ask: ask({ candidates: [NO_COST] }),
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
      const legs = sampleLegs({ key: account(key), frame: { ...wealthy, ...frame } })
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
      const verdict = judge(ask(), sampleLegs({ key: account({ spent }), frame: wealthy }), NOW)
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
      const verdict = judge(asked, sampleLegs(legs), NOW)
      assert.deepEqual(verdict.reserved && verdict.outputTokens, 60_000)
    }
  })

  test('a default output takes an eighth of what remains, and at least 4,096 tokens', () => {
    const open = ask({}, { outputTokens: 60_000, outputTokensFrom: 'default' })
    const outputs = [0n, 60_000n, 90_000n].map((spent) => {
      const verdict = judge(open, sampleLegs({ key: account({ spent }), frame: wealthy }), NOW)
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
    const verdict = judge(ask(), sampleLegs({ key, frame: wealthy }), NOW)
    assert.deepEqual(verdict, {
      reserved: false,
      reason: 'budget',
      shortage: {
        candidate: 0,
        scope: 'key',
        period: 'month',
        limitNanodollars: 100_000n,
        spentNanodollars: 98_900n,
        heldNanodollars: 10n,
        requiredNanodollars: 21_000n,
        affordableOutputTokens: 90,
        resetsAt: NOW + 1,
        also: [],
      },
    })
  })

  test('a refusal names no affordable output if not one token could be paid', () => {
    for (const [spent, affordable] of [
      [98_999n, 1],
      [99_000n, null],
      [99_001n, null],
    ] as const) {
      const verdict = judge(ask(), sampleLegs({ key: account({ spent }), frame: wealthy }), NOW)
      assert.ok('shortage' in verdict)
      assert.equal(verdict.shortage.affordableOutputTokens, affordable)
    }
  })
})

/** Targets are judged each by itself, in order. Each costs 1,000 for the input and so much per token of 10,000. */
describe('several targets', () => {
  const targets = (...prices: readonly bigint[]): Pick<CheckedAsk, 'candidates'> => ({
    candidates: prices.flatMap(
      (price) => ask({}, { outputTokenPicodollars: price * PICO, outputTokens: 10_000 }).candidates,
    ),
  })
  const whole = { outputTokens: 10_000, capped: false }
  const judged = (asked: CheckedAsk, key: Partial<Account>, frame: Partial<Account> = {}) =>
    judge(asked, sampleLegs({ key: account(key), frame: { ...wealthy, ...frame } }), NOW)

  type Case = {
    readonly name: string
    readonly prices: readonly bigint[]
    readonly key: Partial<Account>
    readonly more?: Partial<CheckedAsk>
    readonly grants?: readonly Grant[]
    readonly held?: bigint
    readonly refused?: readonly [reason: string, candidate: number, required: bigint]
  }
  const refuse = { whenTight: 'refuse' } as const
  const cases: readonly Case[] = [
    {
      name: 'all that fit are kept, and the dearest is held',
      prices: [1n, 9n, 2n],
      key: {},
      grants: [whole, whole, whole],
      held: 91_000n,
    },
    {
      name: 'a first target that spending keeps out is skipped',
      prices: [10n, 2n, 1n],
      key: { spent: 50_000n },
      more: refuse,
      grants: ['budget', whole, whole],
      held: 21_000n,
    },
    {
      name: 'a later target that spending keeps out is skipped',
      prices: [1n, 10n],
      key: { spent: 50_000n },
      more: refuse,
      grants: [whole, 'budget'],
      held: 11_000n,
    },
    {
      name: 'the same target with its output lowered comes before the next',
      prices: [10n, 1n],
      key: { spent: 50_000n },
      grants: [{ outputTokens: 4_900, capped: true }, whole],
      held: 50_000n,
    },
    {
      name: 'an output is not lowered below the minimum, and the target is skipped',
      prices: [200n, 2n],
      key: { spent: 50_000n },
      grants: ['budget', whole],
      held: 21_000n,
    },
    {
      name: 'a first target that only holds keep out is waited for',
      prices: [9n, 1n],
      key: { held: 50_000n },
      more: refuse,
      refused: ['held', 0, 91_000n],
    },
    {
      name: 'a skipped target is not waited for',
      prices: [11n, 9n, 1n],
      key: { held: 50_000n },
      more: refuse,
      refused: ['held', 1, 91_000n],
    },
    {
      name: 'nothing waits for a later target while an earlier one fits',
      prices: [1n, 9n],
      key: { held: 50_000n },
      more: refuse,
      grants: [whole, 'held'],
      held: 11_000n,
    },
    {
      name: 'on the last try, a later target takes the place of the one that was waited for',
      prices: [9n, 1n],
      key: { held: 50_000n },
      more: { ...refuse, isLastTry: true },
      grants: ['held', whole],
      held: 11_000n,
    },
    {
      name: 'on the last try, holds are named as long as they are in the way of any target',
      prices: [11n, 9n],
      key: { held: 50_000n },
      more: { ...refuse, isLastTry: true },
      refused: ['held', 1, 91_000n],
    },
    {
      name: 'if none fits, the cheapest is named with what it would have cost',
      prices: [9n, 7n, 8n],
      key: { spent: 99_000n },
      refused: ['budget', 1, 71_000n],
    },
    {
      name: 'a bound from bytes is recounted as long as any target does not fit whole',
      prices: [1n, 20n],
      key: {},
      more: { recounted: false },
      refused: ['recount', 0, 0n],
    },
  ]
  for (const { name, prices, key, more, grants, held, refused } of cases) {
    test(name, () => {
      const verdict = judged({ ...ask(), ...targets(...prices), ...more }, key)
      if (verdict.reserved) {
        assert.deepEqual([verdict.grants, verdict.amountNanodollars], [grants, held])
        const first = verdict.grants?.find((grant) => typeof grant !== 'string')
        const { outputTokens, capped } = verdict
        assert.deepEqual({ outputTokens, capped }, first)
      } else {
        const { candidate, requiredNanodollars } =
          'shortage' in verdict ? verdict.shortage : { candidate: 0, requiredNanodollars: 0n }
        assert.deepEqual([verdict.reason, candidate, requiredNanodollars], refused)
      }
    })
  }

  test('a recount says whether the first target already fits', () => {
    const first = (...prices: readonly bigint[]) => {
      const verdict = judged({ ...ask({ recounted: false }), ...targets(...prices) }, {})
      return 'isFirstFit' in verdict && verdict.isFirstFit
    }
    assert.deepEqual([first(1n, 20n), first(20n, 1n)], [true, false])
  })

  test('a free target is kept when everything is spent', () => {
    const asked = { ...ask(), candidates: [...targets(1n).candidates, NO_COST] }
    const verdict = judged(asked, { spent: 100_000n })
    assert.ok(verdict.reserved)
    const { grants, amountNanodollars } = verdict
    assert.deepEqual(
      [grants, amountNanodollars],
      [['budget', { outputTokens: 0, capped: false }], 0n],
    )
  })

  test('whatever the prices and the room, the hold pays for every target that is kept', () => {
    const worst = fc.record({
      fixedPicodollars: fc.bigInt({ min: 0n, max: 60_000n * PICO }),
      outputTokenPicodollars: fc.bigInt({ min: 0n, max: 9n * PICO }),
      outputTokens: fc.integer({ min: 0, max: 20_000 }),
      outputTokensFrom: fc.constantFrom('client', 'default'),
      outputTokensMinimum: fc.constantFrom(0, 256, 4_096),
    })
    const amount = fc.bigInt({ min: 0n, max: 110_000n })
    const question = fc.record({
      candidates: fc.array(worst, { minLength: 2, maxLength: 5 }),
      whenTight: fc.constantFrom('cap', 'refuse'),
      isLastTry: fc.boolean(),
    })
    fc.assert(
      fc.property(question, fc.tuple(amount, amount, amount), (asked, [spent, held, other]) => {
        const frame = account({ id: 'frame', spent: other, held })
        const legs = sampleLegs({ key: account({ spent, held }), frame })
        const verdict = judge({ ...ask(), ...asked }, legs, NOW)
        const alone = asked.candidates.map((one) =>
          judge({ ...ask(), ...asked, candidates: [one] }, legs, NOW),
        )
        // Each target is judged as if it were the only one.
        const expected = alone.map((each): Grant => {
          if (each.reserved) return { outputTokens: each.outputTokens, capped: each.capped }
          assert.ok(each.reason === 'budget' || each.reason === 'held')
          return each.reason
        })
        const amounts = alone.flatMap((each) => (each.reserved ? [each.amountNanodollars] : []))
        const first = expected.find((grant) => grant !== 'budget')
        if (verdict.reserved) {
          assert.deepEqual(verdict.grants, expected)
          assert.ok(amounts.includes(verdict.amountNanodollars))
          assert.ok(amounts.every((each) => each <= verdict.amountNanodollars))
          assert.ok(asked.isLastTry || first !== 'held')
        } else {
          const reason = first === undefined ? 'budget' : 'held'
          assert.equal(verdict.reason, reason)
          assert.ok(amounts.length === 0 || (!asked.isLastTry && first === 'held'))
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('a hold that was granted before is never exceeded by the grants it is taken to pay for', () => {
    const asked = { ...ask(), ...targets(10n, 1n, 30n) }
    const verdict = judged(asked, { spent: 50_000n })
    assert.ok(verdict.reserved)
    const { amountNanodollars: heldNanodollars, outputTokens, capped } = verdict
    const grants = grantsWithin(asked, { heldNanodollars, outputTokens, capped })
    assert.deepEqual(grants, [
      { outputTokens: 4_900, capped: true },
      { outputTokens: 4_900, capped: true },
      { outputTokens: 1_633, capped: true },
    ])
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
      const legs = sampleLegs({ key: account(changes), frame: wealthy })
      const verdict = judge(ask({ candidates: [NO_COST] }), legs, NOW)
      assert.deepEqual(verdict, { reserved: false, reason: 'key_status', status })
    })
  }

  test('a key works until the moment it expires', () => {
    const legs = sampleLegs({ key: account({ expiresAt: NOW + 1 }), frame: wealthy })
    assert.equal(judge(ask(), legs, NOW).reserved, true)
  })

  test('concurrency counts open holds', () => {
    const at = (inFlight: number) =>
      judge(ask(), sampleLegs({ key: account({ concurrency: 2, inFlight }), frame: wealthy }), NOW)
    assert.equal(at(1).reserved, true)
    assert.deepEqual(at(2), {
      reserved: false,
      reason: 'rate',
      scope: 'key',
      limit: 'concurrency',
      retryAfterSeconds: 1,
    })
  })

  test('rates are judged before budgets', () => {
    const key = account({ rpm: 0, spent: 100_000n })
    const verdict = judge(ask(), sampleLegs({ key, frame: wealthy }), NOW)
    assert.equal(!verdict.reserved && verdict.reason, 'rate')
  })
})

describe('legs', () => {
  const DAY = { period: 'day', periodEndsAt: NOW + 1 } as const
  const further = (name: FurtherBudget['name'], limit: bigint, more: Partial<FurtherBudget> = {}) =>
    ({ ...account({}), ...DAY, limit, ...more, name }) satisfies FurtherBudget
  const group = (changes: Partial<Account>) => account({ id: 'grp_a', ...changes })
  const inGroup = { groupId: 'grp_a', groupVersion: 1 }
  const shortageOf = (legs: Legs, asked = ask({ whenTight: 'refuse' })) => {
    const verdict = judge(asked, legs, NOW)
    assert.ok('shortage' in verdict, 'granted')
    return { reason: verdict.reason, ...verdict.shortage }
  }

  type Case = {
    readonly name: string
    readonly key?: Partial<Account>
    readonly group?: Partial<Account>
    readonly frame?: Partial<Account>
    readonly refused: readonly [scope: string, period: string | null, limit: bigint]
  }
  const cases: readonly Case[] = [
    {
      name: 'the second window of the key',
      key: { budgets: [further('window', 20_000n)] },
      refused: ['key', 'day', 20_000n],
    },
    {
      name: 'the cap for the model',
      key: { budgets: [further('model:m', 20_999n)] },
      refused: ['model', 'day', 20_999n],
    },
    { name: 'the group', group: { limit: 20_999n }, refused: ['group', 'month', 20_999n] },
    {
      name: 'the second window of the group',
      group: { budgets: [further('window', 5_000n)] },
      refused: ['group', 'day', 5_000n],
    },
    {
      name: 'the second window of the frame',
      frame: { budgets: [further('window', 5_000n)] },
      refused: ['frame', 'day', 5_000n],
    },
    {
      name: 'the cost of a request',
      key: { requestCostMax: 20_999n },
      refused: ['request', null, 20_999n],
    },
    {
      name: 'the cost of a request of the group',
      key: { requestCostMax: 30_000n },
      group: { requestCostMax: 5_000n },
      refused: ['request', null, 5_000n],
    },
  ]
  for (const { name, key = {}, group: above = {}, frame = {}, refused } of cases) {
    test(`${name} refuses what it has no room for`, () => {
      const legs = sampleLegs({
        key: account({ ...key, groupId: 'grp_a' }),
        group: group(above),
        frame: { ...wealthy, ...frame },
      })
      const { reason, scope, period, limitNanodollars } = shortageOf(
        legs,
        ask({ ...inGroup, whenTight: 'refuse' }),
      )
      assert.equal(reason, 'budget')
      assert.deepEqual([scope, period, limitNanodollars], refused)
    })
  }

  test('a cap for another model does not count', () => {
    const key = account({ budgets: [further('model:n', 0n)] })
    assert.equal(judge(ask(), sampleLegs({ key, frame: wealthy }), NOW).reserved, true)
  })

  test('the output is lowered to what the cost of one request pays for', () => {
    const legs = sampleLegs({ key: account({ requestCostMax: 1_300n }), frame: wealthy })
    const verdict = judge(ask(), legs, NOW)
    assert.ok(verdict.reserved)
    assert.deepEqual([verdict.outputTokens, verdict.capped], [300, true])
    const tight = sampleLegs({ key: account({ requestCostMax: 1_255n }), frame: wealthy })
    assert.equal(shortageOf(tight, ask()).scope, 'request')
  })

  test('free calls pass whatever a request may cost', () => {
    const legs = sampleLegs({ key: account({ requestCostMax: 0n }), frame: wealthy })
    assert.equal(judge(ask({ candidates: [NO_COST] }), legs, NOW).reserved, true)
  })

  test('of several that refuse, the one that resets latest is named, and the others beside it', () => {
    const key = account({
      limit: 1n,
      budgets: [
        further('window', 2n),
        further('model:m', 3n, { period: 'year', periodEndsAt: NOW + 9 }),
      ],
    })
    const frame = { ...wealthy, limit: 4n, period: 'never', periodEndsAt: null } as const
    const { scope, limitNanodollars, resetsAt, also } = shortageOf(sampleLegs({ key, frame }))
    assert.deepEqual([scope, limitNanodollars, resetsAt], ['frame', 4n, null])
    assert.deepEqual(also, [
      { scope: 'model', period: 'year', resetsAt: NOW + 9 },
      { scope: 'key', period: 'month', resetsAt: NOW + 1 },
      { scope: 'key', period: 'day', resetsAt: NOW + 1 },
    ])
  })

  test('of those that reset at the same time, the key is named before the group and the frame', () => {
    const legs = sampleLegs({
      key: account({ groupId: 'grp_a', limit: 1n }),
      group: group({ limit: 1n, requestCostMax: 1n }),
      frame: { ...wealthy, limit: 1n, periodEndsAt: NOW + 1 },
    })
    const { scope, also } = shortageOf(legs, ask({ ...inGroup, whenTight: 'refuse' }))
    // What one request may cost never resets.
    assert.deepEqual(
      [scope, ...also.map((each) => each.scope)],
      ['request', 'key', 'group', 'frame'],
    )
  })

  test('holds on any leg are waited for', () => {
    const key = account({ budgets: [further('window', 30_000n, { held: 20_000n })] })
    const { reason, scope } = shortageOf(sampleLegs({ key, frame: wealthy }))
    assert.deepEqual([reason, scope], ['held', 'key'])
  })

  test('what holds keep out is named, not what would only shorten the answer', () => {
    const key = account({ limit: 15_000n })
    const frame = account({ id: 'frame', held: 99_900n })
    const { reason, scope, also } = shortageOf(sampleLegs({ key, frame }), ask())
    assert.deepEqual([reason, scope, also], ['held', 'frame', []])
  })

  test('a default output takes an eighth of what the tightest leg has left', () => {
    const open = ask({}, { outputTokens: 60_000, outputTokensFrom: 'default' })
    const key = account({ budgets: [further('window', 80_000n)] })
    const verdict = judge(open, sampleLegs({ key, frame: wealthy }), NOW)
    assert.equal(verdict.reserved && verdict.outputTokens, 10_000)
  })

  test('a hold grows only as far as every leg and the cost of one request allow', () => {
    const grows = (key: Partial<Account>, extra: bigint) =>
      mayExtend({ heldNanodollars: 100n }, sampleLegs({ key: account(key), frame: wealthy }), extra)
    const window = { budgets: [further('window', 500n, { held: 100n })] }
    assert.deepEqual([grows(window, 400n), grows(window, 401n)], [true, false])
    const bounded = { requestCostMax: 150n }
    assert.deepEqual([grows(bounded, 50n), grows(bounded, 51n)], [true, false])
  })

  test('the group must be active, and as the request knows it', () => {
    const status = (
      ofGroup: Partial<Account>,
      asked: Partial<CheckedAsk> = inGroup,
      groupId: string | null = 'grp_a',
    ) => {
      const legs = sampleLegs({ key: account({ groupId }), group: group(ofGroup), frame: wealthy })
      const verdict = judge(ask({ candidates: [NO_COST], ...asked }), legs, NOW)
      return verdict.reserved || (verdict.reason === 'key_status' && verdict.status)
    }
    assert.equal(status({}), true)
    assert.equal(status({ status: 'archived' }), 'archived')
    assert.equal(status({ allowVersion: 2 }), 'stale')
    assert.equal(status({}, { groupId: 'grp_b', groupVersion: 1 }), 'stale')
    assert.equal(status({}, { groupId: null, groupVersion: 0 }), 'stale')
  })

  test('rates of the key are judged before those of its group', () => {
    const judged = (ofKey: Partial<Account>, ofGroup: Partial<Account>) => {
      const key = account({ groupId: 'grp_a', ...ofKey })
      const legs = sampleLegs({ key, group: group(ofGroup), frame: wealthy })
      const verdict = judge(ask(inGroup), legs, NOW)
      return !verdict.reserved && verdict.reason === 'rate' && [verdict.scope, verdict.limit]
    }
    assert.deepEqual(judged({ rpm: 0 }, { rpm: 0 }), ['key', 'rpm'])
    assert.deepEqual(judged({}, { rpm: 0 }), ['group', 'rpm'])
    assert.deepEqual(judged({}, { concurrency: 3, inFlight: 3 }), ['group', 'concurrency'])
  })

  test('of the rates of key and group, the one that takes longest is named', () => {
    const admitted = (secondsAgo: number): Account['rateWindow'] => {
      const second = { second: NOW / 1000 - secondsAgo, requests: 1, tokens: 1, packed: null }
      return { seconds: [second], requests: 1, tokens: 1, isRedated: false }
    }
    const key = account({ groupId: 'grp_a', rpm: 1, rateWindow: admitted(58) })
    const slower = group({ rpm: 1, rateWindow: admitted(10) })
    const legs = sampleLegs({ key, group: slower, frame: wealthy })
    assert.deepEqual(judge(ask(inGroup), legs, NOW), {
      ...{ reserved: false, reason: 'rate', scope: 'group' },
      ...{ limit: 'rpm', retryAfterSeconds: 51 },
    })
  })
})
