// What a request's log line and its metrics report. Stages add what they learn; no decision depends on it, and it never
// holds text of a prompt or an answer.
import type { Endpoint } from '../core/endpoints.ts'
import type { GatewayError } from '../core/errors.ts'
import { describeError, describeFailure } from './log.ts'
import type { Log } from './log.ts'

export type Trace = {
  readonly requestId: string
  /** The route's path, with {id} in place of an id. */
  path?: string
  endpoint?: Endpoint
  keyId?: string
  /** The catalogue's name of the model, never a text that the client made up. */
  model?: string
  target?: string
  stream?: boolean
  attempts?: readonly { readonly target: string; readonly outcome: string }[]
  /** When the model's first output came, counted from the request's start. */
  firstTokenMs?: number
  inputTokens?: number
  outputTokens?: number
  costUsd?: string
  estimated?: boolean
}

type Outcome = {
  readonly method: string | undefined
  readonly status: number
  readonly durationMs: number
  readonly error: GatewayError | undefined
}

/** The one log line of a request: what was asked, how it ended, what it cost. Never a word of a prompt or an answer. */
export function logRequest(log: Log, trace: Trace, outcome: Outcome): void {
  const { error } = outcome
  const isOurs = error?.code === 'internal_error'
  // Where in the code it happened helps only if the fault is the gateway's.
  const describe = isOurs ? describeError : describeFailure
  log[isOurs ? 'error' : 'info']('request', {
    request_id: trace.requestId,
    method: outcome.method,
    path: trace.path,
    status: outcome.status,
    code: error?.code,
    duration_ms: Math.round(outcome.durationMs),
    key: trace.keyId,
    model: trace.model,
    target: trace.target,
    stream: trace.stream,
    attempts: trace.attempts?.length,
    input_tokens: trace.inputTokens,
    output_tokens: trace.outputTokens,
    cost: trace.costUsd,
    estimated: trace.estimated,
    cause: error?.cause === undefined ? undefined : describe(error.cause),
  })
}
