// One kind of provider: its settings in the configuration, and how to make a provider from them. Each kind is one file,
// and no other file knows its settings; `adapters.ts` lists them.
import { z } from 'zod'
import type { Vendor } from '../../catalog/model-facts.ts'
import type { PriceList } from '../../catalog/price-data.ts'
import type { Clock } from '../../core/clock.ts'
import { defined } from '../../core/json.ts'
import {
  discount,
  flag,
  httpUrl,
  prices,
  renamed,
  someWait,
  text,
  tokens,
} from '../../core/setting-kinds.ts'
import { withoutEndSlash } from '../../core/text.ts'
import type { Log } from '../../telemetry/log.ts'
import { isForbiddenHost } from './addresses.ts'
import type { HttpClient } from './http.ts'
import type { Provider } from './provider.ts'

export type Adapter<Kind extends string, Schema extends z.ZodType> = {
  readonly kind: Kind
  /** The section under `providers.NAME`. */
  readonly settings: Schema
  /** The environment variable its own tools read the key from. If it is set, the provider needs no configuration. */
  readonly variable?: string
  /** The price library's lists for its models, by the names that price_like uses. */
  readonly priceLists: Readonly<Record<string, string>>
  /** The list it bills by, where that is not the one for its kind; null = only the operator knows. */
  readonly priceList?: (settings: z.output<Schema>) => PriceList | null
  /** Whether the model costs more than its list price there, because it is confined to a region. */
  isRegional?(settings: z.output<Schema>, model: string): boolean
  /** The vendor whose main models it serves; null = only the operator knows what it serves. */
  vendor(settings: z.output<Schema>): Vendor | null
  /** Whether a model there may write its cache, and bill for it, without being asked to. */
  writesCacheUnasked?(model: string): boolean
  /** The operator chooses the names of its models. */
  readonly hasFreeNames?: true
  /** The absent or empty setting that keeps it from being used. */
  missing(settings: z.output<Schema>): Missing | undefined
  make(settings: Named<z.output<Schema>>, tools: AdapterTools): Provider
}

type Missing = { readonly setting: string; readonly is: 'absent' | 'empty' }
export type Named<Settings> = Settings & { readonly name: string }
export type AdapterTools = {
  readonly http: HttpClient
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

/** Lets the compiler infer the types of one kind. */
export function defineAdapter<const Kind extends string, Schema extends z.ZodType>(
  adapter: Adapter<Kind, Schema>,
): Adapter<Kind, Schema> {
  return adapter
}

/** Only what a header can carry: otherwise a secret of two lines, say from a file, would fail at the first request. */
const secret = z
  .string()
  .regex(/^[\x20-\x7e]*$/, 'must be a secret on one line, in plain characters')

const NO_SECRET =
  'must be a secret, or a list of secrets: ${VARIABLE} or file:/path keeps it out of this file'

/** One secret or several, among which requests take turns. Empty text is allowed here and leaves the provider out. */
export const apiKeys = z
  .union([secret, z.array(secret).min(1, NO_SECRET)], { error: () => NO_SECRET })
  .transform((keys) => (typeof keys === 'string' ? [keys] : keys))

export function missingKey(keys: readonly string[] | undefined): Missing | undefined {
  if (keys === undefined) return { setting: 'api_key', is: 'absent' }
  return keys.includes('') ? { setting: 'api_key', is: 'empty' } : undefined
}

/** The address of a provider. Private networks are allowed, but not the addresses where clouds serve credentials. */
export const providerUrl = httpUrl
  .refine(
    (value) => !isForbiddenHost(URL.parse(value)?.hostname ?? ''),
    'must not be the metadata service of a cloud: no provider is there',
  )
  .refine((value) => {
    const { username = '', search = '', hash = '' } = URL.parse(value) ?? {}
    return username + search + hash === ''
  }, 'must be an address alone, without a user, a query or a fragment')

/** The prefix of every URL of a provider. */
export const providerBaseUrl = providerUrl.transform(withoutEndSlash)

/** The operator's timeouts for upstream calls; the catalogue supplies the rest. */
export const timeouts = z
  .strictObject({
    connect: someWait.optional(),
    first_byte: someWait.optional(),
    idle: someWait.optional(),
    total: someWait.optional(),
  })
  .transform(({ connect, first_byte, idle, total }) =>
    defined({ connectMs: connect, firstByteMs: first_byte, idleMs: idle, totalMs: total }),
  )

/** What only the operator knows about one of its models. */
const figures = z
  .strictObject({
    price: prices.optional(),
    price_like: text.optional(),
    discount: discount.optional(),
    context: tokens.optional(),
    max_output: tokens.optional(),
  })
  .transform(renamed({ price_like: 'priceLike', max_output: 'maxOutput' }))

/** Settings of every kind. */
export const COMMON = {
  timeouts: timeouts.prefault({}),
  discount: discount.default(0),
  propagate: flag.default(false),
  models: z.record(text, figures).default({}),
}
