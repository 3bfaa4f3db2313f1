// Single requests: what was requested, which target answered, what it cost. Only metadata, never the content.
import { z } from 'zod'

import { route } from './route.ts'
import { amount, anyMoment, count, keyId, keyParams, moment } from './values.ts'

const requestQuery = z.object({
  key: keyId.optional(),
  model: z.string().optional(),
  outcome: z.enum(['ok', 'failed']).optional(),
  since: anyMoment.optional(),
  until: anyMoment.optional(),
  /** The `next` of the previous page. */
  before: z.string().optional(),
  limit: count(1, 200).default(50),
})

const requestRow = z.object({
  id: z.string(),
  key: z.string(),
  key_name: z.string().nullable(),
  endpoint: z.string(),
  model: z.string(),
  /** Provider and model that answered; null when none did. */
  target: z.string().nullable(),
  status: z.int(),
  code: z.string().nullable(),
  state: z.enum(['settled', 'voided', 'orphaned', 'adjusted']),
  created_at: moment,
  input_tokens: z.int(),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  /** What was held for it. */
  held: amount,
  cost: amount,
  estimated: z.boolean(),
  latency_ms: z.int(),
  first_token_ms: z.int().nullable(),
  end_user: z.string().nullable(),
})

const requestPage = z.object({
  requests: z.array(requestRow),
  /** Where the next page begins; null = there is no more. A page may be short, even empty, and still have a next. */
  next: z.string().nullable(),
})

/** The sentences that `why` is made of, by name. */
const reasons = z.array(z.string())

/** Why it cost what it cost, recomputed from the books. */
export const requestDetail = requestRow.extend({
  attempts: z.array(
    z.object({
      target: z.string(),
      why: z.string(),
      reasons,
      outcome: z.string(),
      duration_ms: z.number(),
    }),
  ),
  price_version: z.string().nullable(),
  /** Counts, with prices in USD per million; the price of a fee is in USD. */
  lines: z.array(
    z.object({
      what: z.string(),
      count: z.number(),
      price: z.string(),
      /** The price before the discount, and the discount as a part of it; absent where there is none. */
      list_price: z.string().optional(),
      discount: z.string().optional(),
    }),
  ),
  recomputed: amount.nullable(),
  agrees: z.boolean(),
  why: z.string(),
  reasons,
  /** Corrections that people made to it. */
  changes: z.array(
    z.object({
      at: moment,
      actor: z.string(),
      reason: z.string(),
      before: amount.nullable(),
      after: amount.nullable(),
    }),
  ),
})

export const requestRoutes = {
  listRequests: route({
    method: 'GET',
    path: '/requests',
    access: 'requests:read',
    summary: 'Requests of all keys, newest first',
    query: requestQuery,
    answer: requestPage,
  }),
  readRequest: route({
    method: 'GET',
    path: '/requests/:id',
    access: 'requests:read',
    summary: 'One request, and why it cost what it cost',
    params: z.object({ id: z.string().max(100) }),
    answer: requestDetail,
  }),
  listKeyRequests: route({
    method: 'GET',
    path: '/keys/:id/requests',
    access: 'requests:read',
    summary: 'Requests of one key, newest first',
    params: keyParams,
    query: requestQuery.omit({ key: true }),
    answer: requestPage,
  }),
}

export type RequestQuery = z.output<typeof requestQuery>
export type RequestRow = z.output<typeof requestRow>
