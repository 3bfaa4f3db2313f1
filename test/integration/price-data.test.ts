// Every price in the bundled data: the gateway charges what the library itself calculates, and no usage a request can
// reach costs more than was held for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import type { ModelPrice } from '@pydantic/genai-prices'
import type { Model } from '../../src/catalog/models.ts'
import { UNKNOWN_ABILITIES } from '../../src/catalog/models.ts'
import { bundledPrices } from '../../src/catalog/price-data.ts'
import { costOf, surchargeOf } from '../../src/catalog/prices.ts'
import type { Price } from '../../src/catalog/prices.ts'
import { worstCase } from '../../src/catalog/worst-case.ts'
import type { Usage } from '../../src/core/events.ts'
import { roundUpToNanodollars } from '../../src/core/money.ts'
import { NO_INPUT } from '../../src/core/request.ts'
import type { InputMeasure } from '../../src/core/request.ts'
import { sandboxTarget } from '../../src/providers/sandbox/models.ts'
import { Random } from '../simulate/random.ts'

const USAGES_EACH = 10
/** Before and after dates in the data, and in its cheaper and dearer hours. */
const MOMENTS = ['2026-03-12T23:59Z', '2026-08-21T02:00Z', '2026-11-17T03:59Z', '2027-01-01T17:00Z']
const SEED = 20_261_117

type Priced = {
  readonly name: string
  readonly price: Price
  /** The library's price of a usage, in nanodollars. */
  readonly asks: (usage: Usage) => number
  readonly data: ModelPrice
}

const priced = await everyPrice()

test(`${priced.length} prices are charged as the library calculates them`, () => {
  const random = new Random(SEED)
  for (const { name, price, asks, data } of priced) {
    // The gateway charges more on purpose: usage does not separate image or video tokens from text.
    if (data['output_image_mtok'] !== undefined || data['output_video_mtok'] !== undefined) continue
    for (let count = 0; count < USAGES_EACH; count++) {
      const usage = randomUsage(random, price, data['cache_write_1h_mtok'] !== undefined)
      const ours = Number(totalOf(usage, price))
      const theirs = asks(usage)
      // Each price is rounded up to a whole pico-USD, and the total once more; a float has 15 digits.
      const roundedUp = 2 + (usage.inputTokens + usage.outputTokens) / 1_000
      const isAlike =
        ours >= theirs * (1 - 1e-12) - 1e-3 && ours <= theirs * (1 + 1e-12) + roundedUp
      assert.ok(isAlike, `${name}: ${ours}, not ${theirs}, for ${JSON.stringify(usage)}`)
    }
  }
})

test(`no call costs more than its hold, at ${priced.length} prices`, () => {
  const random = new Random(SEED)
  for (const { name, price } of priced) {
    for (let count = 0; count < USAGES_EACH; count++) {
      const { held, usage } = randomHold(random, price)
      const cost = totalOf(usage, price)
      assert.ok(cost <= held, `${name}: ${cost} of ${held} for ${JSON.stringify(usage)}`)
    }
  }
})

async function everyPrice(): Promise<readonly Priced[]> {
  const providers = (await waitForUpdate()) ?? assert.fail('no data')
  return providers.flatMap((provider) =>
    provider.models.flatMap(({ id: model, prices }) =>
      (Array.isArray(prices) ? MOMENTS : MOMENTS.slice(0, 1)).flatMap((moment): Priced[] => {
        const options = { providerId: provider.id, timestamp: new Date(moment) }
        const now = options.timestamp.getTime()
        const known = bundledPrices({ list: { id: provider.id }, model, now })
        const data = calcPrice({}, model, options)?.model_price
        if (known === undefined || data === undefined) return []
        const asks = (usage: Usage): number =>
          (calcPrice(inTheirWords(usage), model, options)?.total_price ?? NaN) * 1e9
        return [{ name: `${provider.id}/${model} at ${moment}`, price: known.price, asks, data }]
      }),
    ),
  )
}

