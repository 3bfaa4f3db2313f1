// The closed table of everything Tollgate can answer instead of a result, and the one error type that carries it.
// `message` is written for the caller and safe to send; `cause` is for the log alone.
import type { Usage } from './events.ts'
import type { JsonObject } from './json.ts'
import { SENTENCES } from './sentences.ts'

/** retry: never = it would fail again; later = after retry-after; elsewhere = another target may succeed. */
const CODES = {
  invalid_api_key: { status: 401, retry: 'never' },
  revoked_api_key: { status: 401, retry: 'never' },
  expired_api_key: { status: 401, retry: 'never' },
  paused_api_key: { status: 401, retry: 'never' },
  model_not_allowed: { status: 403, retry: 'never' },
  endpoint_not_allowed: { status: 403, retry: 'never' },
  key_budget_exceeded: { status: 402, retry: 'never' },
  group_budget_exceeded: { status: 402, retry: 'never' },
  frame_budget_exceeded: { status: 402, retry: 'never' },
  model_budget_exceeded: { status: 402, retry: 'never' },
  request_cost_exceeded: { status: 402, retry: 'never' },
  budget_reserved: { status: 429, retry: 'later' },
  rate_limit_exceeded: { status: 429, retry: 'later' },
  invalid_request: { status: 400, retry: 'never' },
  wrong_model_kind: { status: 400, retry: 'never' },
  unsupported_parameter: { status: 400, retry: 'never' },
  ability_missing: { status: 400, retry: 'never' },
  previous_response_not_found: { status: 400, retry: 'never' },
  request_too_large: { status: 413, retry: 'never' },
  request_timeout: { status: 408, retry: 'later' },
  not_found: { status: 404, retry: 'never' },
  method_not_allowed: { status: 405, retry: 'never' },
  response_not_found: { status: 404, retry: 'never' },
  model_not_found: { status: 404, retry: 'never' },
  provider_failed: { status: 502, retry: 'elsewhere' },
  provider_timeout: { status: 504, retry: 'elsewhere' },
  provider_overloaded: { status: 503, retry: 'elsewhere' },
  provider_rate_limited: { status: 429, retry: 'elsewhere' },
  ledger_unavailable: { status: 503, retry: 'later' },
  overloaded: { status: 503, retry: 'later' },
  draining: { status: 503, retry: 'later' },
  internal_error: { status: 500, retry: 'never' },
} as const satisfies Record<string, { status: number; retry: Retry }>

type Retry = 'never' | 'later' | 'elsewhere'
export type ErrorCode = keyof typeof CODES
export const ERROR_CODES = Object.keys(CODES) as readonly ErrorCode[]

const REFUSED_STATUSES: readonly number[] = [401, 402, 403, 429]

/** With these Tollgate itself turns a call away. Every other error is a failure, a provider's 429 as well. */
export const REFUSAL_CODES = ERROR_CODES.filter(
  (code) => REFUSED_STATUSES.includes(CODES[code].status) && CODES[code].retry !== 'elsewhere',
)

type ErrorDetails = {
  /** The request field at fault, as the client spelled it. */
  readonly param?: string
  readonly retryAfterSeconds?: number
  /** The methods that a path does answer. */
  readonly allow?: readonly string[]
  /** Whether the caller's SDK should try again by itself; unset = as the table says. */
  readonly shouldRetry?: boolean
  /** More members of the error object: scope, limit, spent, resets_at … in the words of docs/errors.md. */
  readonly facts?: JsonObject
  /** For the record of refusals alone: the model as the client wrote it, which need not exist. */
  readonly modelAsked?: string
  /** For the record of refusals alone: a secret that is well formed and opens no key, masked. */
  readonly masked?: string
  /** Set when a provider's own judgement of the request is passed on: its status and its code are kept. */
  readonly provider?: { readonly status: number; readonly code?: string }
  /** The provider was not reached, or refused the request: it does not bill what it did not work on. */
  readonly unbilled?: boolean
  /** What the provider counted, and bills, for an answer that cannot be used. */
  readonly usage?: Usage
  /** Only the operator can fix it: credentials, quota, a model that the provider does not know. */
  readonly forOperator?: boolean
  /** The provider refuses the reasoning it was sent: another model's or account's, too old, or in the wrong form. */
  readonly unknownReasoning?: boolean
  readonly cause?: unknown
}

/** An outcome that ends the exchange. Caught where another target can be tried, and at the edge to be rendered. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.details = details
  }

  get status(): number {
    return this.details.provider?.status ?? CODES[this.code].status
  }

  /** Whether the caller was turned away, which is no failure of the call. */
  get isRefusal(): boolean {
    return this.details.provider === undefined && REFUSAL_CODES.includes(this.code)
  }

  get retry(): Retry {
    return CODES[this.code].retry
  }

  /** The code a client sees: the provider's own where its judgement is passed on, else Tollgate's. */
  get publicCode(): string {
    return this.details.provider?.code ?? this.code
  }
}

/** What the log and the books show for a request whose client has left: it received no status. */
export const CLIENT_GONE_STATUS = 499

/** Whatever was thrown, as an error that can be sent. Internal faults reveal no details. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError('internal_error', SENTENCES.fault, { cause: thrown })
}

/** The same failure, marked so that clients do not retry it automatically. */
export function withoutRetry(failure: unknown): unknown {
  if (!(failure instanceof GatewayError)) return failure
  const { code, message, details } = failure
  return new GatewayError(code, message, { ...details, shouldRetry: false })
}

/** OpenAI's Node SDK ignores a longer wait, and is back within seconds. */
const RETRY_AFTER_SECONDS_MAX = 60

/** The value of `retry-after`. A client that then comes too early is told the rest. */
export function retryAfterText(seconds: number): string {
  return String(Math.min(seconds, RETRY_AFTER_SECONDS_MAX))
}

export function invalidRequest(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param })
}

export function unsupportedParameter(
  param: string,
  message: string,
  facts: JsonObject = {},
): GatewayError {
  return new GatewayError('unsupported_parameter', message, { param, facts })
}

/** The code by which the system, Node or a database names what went wrong (EPERM, 23505); undefined if it has none. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
}

/** Not everything that is thrown is an Error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
