// What models cost at LiteLLM: prices per token as its configuration and its price data write them. The data is a file
// of the operator's own installation (`model_prices_and_context_window_backup.json` in the Python package).
import { readFileSync } from 'node:fs'
import { codeOf } from '../core/errors.ts'
import { isObject, numberOf, parseObject, stringOf, type JsonObject } from '../core/json.ts'
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
