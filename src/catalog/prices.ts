// What tokens cost: whole pico-USD per token by billing class, with higher rates for long inputs. The one place that
// turns usage into money, exactly, with one round-up per request.
import { createHash } from 'node:crypto'

import { pricePerMillion, roundUpToNanodollars } from '../core/money.ts'
import type { Usage } from '../core/events.ts'
import type { Nanodollars, Picodollars } from '../core/money.ts'

export type Price = PriceFigures & {
  /** Identifies exactly these figures: the same version is always the same price. */
  readonly version: string
  /** Absent = none. */
  readonly discount?: Discount
}

type PriceFigures = {
  readonly rates: Rates
  /** Rates for requests with a long input, by ascending threshold. */
  readonly tiers: readonly Tier[]
  readonly fees: Fees
}

/** What the provider takes off its list price. */
type Discount = {
  readonly list: PriceFigures
  /** 150,000 = 15 %; below zero, it costs more than on the list. */
  readonly millionths: number
}

/** The price of one token, by billing class. */
export type Rates = {
  readonly input: Picodollars
  readonly cached: Picodollars
  readonly cacheWriteShort: Picodollars
  readonly cacheWriteLong: Picodollars
  readonly output: Picodollars
}

/** These rates apply to the whole request once it has more input tokens than this. */
type Tier = { readonly aboveInputTokens: number; readonly rates: Rates }

type Fees = {
  /** Once per request. */
  readonly request: Picodollars
  /** Per search of a hosted tool; null = no price known, so the tool cannot be offered. */
  readonly webSearch: Picodollars | null
  /** The extra cost of an audio token over a text token; absent = none. */
  readonly audioToken?: Picodollars
}

export type Cost = {
  readonly nanodollars: Nanodollars
  /** How it was computed, for `explain` and for customers who ask. */
  readonly lines: readonly CostLine[]
}

export type CostLine = {
  readonly what: keyof Rates | 'request' | 'webSearch' | 'audioToken'
  readonly count: number
  readonly eachPicodollars: Picodollars
  /** Where a discount applies: what it would cost without, and how much is taken off. */
  readonly list?: { readonly eachPicodollars: Picodollars; readonly millionths: number }
}

export const FREE: Price = makePrice({
  rates: { input: 0n, cached: 0n, cacheWriteShort: 0n, cacheWriteLong: 0n, output: 0n },
  tiers: [],
  fees: { request: 0n, webSearch: null },
})

/** Makes a price from its figures. The version is derived from them, so no figure can change under the same version. */
export function makePrice(figures: Omit<Price, 'version'>): Price {
  const digest = createHash('sha256').update(componentsOf(figures)).digest('hex')
  return { ...figures, version: `price_${digest.slice(0, 16)}` }
}

/** A price as a configuration says it: `free`, or USD per million tokens. */
type WrittenPrice =
  | 'free'
  | {
      readonly input: number
      readonly output?: number | undefined
      readonly cached?: number | undefined
      readonly cache_write?: number | undefined
      readonly cache_write_long?: number | undefined
    }

/** A cache price that is not given is that of plain input; for long writes, that of short ones. */
export function priceFrom(written: WrittenPrice): Price {
  if (written === 'free') return FREE
  const { input, output = 0, cached = input, cache_write = input } = written
  return makePrice({
    rates: {
      input: pricePerMillion(input),
      cached: pricePerMillion(cached),
      cacheWriteShort: pricePerMillion(cache_write),
      cacheWriteLong: pricePerMillion(written.cache_write_long ?? cache_write),
      output: pricePerMillion(output),
    },
    tiers: [],
    fees: { request: 0n, webSearch: null },
  })
}

/** The price in a region where the lists have only the global one: a tenth more per token. Fees stay the same. */
export function inRegion(price: Price): Price {
  return makePrice(changeRates(price, (rate) => (rate * 11n + 9n) / 10n))
}

const MILLION = 1_000_000n

/** The price less a discount on every figure, each rounded up to a pico-dollar. */
export function withDiscount(list: Price, millionths: number): Price {
  if (millionths === 0) return list
  const share = MILLION - BigInt(millionths)
  const { rates, tiers, fees } = list
  const less = (figure: Picodollars): Picodollars => (figure * share + MILLION - 1n) / MILLION
  const figures = changeRates(list, less)
  return makePrice({
    ...figures,
    fees: {
      ...figures.fees,
      request: less(fees.request),
      webSearch: fees.webSearch === null ? null : less(fees.webSearch),
    },
    discount: { list: { rates, tiers, fees }, millionths },
  })
}