function inTheirWords(usage: Usage): Record<string, number> {
  return {
    input_tokens: usage.inputTokens,
    cache_read_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWriteLongTokens,
    output_tokens: usage.outputTokens,
    input_audio_tokens: usage.audioTokens ?? 0,
    cache_audio_read_tokens: 0,
    web_searches: usage.webSearches ?? 0,
  }
}

function totalOf(usage: Usage, price: Price): bigint {
  return costOf(usage, price).nanodollars + surchargeOf(usage, price).nanodollars
}

/** Zero, little, much, and values around the tiers where longer inputs cost more. */
function randomInput(random: Random, { tiers }: Price): number {
  const edges = tiers.flatMap(({ aboveInputTokens: edge }) => [edge - 1, edge, edge + 1])
  return random.pick([0, 1, random.between(2, 9_999), random.between(0, 900_000), ...edges]) ?? 0
}

function randomUsage(random: Random, price: Price, hasLong: boolean): Usage {
  const inputTokens = randomInput(random, price)
  const audioTokens = random.chance(0.2) ? random.between(0, inputTokens) : 0
  const cachedTokens = audioTokens === 0 ? random.between(0, inputTokens) : 0
  const cacheWriteTokens = audioTokens === 0 ? random.between(0, inputTokens - cachedTokens) : 0
  return {
    inputTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWriteLongTokens: hasLong ? random.between(0, cacheWriteTokens) : 0,
    outputTokens: random.pick([0, 1, random.between(2, 128_000)]) ?? 0,
    reasoningTokens: 0,
    ...(audioTokens > 0 && { audioTokens }),
    ...(price.fees.webSearch !== null && { webSearches: random.between(0, 9) }),
  }
}

/** The hold of a request, and the largest usage it may reach. */
function randomHold(random: Random, price: Price): { held: bigint; usage: Usage } {
  const context = random.pick([8_192, 200_000, 1_050_000]) ?? 0
  const cacheWrites = random.pick(['none', 'short', 'long'] as const) ?? 'none'
  const input: InputMeasure = {
    ...NO_INPUT,
    textBytes: randomInput(random, price),
    cacheWrites,
    ...(random.chance(0.3) && { audio: true }),
  }
  const searches = price.fees.webSearch === null ? 0 : random.between(0, 5)
  const writesCacheUnasked = random.chance(0.5)
  const target = { ...sandboxTarget('any'), price, context, writesCacheUnasked }
  const output = {
    tokensMax: random.between(1, 128_000),
    choices: random.between(1, 3),
    reasons: false,
  }
  const worst = worstCase(target, { model: only(target), input, output, searchesMax: searches })
  const inputMost = searches === 0 ? worst.inputTokens : context * (searches + 1)
  const inputTokens = random.chance(0.5) ? inputMost : random.between(0, inputMost)
  const mayWrite = cacheWrites !== 'none' || writesCacheUnasked
  const cacheWriteTokens = mayWrite ? random.between(0, inputTokens) : 0
  const usage = {
    inputTokens,
    cachedTokens: random.between(0, inputTokens - cacheWriteTokens),
    cacheWriteTokens,
    cacheWriteLongTokens: cacheWrites === 'long' ? random.between(0, cacheWriteTokens) : 0,
    outputTokens: output.tokensMax * output.choices,
    reasoningTokens: 0,
    ...(input.audio === true && { audioTokens: random.between(0, inputTokens) }),
    ...(searches > 0 && { webSearches: random.between(0, searches) }),
  }
  const { fixedPicodollars, outputTokenPicodollars, outputTokens } = worst
  const held = roundUpToNanodollars(
    fixedPicodollars + outputTokenPicodollars * BigInt(outputTokens),
  )
  return { held, usage }
}

function only(target: Model['targets'][number]): Model {
  return {
    id: 'any',
    kind: 'chat',
    targets: [target],
    fallbacks: [],
    price: target.price,
    context: target.context,
    maxOutput: target.maxOutput,
    defaultOutput: null,
    abilities: UNKNOWN_ABILITIES,
    available: true,
    leftOut: [],
    reason: null,
  }
}
