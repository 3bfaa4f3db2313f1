// An external API key as the admin API shows it, and the settings that a caller may send.
import { z } from 'zod'
import { ENDPOINTS } from '../../core/endpoints.ts'
import {
  KEY_MODES,
  MODELS_MAX,
  NAME_LENGTH_MAX,
  RATE_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
  WHEN_TIGHT,
} from '../../core/limits.ts'
import { reminders, thresholds } from './alerts.ts'
import { forecast } from './frame.ts'
import { amount, anyMoment, moment, period, storable, weekStart } from './values.ts'

export const keyMode = z.enum(KEY_MODES)
export const KEY_STATUSES = ['active', 'paused', 'expired', 'revoked'] as const

/** The state on a badge: the first of these that is true. */
export const KEY_STATES = [
  'revoked',
  'expired',
  'paused',
  'frame_exhausted',
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
  when_tight: z.enum(WHEN_TIGHT),
  /** Percent of the budget at which alerts are given; an empty list: none. */
  alert_thresholds: thresholds,
  /** Days before the expiry on which an alert is given; an empty list: none. */
  expiry_reminders: reminders,
}

/** A new key; fields left out get the same defaults as on the command line. */
export const newKey = z
  .strictObject({ ...settings, expires_at: anyMoment.nullable() })
  .partial()
  .required({ name: true, models: true, budget: true })
  .extend({ mode: keyMode.optional() })

/** Fields left out stay as they are. `models` is the whole allowlist; the other two add to it and remove from it. */
export const keyChange = z
  .strictObject({
    ...settings,
    expires_at: anyMoment.nullable(),
    add_models: settings.models,
    remove_models: settings.models,
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
  /** The secret from before the last rotation, while it still works. */
  old_secret: z
    .object({ masked: z.string(), valid_until: moment, last_used_at: moment.nullable() })
    .nullable(),
  environment: z.string().nullable(),
  owner: z.string().nullable(),
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
  /** This key's spending in the frame's period as a fraction of the frame's limit; it can exceed 1. */
  frame_share: z.number(),
  /** Less is left in the frame than in the key's own budget. */
  frame_binds: z.boolean(),
  rpm: rate,
  tpm: rate,
  concurrency: rate,
  created_at: moment,
  expires_at: moment.nullable(),
  last_used_at: moment.nullable(),
  /** For If-Match. */
  version: z.string(),
}

export const keyRow = z.object({
  ...shown,
  model_count: z.int(),
  /** Allowed, but not in the catalogue at present, or not available. */
  unavailable_model_count: z.int(),
  /** The last 7 days (UTC), oldest first; null = no requests on that day. */
  cost_7d: z.object({ days: z.array(amount.nullable()), total: amount }),
})

export const keyDetail = z.object({
  ...shown,
  description: settings.description,
  models: settings.models,
  unavailable_models: z.array(z.string()),
  /** For names that do not exist and may be mistyped: the closest name that does exist. */
  closest_models: z.record(z.string(), z.string()),
  when_tight: settings.when_tight,
  alert_thresholds: settings.alert_thresholds,
  expiry_reminders: settings.expiry_reminders,
  /** When the newest secret was last used, while an old one still works; else null. */
  secret_last_used_at: moment.nullable(),
  period_starts_at: moment.nullable(),
  forecast: forecast.nullable(),
  /** Closed periods, newest first. */
  history: z.array(
    z.object({ starts_at: moment, ends_at: moment, limit: amount.nullable(), spent: amount }),
  ),
  revoked_at: moment.nullable(),
  revoked_reason: z.string().nullable(),
})

/** The only answers with a secret: creation and rotation. Null if the request is repeated: a secret is shown once. */
export const keyWithSecret = z.object({ ...keyDetail.shape, secret: z.string().nullable() })

export type KeyRow = z.output<typeof keyRow>
export type KeyDetail = z.output<typeof keyDetail>
export type NewKeyBody = z.output<typeof newKey>
export type KeyChangeBody = z.output<typeof keyChange>
