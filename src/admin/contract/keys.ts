// Every route below /keys: an external API key as the admin API shows it, the settings that a caller may send, and the
// list.
import { z } from 'zod'
import { ENDPOINTS } from '../../core/endpoints.ts'
import {
  KEY_MODES,
  KEY_STATUSES,
  MODEL_BUDGETS_MAX,
  MODELS_MAX,
  NAME_LENGTH_MAX,
  OVERLAP_MS,
  OVERLAP_MS_MAX,
  RATE_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
  WHEN_TIGHT,
} from '../../core/limits.ts'
import { reminders, thresholds } from './alerts.ts'
import { adminError } from './errors.ts'
import { forecast, frame, frameState } from './groups.ts'
import { route } from './route.ts'
import { callResult, verdict } from './trial.ts'
import {
  amount,
  amountForPeriod,
  anyMoment,
  count,
  FILTER_LENGTH_MAX,
  FILTER_VALUES_MAX,
  furtherBudget,
  keyId,
  moment,
  pastPeriods,
  period,
  reason,
  storable,
  spendReset,
  topUp,
  weekStart,
} from './values.ts'

const keyMode = z.enum(KEY_MODES)

/** The state on a badge: the first of these that is true. */
export const KEY_STATES = [
  'revoked',
  'expired',
  'paused',
  'frame_exhausted',
  'group_exhausted',
  'budget_exhausted',
  'expires_soon',
  'budget_high',
  'rotating',
  'active',
] as const
const keyState = z.enum(KEY_STATES)
export type KeyState = z.output<typeof keyState>

const rate = z.int().min(1).max(RATE_MAX).nullable()
const label = storable(NAME_LENGTH_MAX)

const settings = {
  name: label.refine(
    (name) => name.trim() !== '',
    'a key needs a name that says which application and environment it is for',
  ),
  environment: label.nullable(),
  owner: label.nullable(),
  description: storable(TEXT_LENGTH_MAX).nullable(),
  tags: z.array(label).max(TAGS_MAX),
  models: z.array(label).max(MODELS_MAX),
  permissions: z.array(z.enum(ENDPOINTS)),
  /** Null: no limit of its own, the frame alone limits it. */
  budget: amount.nullable(),
  period,
  timezone: z.string(),
  week_start: weekStart,
  rpm: rate,
  tpm: rate,
  concurrency: rate,
  request_cost_max: amount.nullable(),
  when_tight: z.enum(WHEN_TIGHT),
  /** Percent of the budget at which alerts are given; an empty list: none. */
  alert_thresholds: thresholds,
  /** Days before the expiry on which an alert is given; an empty list: none. */
  expiry_reminders: reminders,
}

/** What is written in another form than it is shown. */
const written = {
  /** The id of a group; null: outside groups. */
  group: z.string().nullable(),
  /** The id of a person; null: nobody in particular. */
  owner_person: z.string().nullable(),
  /** A second budget, for another period; null: none. */
  window: amountForPeriod.nullable(),
  /** What it may spend on single models: all of these budgets, one per model. */
  model_budgets: z.array(amountForPeriod.extend({ model: label })).max(MODEL_BUDGETS_MAX),
  expires_at: anyMoment.nullable(),
}

/** A new key; fields left out get the same defaults as on the command line. */
export const newKey = z
  .strictObject({ ...settings, ...written })
  .partial()
  .required({ name: true, models: true, budget: true })
  .extend({ mode: keyMode.optional() })

/** Fields left out stay as they are. `models` and `model_budgets` are whole lists; the others add to them and remove from them. */
export const keyChange = z
  .strictObject({
    ...settings,
    ...written,
    add_models: settings.models,
    remove_models: settings.models,
    add_model_budgets: written.model_budgets,
    remove_model_budgets: settings.models,
    /** Why, for the record. */
    reason,
  })
  .partial()