/** The same figures with every price of a token changed. */
function changeRates(
  { rates, tiers, fees }: PriceFigures,
  change: (rate: Picodollars) => Picodollars,
): PriceFigures {
  const changed = (each: Rates): Rates => ({
    input: change(each.input),
    cached: change(each.cached),
    cacheWriteShort: change(each.cacheWriteShort),
    cacheWriteLong: change(each.cacheWriteLong),
    output: change(each.output),
  })
  const { audioToken } = fees
  return {
    rates: changed(rates),
    tiers: tiers.map((tier) => ({ ...tier, rates: changed(tier.rates) })),
    fees: { ...fees, ...(audioToken === undefined ? {} : { audioToken: change(audioToken) }) },
  }
}

/** The figures as text, stored with the version in the books: `parsePrice` reads it back. */
export function componentsOf({ rates, tiers, fees, discount }: Omit<Price, 'version'>): string {
  return JSON.stringify({ rates, tiers, fees, discount }, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** The price of a version, as stored in the books. */
export function parsePrice(components: string): Price {
  const figures = JSON.parse(components, (_name, value: unknown) =>
    typeof value === 'string' ? BigInt(value) : value,
  ) as Omit<Price, 'version'>
  return makePrice(figures)
}

/** What this usage costs at this price. The usage must be plausible: the receiving code has checked that. */
export function costOf(usage: Usage, price: Price): Cost {
  const rates = ratesFor(price, usage.inputTokens)
  const { cachedTokens, cacheWriteTokens, cacheWriteLongTokens } = usage
  const { discount } = price
  const lines: CostLine[] = []
  const add = (what: CostLine['what'], count: number, eachPicodollars: Picodollars): void => {
    if (count === 0) return
    const line = { what, count, eachPicodollars }
    lines.push(discount === undefined ? line : beforeDiscount(line, discount, usage.inputTokens))
  }
  add('input', Math.max(0, usage.inputTokens - cachedTokens - cacheWriteTokens), rates.input)
  add('cached', cachedTokens, rates.cached)
  add(
    'cacheWriteShort',
    Math.max(0, cacheWriteTokens - cacheWriteLongTokens),
    rates.cacheWriteShort,
  )
  add('cacheWriteLong', cacheWriteLongTokens, rates.cacheWriteLong)
  add('output', usage.outputTokens, rates.output)
  if (price.fees.request > 0n) add('request', 1, price.fees.request)
  return costOfLines(lines)
}

/** What is billed besides the tokens: in separate lines, because the usage row has no columns for these counts. */
export function surchargeOf(usage: Usage, { fees, discount }: Price): Cost {
  const { webSearches, audioTokens } = usage
  if (webSearches === undefined && audioTokens === undefined) return NO_SURCHARGE
  const lines: CostLine[] = [
    { what: 'webSearch', count: webSearches ?? 0, eachPicodollars: fees.webSearch ?? 0n },
    { what: 'audioToken', count: audioTokens ?? 0, eachPicodollars: fees.audioToken ?? 0n },
  ]
  const billed = lines.filter(({ count, eachPicodollars }) => count !== 0 && eachPicodollars !== 0n)
  return costOfLines(
    discount === undefined
      ? billed
      : billed.map((line) => beforeDiscount(line, discount, usage.inputTokens)),
  )
}

/** The same line with what it would cost by the list. */
function beforeDiscount(
  line: CostLine,
  { list, millionths }: Discount,
  inputTokens: number,
): CostLine {
  const { fees } = list
  const figures = {
    ...ratesFor(list, inputTokens),
    request: fees.request,
    webSearch: fees.webSearch ?? 0n,
    audioToken: fees.audioToken ?? 0n,
  }
  return { ...line, list: { eachPicodollars: figures[line.what], millionths } }
}

/** The case of nearly every request. */
export const NO_SURCHARGE: Cost = { nanodollars: 0n, lines: [] }

export function costOfLines(lines: readonly CostLine[]): Cost {
  let total = 0n
  for (const { count, eachPicodollars } of lines) {
    if (count < 0) throw new RangeError(`a usage of ${count} tokens cannot be priced`)
    total += BigInt(count) * eachPicodollars
  }
  return { nanodollars: roundUpToNanodollars(total), lines }
}

/** The rates for a request with this many input tokens. */
function ratesFor(price: PriceFigures, inputTokens: number): Rates {
  return price.tiers.findLast((tier) => inputTokens > tier.aboveInputTokens)?.rates ?? price.rates
}
