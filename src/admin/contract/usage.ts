// Usage and its cost, by any of its dimensions; and single requests: what was requested, which
// target answered, what it cost; and those that were refused. Only metadata, never the content.
import { z } from 'zod'
import { REFUSAL_CODES } from '../../core/errors.ts'
import { DIMENSIONS, REPORT_ROWS } from '../../core/limits.ts'
import { route } from './route.ts'
import { amount, count, FILTER_LENGTH_MAX, groupId, keyId, moment, page, range } from './values.ts'

const names = DIMENSIONS.join('|')

/** One or several, separated by commas: `day,model`. */
const dimensions = z
  .string()
  .regex(
    new RegExp(`^(${names})(,(${names})){0,3}$`),
    'group by day, hour, group, key, owner, environment, tag, model, provider or endpoint, or by several of them, separated by commas',
  )
  .meta({
    description: `One or several of ${DIMENSIONS.join(', ')}. A key with two tags counts in both: their rows add up to more than the total.`,
    examples: ['day,model'],
  })

const text = z.string().max(FILTER_LENGTH_MAX).optional()

/** Only usage that matches all of them. Empty: what has none, such as keys without an owner. */
const filters = {
  key: keyId.optional(),
  /** The id of a group, which a request keeps when its key moves; `none` = outside groups. */
  group: groupId.or(z.literal('none')).optional(),
  /** Owner, environment and tags are those that keys have now. */
  owner: text,
  environment: text,
  tag: text,
  model: text,
  provider: text,
  endpoint: text,
}

const usageQuery = z.object({
  /** Default: the 30 days before its end. */
  ...range,
  ...filters,
  by: dimensions.default('day'),
  compare: z
    .enum(['previous'])
    .optional()
    .meta({ description: 'Also report the preceding time of the same length' }),
  /** If there are more rows, the most expensive ones are kept. */
  limit: count(1, 10_000).default(REPORT_ROWS),
})

const tokens = {
  input_tokens: z.int(),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
}

const sums = {
  requests: z.int(),
  failed: z.int(),
  /** Turned away with 401, 402, 403 or 429, before anything was held; counted in `requests`. */
  refused: z.int(),
  ...tokens,
  cost: amount,
  /** The number of requests charged by estimate. */
  estimated: z.int(),
}

const usageRow = z.object({
  /** Null where rows are not grouped by it; empty where there is none. */
  key: z.string().nullable(),
  key_name: z.string().nullable(),
  /** `none` outside groups. By key: the one that the key was in, null if it was moved. */
  group: z.string().nullable(),
  group_name: z.string().nullable(),
  /** Also by key: what the key has now. */
  owner: z.string().nullable(),
  environment: z.string().nullable(),
  tags: z.array(z.string()).readonly().nullable(),
  /** The tag that the row is about. */
  tag: z.string().nullable(),
  model: z.string().nullable(),
  /** Empty where no provider answered. */
  provider: z.string().nullable(),
  endpoint: z.string().nullable(),
  /** `2026-11-15`, UTC. */
  day: z.string().nullable(),
  /** The first moment of the hour. */
  hour: moment.nullable(),
  ...sums,
  /** By model alone, of everything: until half of the answers, and 95 % of them, were complete or had begun. */
  latency_ms_p50: z.int().nullable(),
  latency_ms_p95: z.int().nullable(),
  first_token_ms_p50: z.int().nullable(),
  first_token_ms_p95: z.int().nullable(),
})

const report = z.object({
  since: moment,
  until: moment,
  rows: z.array(usageRow),
  /** Of all rows, including those left out. By tag, each request counts once here. */
  total: z.object(sums),
})

const usageAnswer = report.extend({
  /** How many cheaper rows were left out, and what they add up to. */
  left_out: z.int(),
  rest: z.object(sums),
  /** With compare=previous: the time of the same length before, without grouping by day or hour. */
  previous: report.nullable(),
})

const statementQuery = z.object({
  group: groupId,
  /** In the time zone of the group. Single requests must still be kept: `ledger.keep_usage`. */
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'enter a month such as 2026-11')
    .meta({ examples: ['2026-11'] }),
})

export const usageRoutes = {
  readUsage: route('GET /usage', 'usage:read', {
    reach: 'own',
    summary: 'Usage of everything, or of what matches: by day, group, key, owner, model and more',
    query: usageQuery,
    answer: usageAnswer,
  }),
  exportUsage: route('GET /usage.csv', 'usage:read', {
    reach: 'own',
    summary: 'Usage as comma-separated values',
    query: usageQuery,
    answer: z.string(),
    media: 'text/csv',
  }),
  readStatement: route('GET /statement.html', 'usage:read', {
    reach: 'groups',
    summary: 'A month of a group by key, model and price, with adjustments: a page to print',
    query: statementQuery,
    answer: z.string(),
    media: 'text/html',
  }),
  exportStatement: route('GET /statement.csv', 'usage:read', {
    reach: 'groups',
    summary: 'The same as comma-separated values',
    query: statementQuery,
    answer: z.string(),
    media: 'text/csv',
  }),
  readKeyUsage: route('GET /keys/:id/usage', 'usage:read', {
    reach: 'own',
    summary: 'Usage of one key',
    query: usageQuery.omit({ key: true }).extend({ by: dimensions.default('day,model') }),
    answer: usageAnswer,
  }),
}

