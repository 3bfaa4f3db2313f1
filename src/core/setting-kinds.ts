// The kinds of values a configuration file holds, each with a sentence on what to write instead. Text that looks like
// the wanted number is taken as one, because `${PORT}` can only give text.
import { z } from 'zod'
import { messageOf } from './errors.ts'
import { parseBudget } from './money.ts'
import type { Nanodollars } from './money.ts'
import { isTimezone, timezoneOf } from './periods.ts'
import { DAY_MS, parseDuration, parseSize } from './units.ts'

const ABOVE_ZERO = 'must be above 0: leave it out for the default'
const PRICE_HINT = 'must be a price in USD per million tokens, such as 0.25'

/** In milliseconds. */
export const duration = written(
  parseDuration,
  'must be a duration such as 500ms, 3s, 2m, 24h or 7d',
)

/** A duration for a timer; timers cannot run for more than a few weeks. */
export const wait = duration.refine((ms) => ms <= DAY_MS, 'must be at most 24h')

/** A wait that cannot be switched off by writing 0. */
export const someWait = wait.refine(isAboveZero, ABOVE_ZERO)

/** In bytes. */
export const size = written(parseSize, 'must be a size such as 512KB, 32MB or 1GB')

/** A size that leaves room for something. */
export const someSize = size.refine(isAboveZero, ABOVE_ZERO)

/** An amount of USD with at most 9 decimals. */
export const budget = z
  .union([z.string(), z.number()], {
    error: () => 'must be an amount in USD, such as 100 or 12.50',
  })
  .transform((value, context): Nanodollars => {
    try {
      return parseBudget(String(value))
    } catch (error) {
      const message = `must be a budget: ${messageOf(error)}`
      context.issues.push({ code: 'custom', message, input: value })
      return z.NEVER
    }
  })

/** USD per million tokens. Six decimals are whole pico-USD per token; finer ones could not be charged exactly. */
export const price = z.preprocess(
  toNumber,
  z
    .number({ error: () => PRICE_HINT })
    .min(0, PRICE_HINT)
    .max(1_000_000, PRICE_HINT)
    .refine((usd) => Number(usd.toFixed(6)) === usd, 'may have at most 6 decimals'),
)

const DISCOUNT_HINT = 'must be a part of the list price below 1, such as 0.15 for 15 %'

/** Millionths of the list price: finer ones could not be charged exactly. Below zero, it costs more than on the list. */
export const discount = z.preprocess(
  toNumber,
  z
    .number({ error: () => DISCOUNT_HINT })
    .min(-1, 'must be at least -1, which doubles the list price')
    .lt(1, DISCOUNT_HINT)
    .refine((part) => Number(part.toFixed(6)) === part, 'may have at most 6 decimals')
    .transform((part) => Math.round(part * 1_000_000)),
)

const PRICES_HINT = 'must be free, or prices in USD per million tokens: { input: 0.25, output: 2 }'

/** What a model costs. The output of an entry that only embeds has no price. */
export const prices = z.union(
  [
    z.literal('free'),
    z.strictObject({
      input: price,
      output: price.optional(),
      cached: price.optional(),
      cache_write: price.optional(),
      cache_write_long: price.optional(),
    }),
  ],
  { error: () => PRICES_HINT },
)

/** A number of tokens. */
export const tokens = integer(1, 100_000_000)

export function integer(least: number, most: number) {
  const hint = `must be a whole number from ${least} to ${most}`
  return z.preprocess(
    toNumber,
    z
      .int({ error: () => hint })
      .min(least, hint)
      .max(most, hint),
  )
}

export const flag = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean({ error: () => 'must be true or false' }),
)

export const text = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be text') })
  .min(1, 'must not be empty')

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: () => `must be one of ${values.join(', ')}` })
}

export const timezone = text
  .refine(isTimezone, 'must be an IANA time zone such as UTC or Europe/Berlin')
  .transform((name) => timezoneOf(name) ?? name)

export const httpUrl = text.refine((value) => {
  const url = URL.parse(value)
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:')
}, 'must be an address such as https://api.example.com/v1')

export function isAboveZero(value: number): boolean {
  return value > 0
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

/** Text, or what YAML takes for a number. */
function written(parse: (text: string) => number | undefined, hint: string) {
  return z.union([z.string(), z.number()], { error: () => hint }).transform((value, context) => {
    const number = parse(String(value))
    if (number !== undefined) return number
    context.issues.push({ code: 'custom', message: hint, input: value })
    return z.NEVER
  })
}

type Renamed<Settings, Names> = {
  readonly [
    Name in keyof Settings as Name extends keyof Names ? Extract<Names[Name], string> : Name
  ]: Settings[Name]
}

/** Settings by the names that the code uses for them: in its own spelling, and with their units. */
export function renamed<const Names extends Readonly<Record<string, string>>>(names: Names) {
  return <Settings extends object>(settings: Settings): Renamed<Settings, Names> =>
    Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [names[name] ?? name, value]),
    ) as Renamed<Settings, Names>
}