/** Common to the list and the page of one key. */
const shown = {
  id: z.string(),
  name: z.string(),
  mode: keyMode,
  status: z.enum(KEY_STATUSES),
  state: keyState,
  /** The newest secret, masked: `tg_live_…x7Qd`. */
  masked: z.string(),
  /** Who paused it: its owner, as a member of the group, or somebody who manages it. Null unless it is paused. */
  paused_by: z.enum(['owner', 'manager']).nullable(),
  /** The code of the last call that was refused, within an hour; null if none was: as `refusing_now` counts. */
  refused_with: z.string().nullable(),
  /** The secret from before the last rotation, while it still works. */
  old_secret: z
    .object({ masked: z.string(), valid_until: moment, last_used_at: moment.nullable() })
    .nullable(),
  /** Calls of a key in an archived group are refused. */
  group: z
    .object({ id: z.string(), name: z.string(), status: z.enum(['active', 'archived']) })
    .nullable(),
  environment: z.string().nullable(),
  owner: z.string().nullable(),
  description: settings.description,
  owner_person: z.object({ id: z.string(), name: z.string(), email: z.string() }).nullable(),
  tags: settings.tags,
  permissions: settings.permissions,
  budget: settings.budget,
  /** Added to the budget until the period ends. */
  top_up: amount,
  /** budget + top_up; null without a limit of its own. */
  limit: amount.nullable(),
  period,
  timezone: settings.timezone,
  week_start: weekStart,
  spent: amount,
  held: amount,
  remaining: amount.nullable(),
  resets_at: moment.nullable(),
  window: furtherBudget.nullable(),
  model_budgets: z.array(furtherBudget.extend({ model: z.string() })),
  request_cost_max: amount.nullable(),
  /**
   * This key's spending in the frame's period as a fraction of the frame's limit; it can exceed 1. This and the next are
   * null for those who are confined to groups.
   */
  frame_share: z.number().nullable(),
  /** Less is left in the frame than in the key's own budget. */
  frame_binds: z.boolean().nullable(),
  rpm: rate,
  tpm: rate,
  concurrency: rate,
  when_tight: settings.when_tight,
  created_at: moment,
  expires_at: moment.nullable(),
  last_used_at: moment.nullable(),
  /** For If-Match. */
  version: z.string(),
}

const keyRow = z.object({
  ...shown,
  /** Only with `with=models`. */
  models: settings.models.optional(),
  model_count: z.int(),
  /** Allowed, but not in the catalogue at present, or not available. */
  unavailable_model_count: z.int(),
  /** The last 7 days (UTC), oldest first; null = no requests on that day. */
  cost_7d: z.object({ days: z.array(amount.nullable()), total: amount }),
})

const keyDetail = z.object({
  ...shown,
  models: settings.models,
  /** As far as the ceiling of its group goes. */
  callable_models: settings.models,
  unavailable_models: z.array(z.string()),
  /** For names that do not exist and may be mistyped: the closest name that does exist. */
  closest_models: z.record(z.string(), z.string()),
  alert_thresholds: settings.alert_thresholds,
  expiry_reminders: settings.expiry_reminders,
  /** When the newest secret was last used, while an old one still works; else null. */
  secret_last_used_at: moment.nullable(),
  period_starts_at: moment.nullable(),
  forecast: forecast.nullable(),
  history: pastPeriods,
  revoked_at: moment.nullable(),
  revoked_reason: z.string().nullable(),
})

/** The only answers with a secret: creation and rotation. Null if the request is repeated: a secret is shown once. */
const keyWithSecret = z.object({ ...keyDetail.shape, secret: z.string().nullable() })

