// What would become of a call, and what became of one: as the pages of a key and the playground tell it.
import { z } from 'zod'

import { ENDPOINTS } from '../../core/endpoints.ts'
import { amount, balance, moment } from './values.ts'

/** What a budget lacked for a call. */
const shortage = z.object({
  /** The most that the call could have cost. */
  required: amount,
  remaining: amount,
  /** An answer of so many tokens would be let through; null when none would. */
  affordable_output_tokens: z.int().nullable(),
})

/** Whether a call would pass now, told by the code that decides, and every limit that could stop it. */
export const verdict = z.object({
  model: z.string().nullable(),
  endpoint: z.enum(ENDPOINTS),
  passes: z.boolean(),
  /** The error a caller would get; null when the call passes. */
  blocked_by: z
    .object({
      code: z.string(),
      status: z.int(),
      message: z.string(),
      scope: z.enum(['key', 'frame']).nullable(),
      resets_at: moment.nullable(),
      shortage: shortage.nullable(),
    })
    .nullable(),
  /** The most that this call could cost; null when it was stopped before that was known. */
  worst_case: amount.nullable(),
  target: z.string().nullable(),
  key: balance,
  /** `own` = this key's part of what is spent in the frame's period. */
  frame: balance.extend({ own: amount, timezone: z.string() }),
  rates: z.object({
    rpm: z.object({ limit: z.int(), remaining: z.int() }).nullable(),
    tpm: z.object({ limit: z.int(), remaining: z.int() }).nullable(),
    concurrency: z.object({ limit: z.int().nullable(), in_flight: z.int() }),
  }),
})

/** What a call that was really made came to. */
export const callResult = z.object({
  request_id: z.string(),
  model: z.string(),
  passes: z.boolean(),
  status: z.int(),
  /** Null when it went well. */
  error: z
    .object({ code: z.string(), message: z.string(), shortage: shortage.nullable() })
    .nullable(),
  text: z.string().nullable(),
  target: z.string().nullable(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: amount,
  latency_ms: z.int(),
})

export type Shortage = z.output<typeof shortage>
export type Verdict = z.output<typeof verdict>
export type CallResult = z.output<typeof callResult>
