// What tokens cost to the nano-dollar, what is never turned into money, and that a price survives storage in the books.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { NO_USAGE } from '../core/events.ts'
import type { Usage } from '../core/events.ts'
import {
  componentsOf,
  costOf,
  FREE,
  inRegion,
  makePrice,
  NO_SURCHARGE,
  parsePrice,
  surchargeOf,
  withDiscount,
} from './prices.ts'
import type { Price } from './prices.ts'

const price: Price = {
  version: 'test',
  rates: {
    input: 3_000_000n,
    cached: 300_000n,
    cacheWriteShort: 3_750_000n,
    cacheWriteLong: 6_000_000n,
    output: 15_000_000n,
  },
  tiers: [
    {
      aboveInputTokens: 200_000,
      rates: {
        input: 6_000_000n,
        cached: 600_000n,
        cacheWriteShort: 7_500_000n,
        cacheWriteLong: 12_000_000n,
        output: 22_500_000n,
      },
    },
  ],
  fees: { request: 0n, webSearch: null },
}

const cases: readonly [string, Partial<Usage>, bigint][] = [
  ['nothing', {}, 0n],
  ['plain', { inputTokens: 1_000, outputTokens: 100 }, 4_500_000n],
  ['a cached part is inside the input', { inputTokens: 1_000, cachedTokens: 900 }, 570_000n],
  [
    'cache writes by lifetime',
    { inputTokens: 1_000, cacheWriteTokens: 500, cacheWriteLongTokens: 200 },
    1_500_000n + 1_125_000n + 1_200_000n,
  ],
  ['reasoning is part of the output', { outputTokens: 10, reasoningTokens: 10 }, 150_000n],
  ['the threshold itself is not above it', { inputTokens: 200_000 }, 600_000_000n],
  ['one token above: all tokens', { inputTokens: 200_001, outputTokens: 1 }, 1_200_028_500n],
]

describe('costOf', () => {
  for (const [name, usage, nanodollars] of cases) {
    test(name, () => {
      const cost = costOf({ ...NO_USAGE, ...usage }, price)
      assert.equal(cost.nanodollars, nanodollars)
      const sum = cost.lines.reduce(
        (total, line) => total + BigInt(line.count) * line.eachPicodollars,
        0n,
      )
      assert.equal(sum, nanodollars * 1_000n)
    })
  }

  test('rounds up once, for the whole request', () => {
    const cheap = { ...price, rates: { ...price.rates, input: 1n, output: 1n }, tiers: [] }
    assert.equal(
      costOf({ ...NO_USAGE, inputTokens: 400, outputTokens: 400 }, cheap).nanodollars,
      1n,
    )
  })

  test('free usage costs nothing, whatever it is', () => {
    const usage = { inputTokens: 9, cachedTokens: 3, cacheWriteTokens: 5, cacheWriteLongTokens: 2 }
    const { lines, nanodollars } = costOf({ ...NO_USAGE, ...usage, outputTokens: 4 }, FREE)
    assert.equal(nanodollars, 0n)
    assert.deepEqual(
      lines.map(({ what, count }) => [what, count]),
      [
        ['input', 1],
        ['cached', 3],
        ['cacheWriteShort', 3],
        ['cacheWriteLong', 2],
        ['output', 4],
      ],
    )
  })

  test('a fee per request is charged even without tokens', () => {
    const withFee = { ...price, fees: { request: 5_000_000n, webSearch: null } }
    assert.equal(costOf(NO_USAGE, withFee).nanodollars, 5_000n)
  })

  test('impossible usage is never turned into money', () => {
    assert.throws(() => costOf({ ...NO_USAGE, outputTokens: -1 }, price), RangeError)
    assert.throws(() => costOf({ ...NO_USAGE, outputTokens: 1.5 }, price), RangeError)
  })
})

describe('surchargeOf', () => {
  const fees = { request: 0n, webSearch: 10_000_000n, audioToken: 4_000n }
  const search = { what: 'webSearch', count: 3, eachPicodollars: 10_000_000n }
  const audio = { what: 'audioToken', count: 7, eachPicodollars: 4_000n }
  for (const [what, usage, more, lines] of [
    ['a search and audio', { webSearches: 3, audioTokens: 7 }, {}, [search, audio]],
    ['a search alone', { webSearches: 3 }, {}, [search]],
    ['audio alone', { audioTokens: 7 }, {}, [audio]],
    ['neither', {}, {}, []],
    ['neither, reported as 0', { webSearches: 0, audioTokens: 0 }, {}, []],
    ['a search without a price', { webSearches: 3, audioTokens: 7 }, { webSearch: null }, [audio]],
    [
      'audio at the price of text',
      { webSearches: 3, audioTokens: 7 },
      { audioToken: 0n },
      [search],
    ],
  ] as const)
    test(what, () => {
      const cost = surchargeOf({ ...NO_USAGE, ...usage }, { ...price, fees: { ...fees, ...more } })
      const nanodollars = lines.reduce(
        (sum, { what }) => sum + (what === 'webSearch' ? 30_000n : 28n),
        0n,
      )
      assert.deepEqual(cost, { nanodollars, lines })
    })

  test('nothing, if the price has no audio rate', () => {
    const silent = { ...price, fees: { request: 0n, webSearch: null } }
    assert.deepEqual(surchargeOf({ ...NO_USAGE, audioTokens: 7 }, silent), NO_SURCHARGE)
  })
})