export type StatementQuery = z.output<typeof statementQuery>
export type UsageQuery = z.output<typeof usageQuery>
export type UsageAnswer = z.output<typeof usageAnswer>
export type UsageRow = z.output<typeof usageRow>

const requestQuery = z.object({
  key: keyId.optional(),
  model: z.string().optional(),
  outcome: z.enum(['ok', 'failed']).optional(),
  ...range,
  ...page,
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
  ...tokens,
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

const refusalQuery = z.object({
  /** The group that the key was in when it was refused. */
  group: groupId.optional(),
  key: keyId.optional(),
  code: z.enum(REFUSAL_CODES).optional(),
  ...range,
  /** The `next` of the previous page. */
  before: z.string().optional(),
  limit: count(1, 200).default(50),
})

/** A call that was turned away, with as much of it as is kept: never its content. */
const refusal = z.object({
  id: z.string(),
  created_at: moment,
  /** Null: the secret opens no key. */
  key: z.string().nullable(),
  key_name: z.string().nullable(),
  /** That secret, masked; null when it was not in our form. */
  masked: z.string().nullable(),
  code: z.string(),
  /** What had no room, and which of its budgets, by how often it resets. */
  scope: z.string().nullable(),
  period: z.string().nullable(),
  endpoint: z.string().nullable(),
  /** As the client wrote it, at most 200 characters. */
  model: z.string().nullable(),
  /** What the call could have cost, and what was neither spent nor held. */
  required: amount.nullable(),
  remaining: amount.nullable(),
  user_agent: z.string().nullable(),
  /** As much of it as `refusals.address` says. */
  address: z.string().nullable(),
  /** How many more with the same key and code in the same hour were only counted. */
  further: z.int(),
})

const refusalPage = z.object({
  refusals: z.array(refusal),
  /** Where the next page begins; null = there is no more. */
  next: z.string().nullable(),
})

/** The sentences that `why` is made of, by name. */
const reasons = z.array(z.string())

/** Why it cost what it cost, recomputed from the books. */
export const requestDetail = requestRow.extend({
  /** The hold that it was admitted with, and the group that it was held in; null outside groups. */
  hold: z.int(),
  group: z.string().nullable(),
  /** Of OpenTelemetry, where it is on. */
  trace_id: z.string().nullable(),
  settled_at: moment,
  attempts: z.array(
    z.object({
      target: z.string(),
      why: z.string(),
      reasons,
      outcome: z.string(),
      duration_ms: z.number(),
    }),
  ),
  /** The budgets that it was charged to, each in the period of this number; `window`: its second one. */
  legs: z.array(
    z.object({
      scope: z.enum(['key', 'group', 'frame', 'model']),
      account: z.string(),
      window: z.boolean(),
      period: z.int(),
    }),
  ),
  price_version: z.string().nullable(),
  /** Counts, with prices in USD per million; the price of a fee is in USD. */
  lines: z.array(
    z.object({
      what: z.string(),
      count: z.number(),
      price: z.string(),
      /** count × price, rounded up to the nano-dollar. */
      cost: amount,
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
  listRequests: route('GET /requests', 'requests:read', {
    reach: 'own',
    summary: 'Requests of all keys, newest first',
    query: requestQuery,
    answer: requestPage,
  }),
  readRequest: route('GET /requests/:id', 'requests:read', {
    reach: 'own',
    summary: 'One request, and why it cost what it cost',
    params: z.object({ id: z.string().max(100) }),
    answer: requestDetail,
  }),
  listKeyRequests: route('GET /keys/:id/requests', 'requests:read', {
    reach: 'own',
    summary: 'Requests of one key, newest first',
    query: requestQuery.omit({ key: true }),
    answer: requestPage,
  }),
}

export const refusalRoutes = {
  listRefusals: route('GET /refusals', 'requests:read', {
    reach: 'own',
    summary: 'Calls that were refused with 401, 402, 403 or 429, newest first',
    query: refusalQuery,
    answer: refusalPage,
  }),
  listKeyRefusals: route('GET /keys/:id/refusals', 'requests:read', {
    reach: 'own',
    summary: 'Refused calls of one key, newest first',
    query: refusalQuery.omit({ key: true }),
    answer: refusalPage,
  }),
}

export type RefusalQuery = z.output<typeof refusalQuery>
export type RefusalRow = z.output<typeof refusal>
export type RequestQuery = z.output<typeof requestQuery>
export type RequestAnswer = z.output<typeof requestDetail>
export type RequestRow = z.output<typeof requestRow>