/** The chips above the list: each counts the keys, except revoked ones, that need attention. */
export const KEY_CONCERNS = [
  /** Calls of it were refused within the last hour. */
  'refusing_now',
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

/** Repeated, any of the values will do; upper and lower case are the same. */
const anyOf = z.union([z.string(), z.array(z.string()).max(FILTER_VALUES_MAX)])

export const keyFilters = z.object({
  /** Matches the name, the owner, the environment, the tags, the id, or the last characters of the secret. */
  search: z.string().max(FILTER_LENGTH_MAX).optional(),
  /** `current` = all but revoked ones. */
  status: z.enum(['current', ...KEY_STATUSES]).optional(),
  concern: z.enum(KEY_CONCERNS).optional(),
  used: z.enum(['last_30_days', 'not_last_30_days']).optional(),
  /** The id of a group; `none` = outside groups. */
  group: anyOf.optional(),
  owner: anyOf.optional(),
  /** The id of a person. */
  owner_person: z.string().optional(),
  environment: anyOf.optional(),
  mode: keyMode.optional(),
  tag: anyOf.optional(),
  /** Keys that may call this model. */
  model: z.string().optional(),
  sort: z.enum(KEY_SORTS).default('name'),
  order: z.enum(['asc', 'desc']).default('asc'),
})

const keyQuery = keyFilters.extend({
  /** Also their allowlists, which may be long. */
  with: z.literal('models').optional(),
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
    refusing_now: z.int(),
    no_own_limit: z.int(),
    never_expires: z.int(),
    unused_90_days: z.int(),
    expiring_7_days: z.int(),
    over_80_percent: z.int(),
  }),
  /** Null for those who are confined to groups: they learn only whether it has room. */
  frame: frame.nullable(),
  frame_state: frameState,
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

export const keyRoutes = {
  listLabels: route('GET /labels', 'configuration:read', {
    reach: 'own',
    summary: 'The owners, environments and tags of keys, to choose from',
    answer: z.object({
      owners: z.array(z.string()),
      environments: z.array(z.string()),
      tags: z.array(z.string()),
    }),
  }),
  listKeys: route('GET /keys', 'configuration:read', {
    reach: 'own',
    summary: 'Keys, a page at a time',
    query: keyQuery,
    answer: keyPage,
  }),
  exportKeys: route('GET /keys.csv', 'configuration:read', {
    reach: 'own',
    summary: 'Keys as comma-separated values',
    query: keyFilters,
    answer: z.string(),
    media: 'text/csv',
  }),
  createKey: route('POST /keys', 'configuration:manage', {
    reach: 'own',
    summary: 'Create a key; its secret is only in this answer',
    body: newKey,
    answer: keyWithSecret,
    status: 201,
    idempotent: true,
  }),
  findKey: route('GET /key', 'configuration:read', {
    reach: 'own',
    summary: 'The key that is not revoked with a name: NAME, or GROUP/NAME where several have it',
    query: z.object({ name: z.string().max(2 * FILTER_LENGTH_MAX) }),
    answer: keyDetail,
  }),
  changeKeys: route('POST /keys/bulk', 'configuration:manage', {
    reach: 'own',
    summary: 'Change many keys; each succeeds or fails on its own',
    body: bulk,
    answer: bulkResult,
    idempotent: true,
  }),
  readKey: route('GET /keys/:id', 'configuration:read', {
    reach: 'own',
    summary: 'One key',
    answer: keyDetail,
  }),
  changeKey: route('PATCH /keys/:id', 'configuration:manage', {
    reach: 'own',
    summary: 'Change a key; needs If-Match',
    body: keyChange,
    answer: keyDetail,
    versioned: true,
  }),
  pauseKey: route('POST /keys/:id/pause', 'configuration:manage', {
    reach: 'own',
    summary: 'Refuse the requests of a key until it is resumed',
    answer: keyDetail,
  }),
  resumeKey: route('POST /keys/:id/resume', 'configuration:manage', {
    reach: 'own',
    summary: 'Let a paused key work again',
    answer: keyDetail,
  }),
  revokeKey: route('POST /keys/:id/revoke', 'configuration:manage', {
    reach: 'own',
    summary: 'End a key for good',
    body: z.strictObject({ reason }),
    answer: keyDetail,
  }),
  rotateKey: route('POST /keys/:id/rotate', 'configuration:manage', {
    reach: 'own',
    summary: 'Give a key a new secret, shown only in this answer',
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
  endOverlap: route('POST /keys/:id/end-overlap', 'configuration:manage', {
    reach: 'own',
    summary: 'Stop the old secret of a rotated key now',
    answer: keyDetail,
  }),
  resetKey: route('POST /keys/:id/reset-spend', 'configuration:manage', {
    reach: 'groups',
    summary: 'Start the period of a budget of a key over, now',
    body: spendReset,
    answer: keyDetail,
    idempotent: true,
  }),
  topUpKey: route('POST /keys/:id/top-up', 'configuration:manage', {
    reach: 'groups',
    summary: 'Add to a budget of a key until its period ends',
    body: topUp,
    answer: keyDetail,
    idempotent: true,
  }),
  testKey: route('POST /keys/:id/test', 'configuration:manage', {
    reach: 'own',
    summary: 'Make one small call with a key, at its expense',
    body: z.strictObject({ model: z.string().optional() }),
    answer: callResult,
  }),
  readLimits: route('GET /keys/:id/limits', 'configuration:read', {
    reach: 'own',
    summary: 'Whether a call would pass now, and what blocks it',
    query: z.object({ model: z.string().optional() }),
    answer: verdict,
  }),
}

export type KeyRow = z.output<typeof keyRow>
export type KeyDetail = z.output<typeof keyDetail>
export type NewKeyBody = z.output<typeof newKey>
export type KeyChangeBody = z.output<typeof keyChange>
export type KeyPage = z.output<typeof keyPage>
export type KeyQuery = z.output<typeof keyQuery>
export type KeyFilters = z.output<typeof keyFilters>