test('in a region every token costs a tenth more, rounded up, and fees stay the same', () => {
  const rates = { input: 1n, cached: 0n, cacheWriteShort: 10n, cacheWriteLong: 20n, output: 30n }
  const tier = { aboveInputTokens: 5, rates: { ...rates, output: 100n } }
  const fees = { request: 7n, webSearch: 8n, audioToken: 10n }
  const { version, ...regional } = inRegion(makePrice({ rates, tiers: [tier], fees }))
  const dearer = { input: 2n, cached: 0n, cacheWriteShort: 11n, cacheWriteLong: 22n, output: 33n }
  assert.deepEqual(regional, {
    rates: dearer,
    tiers: [{ aboveInputTokens: 5, rates: { ...dearer, output: 110n } }],
    fees: { ...fees, audioToken: 11n },
  })
  assert.equal(version, makePrice(regional).version)
})

describe('versions', () => {
  test('a price can be read back from the text in the books', () => {
    const made = makePrice(price)
    assert.deepEqual(parsePrice(componentsOf(made)), made)
  })

  test('another figure is another version', () => {
    const dearer = makePrice({ ...price, rates: { ...price.rates, output: 15_000_001n } })
    assert.notEqual(dearer.version, makePrice(price).version)
  })
})

describe('a discount', () => {
  const fees = { request: 3n, webSearch: 7n, audioToken: 9n }
  const list = makePrice({ ...price, fees })
  const lowered = withDiscount(list, 150_000)

  test('is taken off every figure, rounded up to a pico-dollar', () => {
    assert.deepEqual(lowered.rates, {
      input: 2_550_000n,
      cached: 255_000n,
      cacheWriteShort: 3_187_500n,
      cacheWriteLong: 5_100_000n,
      output: 12_750_000n,
    })
    assert.equal(lowered.tiers[0]?.rates.output, 19_125_000n)
    // 2.55, 5.95 and 7.65.
    assert.deepEqual(lowered.fees, { request: 3n, webSearch: 6n, audioToken: 8n })
    // 3 % more than on the list: 3.09, 7.21 and 9.27.
    assert.deepEqual(withDiscount(list, -30_000).fees, {
      request: 4n,
      webSearch: 8n,
      audioToken: 10n,
    })
  })

  test('of nothing changes nothing', () => assert.equal(withDiscount(list, 0), list))

  test('never charges less than the exact share, and less than a pico-dollar more', () => {
    const rate = fc.bigInt({ min: 0n, max: 10n ** 12n })
    fc.assert(
      fc.property(rate, fc.integer({ min: -1_000_000, max: 999_999 }), (input, millionths) => {
        const whole = makePrice({ ...FREE, rates: { ...FREE.rates, input } })
        const millionfold = withDiscount(whole, millionths).rates.input * 1_000_000n
        const exact = input * BigInt(1_000_000 - millionths)
        assert.ok(millionfold >= exact && millionfold - exact < 1_000_000n)
      }),
    )
  })

  test('and the list price are covered by the version, and survive storage', () => {
    assert.deepEqual(parsePrice(componentsOf(lowered)), lowered)
    const { rates, tiers, fees: less } = lowered
    const undiscounted = makePrice({ rates, tiers, fees: less })
    const other = withDiscount(makePrice({ ...list, fees: { ...fees, webSearch: 6n } }), 1)
    const versions = [list, lowered, undiscounted, withDiscount(list, 150_001), other]
    assert.equal(new Set(versions.map(({ version }) => version)).size, 5)
  })

  test('is shown on every line, beside the list price of the same tier', () => {
    const usage = { ...NO_USAGE, inputTokens: 200_001, outputTokens: 1, webSearches: 1 }
    assert.deepEqual(
      [...costOf(usage, lowered).lines, ...surchargeOf(usage, lowered).lines].map((line) => [
        line.what,
        line.list,
      ]),
      [
        ['input', { eachPicodollars: 6_000_000n, millionths: 150_000 }],
        ['output', { eachPicodollars: 22_500_000n, millionths: 150_000 }],
        ['request', { eachPicodollars: 3n, millionths: 150_000 }],
        ['webSearch', { eachPicodollars: 7n, millionths: 150_000 }],
      ],
    )
  })
})
