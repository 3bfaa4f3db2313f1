// Converts the bundled price data of @pydantic/genai-prices. Nothing is ever fetched: a price changes with a release of
// the library, or on a date or at an hour in its data.
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import type { ConditionalPrice, MatchLogic, ModelInfo, ModelPrice } from '@pydantic/genai-prices'
import { pricePerMillion } from '../core/money.ts'
import type { Picodollars } from '../core/money.ts'
import { DAY_MS } from '../core/units.ts'
import { makePrice } from './prices.ts'
import type { Price, Rates } from './prices.ts'

/** Looks up the price of a model at a provider at a moment; undefined = not in the data. */
export type PriceLookup = (question: PriceQuery) => KnownPrice | undefined

type PriceQuery = {
  /** The library's name for the price list, or the address of a compatible server. */
  readonly list: PriceList
  readonly model: string
  readonly now: number
}

export type PriceList = { readonly id: string } | { readonly url: string }

type KnownPrice = {
  readonly price: Price
  /** The context window, where the data has one. */
  readonly context: number | null
  /** When the price changes according to the data; null = never. */
  readonly changesAt: number | null
}

export const bundledPrices: PriceLookup = ({ list, model, now }) => {
  const provider = findProvider(
    'id' in list ? { providerId: list.id } : { providerApiUrl: list.url },
  )
  if (provider === undefined) return undefined
  const found = calcPrice({}, model, { providerId: provider.id, timestamp: new Date(now) })
  if (found === null || !isSameModel(model, found.model.match)) return undefined
  if (!provider.models.includes(found.model) && !costsAlikeElsewhere(found.model)) return undefined
  const price = toPrice(found.model_price)
  if (price === undefined || isHalfTold(model, found.model_price)) return undefined
  return {
    price,
    context: found.model.context_window ?? null,
    changesAt: Array.isArray(found.model.prices) ? nextChange(found.model.prices, now) : null,
  }
}

/** Hosts charge the makers' own prices for OpenAI's and Anthropic's models, but their own for open and other models. */
function costsAlikeElsewhere(model: ModelInfo): boolean {
  const isMadeBy = (id: string) => findProvider({ providerId: id })?.models.includes(model) === true
  return ['openai', 'anthropic'].some(isMadeBy) && !model.id.startsWith('gpt-oss')
}

/** What some models are made for and bill besides text tokens, with the figure that must contain its price. */
const BILLED_BESIDE = [
  // Audio and images cost many times as much as text.
  { madeFor: /\baudio\b/i, figure: 'input_audio_mtok' },
  { madeFor: /\bimage\b/i, figure: 'output_image_mtok' },
  // These search the web unasked, for a fee that their usage does not report.
  { madeFor: /\b(?:sonar|search-preview|deep-research)\b/i, figure: 'requests_kcount' },
]

/** Whether the data has only the price of text, for a model that is made for more. */
function isHalfTold(model: string, data: ModelPrice): boolean {
  return BILLED_BESIDE.some(
    ({ madeFor, figure }) => madeFor.test(model) && data[figure] === undefined,
  )
}

function toPrice(data: ModelPrice): Price | undefined {
  if (data['input_mtok'] === undefined) return undefined
  const thresholds = new Set(
    Object.values(data).flatMap((value) =>
      typeof value === 'object' ? value.tiers.map(({ start }) => start) : [],
    ),
  )
  const search = data['web_searches_kcount']
  const request = data['requests_kcount']
  const rates = ratesAbove(data, 0)
  const heard = data['input_audio_mtok']
  const audio = typeof heard === 'number' ? pricePerMillion(heard) - rates.input : 0n
  return makePrice({
    rates,
    tiers: [...thresholds]
      .toSorted((one, other) => one - other)
      .map((start) => ({ aboveInputTokens: start, rates: ratesAbove(data, start + 1) })),
    fees: {
      request: typeof request === 'number' ? perThousand(request) : 0n,
      webSearch: typeof search === 'number' ? perThousand(search) : null,
      ...(audio > 0n ? { audioToken: audio } : {}),
    },
  })
}

const OUTPUTS = ['output_mtok', 'output_image_mtok', 'output_video_mtok']

/** The rates for a request with this many input tokens. */
function ratesAbove(data: ModelPrice, inputTokens: number): Rates {
  const rate = (name: string): Picodollars | undefined => {
    const value = data[name]
    if (value === undefined) return undefined
    if (typeof value === 'number') return pricePerMillion(value)
    const tier = value.tiers.findLast(({ start }) => inputTokens > start)
    return pricePerMillion(tier?.price ?? value.base)
  }
  const input = rate('input_mtok') ?? 0n
  const cacheWrite = rate('cache_write_mtok')
  return {
    input,
    cached: rate('cache_read_mtok') ?? input,
    cacheWriteShort: cacheWrite ?? input,
    cacheWriteLong: rate('cache_write_1h_mtok') ?? longerThan(cacheWrite, input),
    // A model that makes images may do so unasked, and its usage does not separate them from text.
    output: OUTPUTS.map((name) => rate(name) ?? 0n).reduce((one, other) =>
      one > other ? one : other,
    ),
  }
}

/** Some lists omit the one-hour cache; where writes cost extra, Anthropic's rule is twice the input. */
function longerThan(cacheWrite: Picodollars | undefined, input: Picodollars): Picodollars {
  if (cacheWrite === undefined) return input
  return cacheWrite > input * 2n ? cacheWrite : input * 2n
}

/** USD per thousand to pico-USD each. */
function perThousand(usd: number): Picodollars {
  return pricePerMillion(usd) * 1_000n
}

function nextChange(prices: readonly ConditionalPrice[], now: number): number | null {
  const moments = prices.flatMap(({ constraint }) => {
    if (constraint === undefined) return []
    if (constraint.type === 'start_date') return [Date.parse(constraint.start_date)]
    return [constraint.start_time, constraint.end_time].flatMap((time) => everyDayAt(time, now))
  })
  const next = Math.min(...moments.filter((moment) => moment > now))
  return Number.isFinite(next) ? next : null
}

/** Today and tomorrow at a time such as `16:30:00Z`. */
function everyDayAt(time: string, now: number): readonly number[] {
  const today = Date.parse(`${new Date(now).toISOString().slice(0, 10)}T${time}`)
  return [today, today + DAY_MS]
}

/** Suffixes that do not make it another model: dates, versions, windows, stages. */
const DRESS =
  /^(?:[-@]\d{2,8}|-v\d+(?:\.\d+)?|:\d+k?|[-@](?:latest|default)|-(?:preview|exp|it|instruct|customtools))*$/

/** Fine-tuned models have names of the customer's choice. */
const TUNED = /^ft:|\.ft-/

/** The data also matches parts of names: a variant that it does not know would get the price of another model. */
function isSameModel(name: string, match: MatchLogic): boolean {
  const meant = name.trim().toLowerCase()
  if (TUNED.test(meant)) return true
  const parts = partsOf(match).filter((part) => meant.includes(part))
  // Without any, it was found by a pattern, which already covers the whole name.
  if (parts.length === 0) return true
  return parts.some((part) => DRESS.test(meant.slice(meant.indexOf(part) + part.length)))
}

/** The names and parts of names that match a model. */
function partsOf(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(partsOf)
  if ('and' in match) return match.and.flatMap(partsOf)
  if ('regex' in match) return []
  return Object.values<string>(match).map((part) => part.toLowerCase().replace(/[-@]$/, ''))
}
