// Every route below /keys.
import { z } from 'zod'
import { OVERLAP_MS, OVERLAP_MS_MAX } from '../../core/limits.ts'
import { callResult, verdict } from './calls.ts'
import { adminError } from './errors.ts'
import { frame, topUp } from './frame.ts'
import {
  KEY_STATUSES,
  keyChange,
  keyDetail,
  keyMode,
  keyRow,
  keyWithSecret,
  newKey,
} from './key.ts'
import { route } from './route.ts'
import { count, FILTER_LENGTH_MAX, keyId, keyParams, moment, reason } from './values.ts'

/** The chips above the list: each counts the keys, except revoked ones, that need attention. */
export const KEY_CONCERNS = [
  'no_own_limit',
  'never_expires',
  'unused_90_days',
  'expiring_7_days',
  'over_80_percent',
] as const

export const KEY_SORTS = [
  'name',
  'state',
  'percent',
  'spent',
  'share',
  'models',
  'cost_7d',
  'last_used_at',
  'expires_at',
  'owner',
  'created_at',
] as const

export const keyFilters = z.object({
  /** Matches the name, the id, the owner, or the last characters of the secret. */
  search: z.string().max(FILTER_LENGTH_MAX).optional(),
  /** `current` = all but revoked ones. */
  status: z.enum(['current', ...KEY_STATUSES]).optional(),
  concern: z.enum(KEY_CONCERNS).optional(),
  used: z.enum(['last_30_days', 'not_last_30_days']).optional(),
  owner: z.string().optional(),
  environment: z.string().optional(),
  mode: keyMode.optional(),
  tag: z.string().optional(),
  /** Keys that may call this model. */
  model: z.string().optional(),
  sort: z.enum(KEY_SORTS).default('last_used_at'),
  order: z.enum(['asc', 'desc']).default('desc'),
})

const keyQuery = keyFilters.extend({
  page: count(1, 1_000_000).default(1),
  per_page: count(1, 200).default(50),
})

const keyPage = z.object({
  keys: z.array(keyRow),
  page: z.int(),
  per_page: z.int(),
  /** The number of keys that match the filters. */
  total: z.int(),
  counts: z.object({
    all: z.int(),
    active: z.int(),
    paused: z.int(),
    expired: z.int(),
    revoked: z.int(),
    no_own_limit: z.int(),
    never_expires: z.int(),
    unused_90_days: z.int(),
    expiring_7_days: z.int(),
    over_80_percent: z.int(),
  }),
  frame,
  /** When these figures were read. */
  as_of: moment,
})

const bulk = z.strictObject({
  ids: z.array(keyId).min(1).max(1_000),
  change: z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('pause') }),
    z.strictObject({ action: z.literal('resume') }),
    z.strictObject({ action: z.literal('revoke'), reason }),
    z.strictObject({
      action: z.literal('update'),
      // Names are unique, so two keys cannot be given the same one.
      settings: keyChange.omit({ name: true }).extend({
        add_tags: z.array(z.string()).optional(),
        remove_tags: z.array(z.string()).optional(),
      }),
    }),
  ]),
})

const bulkResult = z.object({
  results: z.array(
    z.object({
      id: z.string(),
      name: z.string().nullable(),
      /** Null on success. */
      error: adminError.shape.error.nullable(),
    }),
  ),
})

const manage = { access: 'configuration:manage' } as const
const read = { access: 'configuration:read' } as const

export const keyRoutes = {
  listKeys: route({
    method: 'GET',
    path: '/keys',
    ...read,
    summary: 'Keys, a page at a time',
    query: keyQuery,
    answer: keyPage,
  }),
  exportKeys: route({
    method: 'GET',
    path: '/keys.csv',
    ...read,
    summary: 'Keys as comma-separated values',
    query: keyFilters,
    answer: z.string(),
    media: 'text/csv',
  }),
  createKey: route({
    method: 'POST',
    path: '/keys',
    ...manage,
    summary: 'Create a key; its secret is only in this answer',
    body: newKey,
    answer: keyWithSecret,
    status: 201,
    idempotent: true,
  }),
  changeKeys: route({
    method: 'POST',
    path: '/keys/bulk',
    ...manage,
    summary: 'Change many keys; each succeeds or fails on its own',
    body: bulk,
    answer: bulkResult,
    idempotent: true,
  }),
  readKey: route({
    method: 'GET',
    path: '/keys/:id',
    ...read,
    summary: 'One key',
    params: keyParams,
    answer: keyDetail,
  }),
  changeKey: route({
    method: 'PATCH',
    path: '/keys/:id',
    ...manage,
    summary: 'Change a key; needs If-Match',
    params: keyParams,
    body: keyChange,
    answer: keyDetail,
    versioned: true,
  }),
  pauseKey: route({
    method: 'POST',
    path: '/keys/:id/pause',
    ...manage,
    summary: 'Refuse the requests of a key until it is resumed',
    params: keyParams,
    answer: keyDetail,
  }),
  resumeKey: route({
    method: 'POST',
    path: '/keys/:id/resume',
    ...manage,
    summary: 'Let a paused key work again',
    params: keyParams,
    answer: keyDetail,
  }),
  revokeKey: route({
    method: 'POST',
    path: '/keys/:id/revoke',
    ...manage,
    summary: 'End a key for good',
    params: keyParams,
    body: z.strictObject({ reason }),
    answer: keyDetail,
  }),
  rotateKey: route({
    method: 'POST',
    path: '/keys/:id/rotate',
    ...manage,
    summary: 'Give a key a new secret, shown only in this answer',
    params: keyParams,
    body: z.strictObject({
      /** How long the old secret still works. */
      overlap_seconds: z
        .int()
        .min(0)
        .max(OVERLAP_MS_MAX / 1_000)
        .default(OVERLAP_MS / 1_000),
    }),
    answer: keyWithSecret,
    idempotent: true,
  }),
  endOverlap: route({
    method: 'POST',
    path: '/keys/:id/end-overlap',
    ...manage,
    summary: 'Stop the old secret of a rotated key now',
    params: keyParams,
    answer: keyDetail,
  }),
  resetKey: route({
    method: 'POST',
    path: '/keys/:id/reset-spend',
    ...manage,
    summary: 'Start the period of a key over, now',
    params: keyParams,
    body: z.strictObject({ reason }),
    answer: keyDetail,
    idempotent: true,
  }),
  topUpKey: route({
    method: 'POST',
    path: '/keys/:id/top-up',
    ...manage,
    summary: 'Add to the budget of a key until its period ends',
    params: keyParams,
    body: topUp,
    answer: keyDetail,
    idempotent: true,
  }),
  testKey: route({
    method: 'POST',
    path: '/keys/:id/test',
    ...manage,
    summary: 'Make one small call with a key, at its expense',
    params: keyParams,
    body: z.strictObject({ model: z.string().optional() }),
    answer: callResult,
  }),
  readLimits: route({
    method: 'GET',
    path: '/keys/:id/limits',
    ...read,
    summary: 'Whether a call would pass now, and what blocks it',
    params: keyParams,
    query: z.object({ model: z.string().optional() }),
    answer: verdict,
  }),
}

export type KeyPage = z.output<typeof keyPage>
export type KeyQuery = z.output<typeof keyQuery>
export type KeyFilters = z.output<typeof keyFilters>
