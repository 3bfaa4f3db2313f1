// Usage and its cost, by key, model, provider, endpoint, day and hour.
import { z } from 'zod'

import { route } from './route.ts'
import { amount, anyMoment, count, keyId, keyParams, moment } from './values.ts'

const GROUPS = ['key', 'model', 'provider', 'endpoint', 'day', 'hour'] as const
export type Group = (typeof GROUPS)[number]

/** One or several, separated by commas: `day,model`. */
const groups = z
  .string()
  .regex(
    new RegExp(`^(${GROUPS.join('|')})(,(${GROUPS.join('|')})){0,3}$`),
    'group by key, model, provider, endpoint, day or hour, or by several of them, separated by commas',
  )
  .meta({
    description:
      'One or several of key, model, provider, endpoint, day, hour. A report by provider or endpoint covers at most 400,000 requests, without refused ones.',
    examples: ['day,model'],
  })

const range = {
  /** Default: 30 days before `until`. */
  since: anyMoment.optional(),
  /** Default: now. */
  until: anyMoment.optional(),
}

const usageQuery = z.object({
  ...range,
  key: keyId.optional(),
  by: groups.default('day'),
  compare: z
    .enum(['previous'])
    .optional()
    .meta({ description: 'Also report the preceding time of the same length' }),
  /** If there are more rows, the most expensive ones are kept. */
  limit: count(1, 10_000).default(1_000),
})

const sums = {
  requests: z.int(),
  errors: z.int(),
  input_tokens: z.int(),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  cost: amount,
  /** The number of requests charged by estimate. */
  estimated: z.int(),
}

export const usageRow = z.object({
  /** Null where rows are not grouped by it. */
  key: z.string().nullable(),
  key_name: z.string().nullable(),
  model: z.string().nullable(),
  /** Empty where no provider answered. */
  provider: z.string().nullable(),
  endpoint: z.string().nullable(),
  /** `2026-11-15`, UTC. */
  day: z.string().nullable(),
  /** The first moment of the hour. */
  hour: moment.nullable(),
  ...sums,
})

const usageAnswer = z.object({
  since: moment,
  until: moment,
  rows: z.array(usageRow),
  /** Of all rows, including those left out. */
  total: z.object(sums),
  left_out: z.int(),
  /** With compare=previous: the time of the same length before, without grouping by day or hour. */
  previous: z
    .object({
      since: moment,
      until: moment,
      rows: z.array(usageRow),
      total: z.object(sums),
    })
    .nullable(),
})

export const usageRoutes = {
  readUsage: route({
    method: 'GET',
    path: '/usage',
    access: 'usage:read',
    summary: 'Usage of all keys, or of one: by key, model, provider, endpoint, day or hour',
    query: usageQuery,
    answer: usageAnswer,
  }),
  exportUsage: route({
    method: 'GET',
    path: '/usage.csv',
    access: 'usage:read',
    summary: 'Usage as comma-separated values',
    query: usageQuery,
    answer: z.string(),
    media: 'text/csv',
  }),
  readKeyUsage: route({
    method: 'GET',
    path: '/keys/:id/usage',
    access: 'usage:read',
    summary: 'Usage of one key',
    params: keyParams,
    query: usageQuery.omit({ key: true }).extend({ by: groups.default('day,model') }),
    answer: usageAnswer,
  }),
}

export type UsageQuery = z.output<typeof usageQuery>
export type UsageAnswer = z.output<typeof usageAnswer>
export type UsageRow = z.output<typeof usageRow>
