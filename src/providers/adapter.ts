// One kind of provider: what may be written about it in the configuration, and how it is made from that. Each kind is one
// file, and no other file knows its settings; `adapters.ts` lists them.
import { z } from 'zod'

import type { Vendor } from '../catalog/main-models.ts'
import type { PriceList } from '../catalog/price-data.ts'
import type { Clock } from '../core/clock.ts'
import { defined } from '../core/json.ts'
import { httpUrl, someWait } from '../core/setting-kinds.ts'
import { withoutEndSlash } from '../core/url-of.ts'
import type { Log } from '../telemetry/log.ts'
import { isForbiddenHost } from './addresses.ts'
import type { HttpClient } from './http.ts'
import type { Provider } from './provider.ts'

export type Adapter<Kind extends string, Schema extends z.ZodType> = {
  readonly kind: Kind
  /** What stands under `providers.NAME`. */
  readonly settings: Schema
  /** The variable from which its own tools take the key: where that is set, the provider needs no configuration. */
  readonly variable?: string
  /** The price library's lists of what it serves, by the names that price_like has for them. */
  readonly priceLists: Readonly<Record<string, string>>
  /** By which list it bills, where that is not the one of its kind; null = only the operator knows. */
  priceList?(settings: z.output<Schema>): PriceList | null
  /** Whether it is where a model costs more than its list says, for being kept in a region. */
  isRegional?(settings: z.output<Schema>, model: string): boolean
  /** Whose main models it brings; null = only the operator knows what it serves. */
  vendor(settings: z.output<Schema>): Vendor | null
  /** Whether a model there may write its cache, and bill for that, although a request did not ask. */
  writesCacheUnasked?(model: string): boolean
  /** Its models are called whatever the operator called them there. */
  readonly hasFreeNames?: true
  /** Which setting keeps it from being used: one that is not there, or one that is empty. */
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

/** Lets the compiler find the types of one kind. */
export function defineAdapter<const Kind extends string, Schema extends z.ZodType>(
  adapter: Adapter<Kind, Schema>,
): Adapter<Kind, Schema> {
  return adapter
}

/** What a header can carry; a file with two lines would otherwise be found out by the first request. */
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

/** Where a provider is: an address in the house, too, but never where clouds keep credentials. */
export const providerUrl = httpUrl
  .refine(
    (value) => !isForbiddenHost(URL.parse(value)?.hostname ?? ''),
    'must not be the metadata service of a cloud: no provider is there',
  )
  .refine((value) => {
    const { username = '', search = '', hash = '' } = URL.parse(value) ?? {}
    return username + search + hash === ''
  }, 'must be an address alone, without a user, a query or a fragment')

/** What the addresses of all calls to a provider begin with. */
export const providerBaseUrl = providerUrl.transform(withoutEndSlash)

/** What the operator set for the upstream calls; the rest is in the catalogue's hands. */
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

/** What every kind takes. */
export const COMMON = { timeouts: timeouts.prefault({}) }
