// The budget frame above all keys.
import { z } from 'zod'

import { route } from './route.ts'
import {
  amount,
  amountForPeriod,
  furtherBudget,
  moment,
  onBudget,
  period,
  reason,
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

/** As much of it as those learn who are confined to groups. */
export const frameState = z.enum(['has_room', 'exhausted'])

const frameChange = z
  .strictObject({
    budget: amount,
    period,
    timezone: z.string(),
    week_start: weekStart,
    window: amountForPeriod.nullable(),
  })
  .partial()

export const frameRoutes = {
  readFrame: route('GET /frame', 'configuration:read', {
    reach: 'everywhere',
    summary: 'The budget frame above all keys',
    answer: frame,
  }),
  changeFrame: route('PUT /frame', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Change the frame; needs If-Match',
    body: frameChange,
    answer: frame,
    versioned: true,
  }),
  topUpFrame: route('POST /frame/top-up', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Add to the frame until its period ends',
    body: topUp,
    answer: frame,
    idempotent: true,
  }),
  resetFrame: route('POST /frame/reset-spend', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Start the period of the frame over, now',
    body: z.strictObject({ reason, ...onBudget }),
    answer: frame,
    idempotent: true,
  }),
}

export type FrameAnswer = z.output<typeof frame>
export type FrameState = z.output<typeof frameState>
