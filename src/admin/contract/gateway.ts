// The gateway itself, and its models: their targets and health, what they cost and can do, and how many keys may call them.
import { z } from 'zod'
import { ABILITIES, AUTH_HEADERS } from '../../core/endpoints.ts'
import { route } from './route.ts'
import { amount, moment } from './values.ts'

const standing = z.enum(['uncalled', 'answering', 'failing', 'resting'])

const rates = {
  input: amount,
  cached: amount,
  cache_write: amount,
  cache_write_long: amount,
  output: amount,
}

/** USD per million tokens. */
const price = z.object({
  ...rates,
  /** The rates for all tokens of a request with more input tokens than this; absent = the same rates. */
  tiers: z.array(z.object({ above_input_tokens: z.int(), ...rates })).optional(),
  /** The part that is taken off the list price; absent = none. */
  discount: z.string().optional(),
  /** The price before the discount; absent = there is none. */
  list: z.object(rates).optional(),
})

const target = z.object({
  provider: z.string(),
  model: z.string(),
  weight: z.int(),
  role: z.enum(['target', 'fallback']),
  price,
  /** Judged by its calls so far, in the process that answers: others keep their own count. */
  standing,
  /** Why it fails or rests: its last error and, if the provider refused the gateway's own account, that refusal. */
  failure: z.object({ code: z.string(), refusal: z.string().nullable() }).nullable(),
  /** Null = it gets requests. */
  rests_until: moment.nullable(),
})

export const model = z.object({
  id: z.string(),
  kind: z.enum(['chat', 'embedding']),
  /** The first target's. */
  provider: z.string().nullable(),
  targets: z.array(target),
  /** The first target's; null when no price is known. A request costs what the target costs that answers it. */
  price: price.nullable(),
  context: z.int().nullable(),
  max_output: z.int().nullable(),
  abilities: z.record(z.enum(ABILITIES), z.union([z.boolean(), z.literal('unknown')])),
  available: z.boolean(),
  /** Why it is not available, or which parts of it are left out. */
  reason: z.string().nullable(),
  /** The common standing of its targets; degraded = some of them fail or rest, others do not. */
  health: z.enum([...standing.options, 'degraded', 'unavailable']),
  /** The number of keys that may call it, except revoked ones: `GET /keys?model=` lists them. */
  key_count: z.int(),
})

export const modelRoutes = {
  listModels: route('GET /models', 'configuration:read', {
    reach: 'own',
    summary: 'All models',
    answer: z.object({ models: z.array(model) }),
  }),
}

export type ModelAnswer = z.output<typeof model>

// What the web interface must know about this gateway first.

export const aboutRoutes = {
  readOpenApi: route('GET /openapi.json', 'public', {
    summary: 'This document',
    answer: z.record(z.string(), z.unknown()),
  }),
  about: route('GET /about', 'signed-in', {
    summary: 'The gateway behind this interface',
    answer: z.object({
      version: z.string(),
      /** Where programs reach the data plane, for snippets to copy. */
      base_url: z.string(),
      now: moment,
      /** The caller's address, as the gateway sees it. */
      address: z.string(),
      /** Whether a key must be in the header of the endpoint's family, or may be in either. */
      auth_headers: z.enum(AUTH_HEADERS),
      email_available: z.boolean(),
    }),
  }),
}
