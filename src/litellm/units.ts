// LiteLLM's units: prices per token as its configuration and its price data write them (a file of the operator's own
// installation, `model_prices_and_context_window_backup.json` in the Python package), and budgets that last for a duration
// from whenever they began, where Tollgate's last for a period of the calendar.
import { readFileSync } from 'node:fs'
import { codeOf } from '../core/errors.ts'
import { isObject, numberOf, parseObject, stringOf, type JsonObject } from '../core/json.ts'
import type { PeriodRule } from '../core/periods.ts'
import { DAY_MS } from '../core/units.ts'
import { ImportError } from './source.ts'

/** USD per token; null = not said. */
export type TokenPrices = {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number | null
  readonly cacheWrite: number | null
  readonly cacheWriteLong: number | null
}

type KnownModel = {
  readonly prices: TokenPrices
  readonly mode: string | null
  readonly context: number | null
  readonly maxOutput: number | null
}

/** What LiteLLM knows about a model, by any of the names that it looks under. */
export type PriceData = (names: readonly string[]) => KnownModel | undefined

/** Read at import time, and never kept: the file is LiteLLM's. */
export function readPriceData(path: string): PriceData {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ImportError([`${path} cannot be read (${codeOf(error) ?? 'unreadable'})`])
  }
  const data = parseObject(text)
  const isTable = data !== undefined && Object.values(data).some(hasPrice)
  if (!isTable) {
    throw new ImportError([
      `${path} is not LiteLLM's price data: it should be the file model_prices_and_context_window_backup.json of its package`,
    ])
  }
  return (names) => {
    const found = names.map((name) => data[name]).find(isObject)
    return found && knownModel(found)
  }
}

function hasPrice(value: unknown): boolean {
  return isObject(value) && numberOf(value['input_cost_per_token']) !== undefined
}

function knownModel(entry: JsonObject): KnownModel {
  const number = (name: string): number | null => numberOf(entry[name]) ?? null
  return {
    prices: {
      input: number('input_cost_per_token'),
      output: number('output_cost_per_token'),
      cached: number('cache_read_input_token_cost'),
      cacheWrite: number('cache_creation_input_token_cost'),
      cacheWriteLong: number('cache_creation_input_token_cost_above_1hr'),
    },
    mode: stringOf(entry['mode']) ?? null,
    context: number('max_input_tokens'),
    maxOutput: number('max_output_tokens') ?? number('max_tokens'),
  }
}

/** What is not said is as LiteLLM's data has it. */
export function completed(own: TokenPrices, known: TokenPrices | undefined): TokenPrices {
  return {
    input: own.input ?? known?.input ?? null,
    output: own.output ?? known?.output ?? null,
    cached: own.cached ?? known?.cached ?? null,
    cacheWrite: own.cacheWrite ?? known?.cacheWrite ?? null,
    cacheWriteLong: own.cacheWriteLong ?? known?.cacheWriteLong ?? null,
  }
}

export function isPriced({ input, output }: TokenPrices): boolean {
  return input !== null || output !== null
}

/** As `price` in a configuration of Tollgate. `factor`: what a margin or a discount makes of it. */
export function writtenPrice(prices: TokenPrices, factor = 1): 'free' | Record<string, number> {
  const rate = (name: string, each: number | null): readonly (readonly [string, number])[] =>
    each === null ? [] : [[name, perMillion(each * factor)]]
  const written = Object.fromEntries([
    ...rate('input', prices.input ?? 0),
    ...rate('output', prices.output ?? 0),
    ...rate('cached', prices.cached),
    ...rate('cache_write', prices.cacheWrite),
    ...rate('cache_write_long', prices.cacheWriteLong),
  ])
  return Object.values(written).every((each) => each === 0) ? 'free' : written
}

/** USD per million tokens with at most 6 decimals, rounded up; floats carry about 15 digits. */
export function perMillion(perToken: number): number {
  const picodollars = Math.ceil(Number((perToken * 1e12).toPrecision(12)))
  return Number((picodollars / 1e6).toFixed(6))
}

// LiteLLM's budgets last for a duration from whenever they began; Tollgate's for a period of the calendar.

type Period = PeriodRule['period']

const DAYS: Readonly<Record<string, number>> = {
  s: 1 / 86_400,
  m: 1 / 1_440,
  h: 1 / 24,
  d: 1,
  w: 7,
  mo: 30,
  y: 365,
}
const PERIODS: readonly (readonly [Period, number])[] = [
  ['day', 1],
  ['week', 7],
  ['month', 30],
  ['year', 365],
]

type PeriodOf = {
  readonly period: Period
  /** What was decided; null = nothing but the calendar. */
  readonly remark: string | null
  /** Whether a period of the calendar has about this length. */
  readonly isClose: boolean
}

/** The period that a duration such as `30d` comes closest to. Null = the budget never resets. */
export function periodOf(duration: string | null): PeriodOf {
  if (duration === null || duration === '') {
    return { period: 'never', remark: 'it never resets there', isClose: true }
  }
  const days = daysOf(duration)
  if (!(days > 0)) {
    const remark = `its duration there, ${duration}, is not understood: it never resets here`
    return { period: 'never', remark, isClose: false }
  }
  const [period, length] = PERIODS.toSorted(
    ([, one], [, other]) => Math.abs(Math.log(one / days)) - Math.abs(Math.log(other / days)),
  )[0] ?? ['month', 30]
  const isClose = Math.abs(length - days) <= length / 10
  const remark = isClose
    ? `${duration} there, a ${period} of the calendar here`
    : `${duration} there: the closest period of the calendar is a ${period}, so check the amount`
  return { period, remark, isClose }
}

/** The least that a duration lasts, in milliseconds: a month may also be one of the calendar there. */
export function leastLength(duration: string | null): number {
  const days = duration === null ? NaN : daysOf(duration)
  if (!(days > 0)) return Infinity
  return (days < 28 ? days : days * 0.9) * DAY_MS
}

function daysOf(duration: string): number {
  const word = { daily: '1d', weekly: '7d', monthly: '1mo', yearly: '1y' }[duration] ?? duration
  const match = /^(\d+)(s|mo|m|h|d|w|y)$/.exec(word)
  return match === null ? NaN : Number(match[1]) * (DAYS[match[2] ?? ''] ?? NaN)
}
