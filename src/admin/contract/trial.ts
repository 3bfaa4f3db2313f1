// Trying a model with a key, at its expense and within its limits: the verdict on a call that could be made, and the
// result of one that was; for the pages of a key and the playground.
import { z } from 'zod'
import type { Format } from '../../core/endpoints.ts'
import { PERIODS } from '../../core/periods.ts'
import { EVENT_STREAM, route } from './route.ts'
import { amount, balance, keyId, moment } from './values.ts'

/** How much a budget lacked for a call. */
const shortage = z.object({
  /** The most that the call could have cost. */
  required: amount,
  remaining: amount,
  /** The longest answer that would be let through; null = none would. */
  affordable_output_tokens: z.int().nullable(),
})

const rate = z.object({ limit: z.int(), remaining: z.int() })

/** What a budget bounds: `model` = a cap for one model, `request` = the cost of a single request. */
export const SCOPES = ['key', 'group', 'frame', 'model', 'request'] as const

/** The endpoints that a model can be tried at. */
const TRIED = ['chat', 'messages', 'responses', 'embeddings'] as const satisfies readonly Format[]

/**
 * Whether a call would pass now, from the code that decides about calls, and every limit that could stop it: a small one,
 * and one that is held as much for as for the middle of the key's last calls.
 */
export const verdict = z.object({
  model: z.string().nullable(),
  endpoint: z.enum(TRIED),
  passes: z.boolean(),
  /** The error a caller would get; null when the call passes. */
  blocked_by: z
    .object({
      code: z.string(),
      status: z.int(),
      message: z.string(),
      scope: z.enum(SCOPES).nullable(),
      /** Which budget of that: by how often it resets. */
      period: z.enum(PERIODS).nullable(),
      resets_at: moment.nullable(),
      shortage: shortage.nullable(),
    })
    .nullable(),
  /** The most that this call could cost; null if it was stopped before that was known. */
  worst_case: amount.nullable(),
  target: z.string().nullable(),
  /** What became of the last calls of the key, at most 20, and the middle of what was held for them. */
  recent: z.object({
    calls: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    refused: z.int(),
    /** Of the refused ones, the newest first. */
    codes: z.array(z.string()),
    /** Null where none of them could cost anything. */
    median_hold: amount.nullable(),
  }),
  /** What is left for it on the budget with the least, second windows and caps included; null = nothing limits it. */
  remaining: amount.nullable(),
  key: balance,
  /** Null outside groups. */
  group: balance.extend({ id: z.string(), name: z.string(), timezone: z.string() }).nullable(),
  /** `own` = this key's part of what is spent in the frame's period. Null for those who are confined to groups. */
  frame: balance.extend({ own: amount, timezone: z.string() }).nullable(),
  rates: z.object({
    rpm: rate.nullable(),
    tpm: rate.nullable(),
    concurrency: z.object({ limit: z.int().nullable(), in_flight: z.int() }),
  }),
})

/** The result of a real call. */
export const callResult = z.object({
  request_id: z.string(),
  model: z.string(),
  passes: z.boolean(),
  status: z.int(),
  /** Null on success. */
  error: z
    .object({ code: z.string(), message: z.string(), shortage: shortage.nullable() })
    .nullable(),
  text: z.string().nullable(),
  target: z.string().nullable(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: amount,
  latency_ms: z.int(),
  /** From the call to the first word; null if none came. */
  first_token_ms: z.int().nullable(),
})

export type Shortage = z.output<typeof shortage>
export type Verdict = z.output<typeof verdict>
export type CallResult = z.output<typeof callResult>

/** The longest answer, unless the call says otherwise. */
export const PLAY_OUTPUT_TOKENS = 4_096

const playgroundCall = z.strictObject({
  key: keyId,
  model: z.string(),
  messages: z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .min(1)
    .max(200),
  max_tokens: z.int().min(1).default(PLAY_OUTPUT_TOKENS),
  temperature: z.number().min(0).max(2).optional(),
})

/** In this order: once that it has begun, then the answer as it comes, then the result with the true figures. */
const playEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('began'), request_id: z.string() }),
  z.object({
    type: z.literal('progress'),
    /** The next words; empty where it only says that the call goes on. */
    text: z.string(),
    /** Estimates: the provider counts at the end. */
    output_tokens: z.int(),
    /** Null if the price of what answers is not known. */
    cost: amount.nullable(),
    latency_ms: z.int(),
  }),
  callResult.extend({ type: z.literal('result') }),
])

export type PlayEvent = z.output<typeof playEvent>
export type Progress = Extract<PlayEvent, { readonly type: 'progress' }>

export const playgroundRoutes = {
  play: route('POST /playground', 'configuration:manage', {
    reach: 'own',
    summary: 'Call a chat model with the limits of a key, at its expense; leaving ends the call',
    body: playgroundCall,
    answer: playEvent,
    media: EVENT_STREAM,
  }),
}

/** What is said to a model, in no particular format. */
export type Spoken = Pick<z.output<typeof playgroundCall>, 'messages' | 'max_tokens'> & {
  readonly model: string
  readonly temperature?: number | undefined
}

type BodyValue = string | number | Spoken['messages'] | readonly string[]

/** The body of a call that says it, at the endpoint of this format. */
export function callBody(
  format: Format,
  { model, messages, max_tokens, temperature }: Spoken,
): Readonly<Record<string, BodyValue>> {
  const spoken = messages.filter(({ role }) => role !== 'system')
  const told = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
  const system = told.join('\n\n')
  const common = { model, ...(temperature === undefined ? {} : { temperature }) }
  switch (format) {
    case 'embeddings':
      return { model, input: messages.map(({ content }) => content) }
    case 'chat':
      return { ...common, messages, max_completion_tokens: max_tokens }
    case 'messages':
      return { ...common, max_tokens, ...(system && { system }), messages: spoken }
    case 'responses': {
      const limits = { max_output_tokens: max_tokens }
      return { ...common, ...limits, ...(system && { instructions: system }), input: spoken }
    }
  }
}
