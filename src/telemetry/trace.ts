// What is known of a request beside its answer: its log line, its metrics and its spans are made from this. Stages add
// what they learn; no decision depends on it, and it never holds text of a prompt or an answer.
import type { Endpoint } from '../core/endpoints.ts'
import type { GatewayError } from '../core/errors.ts'

export type Trace = {
  readonly requestId: string
  /** The operation's path, with {id} in place of an id. */
  path?: string
  endpoint?: Endpoint
  keyId?: string
  /** The group of the key, which a refused call counts for. */
  groupId?: string | null
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
  /** Absent where tracing is off. */
  spans?: Spans
}

/** How a request ended. */
export type RequestOutcome = {
  readonly method: string | undefined
  readonly status: number
  readonly durationMs: number
  readonly error: GatewayError | undefined
}

/** What becomes the spans of one request: its stages and attempts tell when they begin and end. */
export type Spans = {
  readonly traceId: string
  /** What the ledger does for it. Undefined: the request is not sampled. */
  begin(stage: 'hold' | 'settle'): OpenSpan | undefined
  beginAttempt(attempt: Attempted): AttemptSpan
  /** The request itself has ended, and with it whatever is still open. */
  end(trace: Trace, outcome: RequestOutcome): void
}

export type OpenSpan = {
  /** `failure`: the name of what went wrong, if anything did. */
  end(failure?: string): void
}

export type AttemptSpan = OpenSpan & { readonly call: TracedCall }

/** A target that a request is about to be sent to. */
export type Attempted = {
  /** PROVIDER/MODEL, as the operator calls it. */
  readonly target: string
  /** The provider's own name of the model. */
  readonly model: string
  /** The kind of the provider. */
  readonly kind: string
  /** Whether the provider may learn which trace the call belongs to. */
  readonly propagates: boolean
}

/** What tracing has to do with one call to a provider. */
export type TracedCall = {
  /** Headers that continue the trace there: names and values in turn. */
  readonly headers: readonly string[]
  /** The call is about to go to this address. */
  readonly onSent?: (url: URL) => void
}

/** Headers of W3C Trace Context, as the client sent them. */
export type TraceHeaders = {
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
}
