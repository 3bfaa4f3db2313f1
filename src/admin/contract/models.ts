// The models: who serves them, how they fare, what they cost and can do, and how many keys may call them.
import { z } from 'zod'

import { ABILITIES } from '../../core/endpoints.ts'
import { route } from './route.ts'
import { amount, moment } from './values.ts'

const standing = z.enum(['uncalled', 'answering', 'failing', 'resting'])

const target = z.object({
  provider: z.string(),
  model: z.string(),
  weight: z.int(),
  role: z.enum(['target', 'fallback']),
  /** What its calls so far say of it, as known to the process that answers: others keep their own count. */
  standing,
  /** Why it fails or rests: its last error, and how the provider turned the gateway's own account away, if it did. */
  failure: z.object({ code: z.string(), refusal: z.string().nullable() }).nullable(),
  /** Null = it gets requests. */
  rests_until: moment.nullable(),
})

const rates = {
  input: amount,
  cached: amount,
  cache_write: amount,
  cache_write_long: amount,
  output: amount,
}

export const model = z.object({
  id: z.string(),
  kind: z.enum(['chat', 'embedding']),
  /** The first target's. */
  provider: z.string().nullable(),
  targets: z.array(target),
  /** USD per million tokens; null when no price is known. */
  price: z
    .object({
      ...rates,
      /** What all tokens of a request cost once it reads more than so many; absent = the same. */
      tiers: z.array(z.object({ above_input_tokens: z.int(), ...rates })).optional(),
    })
    .nullable(),
  context: z.int().nullable(),
  max_output: z.int().nullable(),
  abilities: z.record(z.enum(ABILITIES), z.union([z.boolean(), z.literal('unknown')])),
  available: z.boolean(),
  /** Why it is not available, or what is left out of it. */
  reason: z.string().nullable(),
  /** What its targets have in common; degraded = some of them fail or rest, others do not. */
  health: z.enum([...standing.options, 'degraded', 'unavailable']),
  /** Keys, not revoked, that may call it: `GET /keys?model=` lists them. */
  key_count: z.int(),
})

export const modelRoutes = {
  listModels: route({
    method: 'GET',
    path: '/models',
    access: 'configuration:read',
    summary: 'All models',
    answer: z.object({ models: z.array(model) }),
  }),
}

export type ModelAnswer = z.output<typeof model>
