// Every route below /groups and /frame: what stands above keys as the admin API shows it, and the settings that a caller
// may send. The members of groups are in people.ts.
import { z } from 'zod'
import { MODELS_MAX, NAME_LENGTH_MAX, RATE_MAX, TEXT_LENGTH_MAX } from '../../core/limits.ts'
import { route } from './route.ts'
import {
  amount,
  amountForPeriod,
  furtherBudget,
  moment,
  pastPeriods,
  period,
  reason,
  storable,
  spendReset,
  topUp,
  weekStart,
} from './values.ts'

/** If the pace of this period goes on; null while there is too little to judge by. */
export const forecast = z.object({
  /** The spending at the end of the period. */
  spent_at_reset: amount,
  /** When the budget runs out, if that is before the period ends. */
  exhausted_at: moment.nullable(),
})

const rate = z.int().min(1).max(RATE_MAX).nullable()
const label = storable(NAME_LENGTH_MAX)

/** What members may choose for keys of their own. */
export const keyRules = z.strictObject({
  self_service: z.boolean(),
  budget_max: amountForPeriod.nullable(),
  days_max: z.int().min(1).nullable(),
  keys_max: z.int().min(1).nullable(),
  /** Null: any. */
  environments: z.array(label).nullable(),
  rpm_max: rate,
  tpm_max: rate,
  concurrency_max: rate,
})

const settings = {
  name: label,
  description: storable(TEXT_LENGTH_MAX).nullable(),
  /** Null: no limit of its own, the frame alone limits it. */
  budget: amount.nullable(),
  period,
  timezone: z.string(),
  week_start: weekStart,
  request_cost_max: amount.nullable(),
  rpm: rate,
  tpm: rate,
  concurrency: rate,
  /** What its keys may call at most; null: whatever their own allowlists say. */
  models: z.array(label).max(MODELS_MAX).nullable(),
}

const written = z
  .strictObject({
    ...settings,
    /** A second budget, for another period; null: none. */
    window: amountForPeriod.nullable(),
    key_rules: keyRules.partial(),
  })
  .partial()

const newGroup = written.required({ name: true })

export const group = z.object({
  id: z.string(),
  ...settings,
  status: z.enum(['active', 'archived']),
  window: furtherBudget.nullable(),
  key_rules: keyRules,
  /** Added to the budget until the period ends. */
  top_up: amount,
  /** budget + top_up; null without a limit of its own. */
  limit: amount.nullable(),
  spent: amount,
  held: amount,
  remaining: amount.nullable(),
  resets_at: moment.nullable(),
  /** The budgets of its keys that are not revoked; it may exceed the group's own. */
  allocated: amount,
  /** How many keys, without revoked ones, and how many members it has. */
  keys: z.int(),
  members: z.int(),
  created_at: moment,
  /** For If-Match. */
  version: z.string(),
})

const groupDetail = group.extend({
  period_starts_at: moment.nullable(),
  forecast: forecast.nullable(),
  history: pastPeriods,
  /** The names of keys that can call nothing, because the ceiling leaves out all their models; at most 100. */
  keys_without_models: z.array(z.string()),
})

export const groupRoutes = {
  listGroups: route('GET /groups', 'configuration:read', {
    reach: 'groups',
    summary: 'All groups, by name',
    answer: z.object({ groups: z.array(group) }),
  }),
  createGroup: route('POST /groups', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Create a group of keys',
    body: newGroup,
    answer: groupDetail,
    status: 201,
    idempotent: true,
  }),
  readGroup: route('GET /groups/:id', 'configuration:read', {
    reach: 'groups',
    summary: 'One group',
    answer: groupDetail,
  }),
  changeGroup: route('PATCH /groups/:id', 'configuration:manage', {
    reach: 'groups',
    summary: 'Change a group; needs If-Match',
    body: written.extend({ reason: reason.optional() }),
    answer: groupDetail,
    versioned: true,
  }),
  archiveGroup: route('POST /groups/:id/archive', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Refuse new requests of all keys of a group until it is activated',
    answer: groupDetail,
  }),
  activateGroup: route('POST /groups/:id/activate', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Let the keys of an archived group work again',
    answer: groupDetail,
  }),
  topUpGroup: route('POST /groups/:id/top-up', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Add to a budget of a group until its period ends',
    body: topUp,
    answer: groupDetail,
    idempotent: true,
  }),
  resetGroup: route('POST /groups/:id/reset-spend', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Start the period of a budget of a group over, now',
    body: spendReset,
    answer: groupDetail,
    idempotent: true,
  }),
}

export type GroupAnswer = z.output<typeof group>
export type GroupDetail = z.output<typeof groupDetail>
export type GroupBody = z.output<typeof written>

export const frame = z.object({
  budget: amount,
  /** Added to the budget until the period ends. */
  top_up: amount,
  /** budget + top_up. */
  limit: amount,
  period,
  timezone: z.string(),
  week_start: weekStart,
  spent: amount,
  held: amount,
  remaining: amount,
  period_starts_at: moment.nullable(),
  resets_at: moment.nullable(),
  /** A second budget, for another period. */
  window: furtherBudget.nullable(),
  /** The budgets of active groups and of keys outside groups that are not revoked; it may exceed the frame's own. */
  allocated: amount,
  forecast: forecast.nullable(),
  /** For If-Match. */
  version: z.string(),
})

const frameDetail = frame.extend({ history: pastPeriods })

/** As much of it as those learn who are confined to groups. */
export const frameState = z.enum(['has_room', 'exhausted'])

const frameChange = z
  .strictObject({
    budget: amount,
    period,
    timezone: z.string(),
    week_start: weekStart,
    window: amountForPeriod.nullable(),
    /** Why, for the record. */
    reason,
  })
  .partial()

export const frameRoutes = {
  readFrame: route('GET /frame', 'configuration:read', {
    reach: 'everywhere',
    summary: 'The budget frame above all keys',
    answer: frameDetail,
  }),
  changeFrame: route('PUT /frame', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Change the frame; needs If-Match',
    body: frameChange,
    answer: frameDetail,
    versioned: true,
  }),
  topUpFrame: route('POST /frame/top-up', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Add to the frame until its period ends',
    body: topUp,
    answer: frameDetail,
    idempotent: true,
  }),
  resetFrame: route('POST /frame/reset-spend', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Start the period of the frame over, now',
    body: spendReset,
    answer: frameDetail,
    idempotent: true,
  }),
}

export type FrameAnswer = z.output<typeof frame>
export type FrameChangeBody = z.output<typeof frameChange>
export type FrameState = z.output<typeof frameState>
