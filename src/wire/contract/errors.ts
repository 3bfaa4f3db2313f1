// Errors on the wire. To a client: the type that each API family gives every code, and the envelope around it; a new code
// does not compile until both families have a type for it. From a provider, instead of an answer or in the middle of one:
// what it says about the request goes to the client, what it says about the operator's account stays here
// (docs/errors.md).
import type { Family } from '../../core/endpoints.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { isObject, stringOf } from '../../core/json.ts'
import { redact, redactOwn } from '../../telemetry/log.ts'
import type { ProviderComplaint } from './codec.ts'

const REQUEST = 'invalid_request_error'

const TYPES: Record<ErrorCode, Record<Family, string>> = {
  invalid_api_key: { chat: REQUEST, messages: 'authentication_error' },
  revoked_api_key: { chat: REQUEST, messages: 'authentication_error' },
  expired_api_key: { chat: REQUEST, messages: 'authentication_error' },
  paused_api_key: { chat: REQUEST, messages: 'authentication_error' },
  model_not_allowed: { chat: REQUEST, messages: 'permission_error' },
  endpoint_not_allowed: { chat: REQUEST, messages: 'permission_error' },
  key_budget_exceeded: { chat: 'insufficient_quota', messages: 'billing_error' },
  group_budget_exceeded: { chat: 'insufficient_quota', messages: 'billing_error' },
  frame_budget_exceeded: { chat: 'insufficient_quota', messages: 'billing_error' },
  model_budget_exceeded: { chat: 'insufficient_quota', messages: 'billing_error' },
  request_cost_exceeded: { chat: 'insufficient_quota', messages: 'billing_error' },
  budget_reserved: { chat: 'rate_limit_error', messages: 'rate_limit_error' },
  rate_limit_exceeded: { chat: 'rate_limit_error', messages: 'rate_limit_error' },
  invalid_request: { chat: REQUEST, messages: REQUEST },
  wrong_model_kind: { chat: REQUEST, messages: REQUEST },
  unsupported_parameter: { chat: REQUEST, messages: REQUEST },
  ability_missing: { chat: REQUEST, messages: REQUEST },
  previous_response_not_found: { chat: REQUEST, messages: REQUEST },
  request_too_large: { chat: REQUEST, messages: 'request_too_large' },
  request_timeout: { chat: REQUEST, messages: 'timeout_error' },
  not_found: { chat: REQUEST, messages: 'not_found_error' },
  method_not_allowed: { chat: REQUEST, messages: 'not_found_error' },
  response_not_found: { chat: REQUEST, messages: 'not_found_error' },
  model_not_found: { chat: REQUEST, messages: 'not_found_error' },
  provider_failed: { chat: 'server_error', messages: 'api_error' },
  provider_timeout: { chat: 'server_error', messages: 'timeout_error' },
  provider_overloaded: { chat: 'server_error', messages: 'overloaded_error' },
  provider_rate_limited: { chat: 'server_error', messages: 'rate_limit_error' },
  ledger_unavailable: { chat: 'server_error', messages: 'api_error' },
  overloaded: { chat: 'server_error', messages: 'overloaded_error' },
  draining: { chat: 'server_error', messages: 'overloaded_error' },
  internal_error: { chat: 'server_error', messages: 'api_error' },
}

/** OpenAI's code. Agents that see it, or read the words below, shorten their conversation and go on. */
const TOO_LONG_CODE = 'context_length_exceeded'
const TOO_LONG_WORDS = 'prompt is too long'

export function errorType(family: Family, code: ErrorCode): string {
  return TYPES[code][family]
}

/** The body of an error answer, and of an error event in a stream. */
export function encodeError(family: Family, error: GatewayError, requestId: string): JsonObject {
  const { param, facts } = error.details
  const { publicCode: code } = error
  const type = errorType(family, error.code)
  const message = redactOwn(error.message)
  if (family === 'chat') return { error: { message, type, param: param ?? null, code, ...facts } }
  // Clients of Anthropic know a prompt that is too long by its words, because Anthropic has no code for it.
  const isUnsaid = code === TOO_LONG_CODE && !message.includes(TOO_LONG_WORDS)
  const told = { type, message: isUnsaid ? `${TOO_LONG_WORDS}: ${message}` : message, code }
  const field = param === undefined ? {} : { param }
  return { type: 'error', error: { ...told, ...field, ...facts }, request_id: requestId }
}

/** In the body of a failed request. Others than OpenAI may omit the envelope, or call the message `detail`. */
export function decodeErrorBody(body: JsonObject): ProviderComplaint {
  return decodeComplaint(body['error'] ?? { ...body, message: body['message'] ?? body['detail'] })
}

/** The members of an error object that both families have; many compatible providers send a bare string. */
export function decodeComplaint(error: unknown): ProviderComplaint {
  if (typeof error === 'string') return contentRefusal(error) ?? { message: error }
  if (!isObject(error)) return {}
  const { message, type, param } = error
  // A provider may be such a gateway itself: its own code says more than the one from OpenAI's list beside it.
  const code = error['tollgate_code'] ?? error['code']
  return (
    contentRefusal(stringOf(message) ?? '') ?? {
      ...texts({ message, type, param }),
      ...(typeof code === 'number' ? { code: String(code) } : texts({ code })),
    }
  )
}

/** Codes of a request that is refused for its content: at Azure, and at OpenAI. */
const FILTERED = 'content_filter'
const FLAGGED = 'content_policy_violation'

/** How xAI and OpenRouter refuse content. Their status and code are those of an account without rights. */
const CONTENT_REFUSALS = [
  { says: /^Content violates usage guidelines\b/, code: FILTERED },
  { says: /\brequires moderation\b.{0,200}\binput was flagged\b/s, code: FLAGGED },
]

/** In words of our own: xAI's names the team and the key. */
function contentRefusal(message: string): ProviderComplaint | undefined {
  const refusal = CONTENT_REFUSALS.find(({ says }) => says.test(message))
  return (
    refusal && { code: refusal.code, message: 'the provider refuses the content of this request' }
  )
}

/** Whether a complaint is about what the request says: no other key or account of the provider would accept it. */
export function refusesContent({ code }: ProviderComplaint): boolean {
  return code === FILTERED || code === FLAGGED
}

/** Whether a provider bills a request that it refuses: Azure and xAI filter what they have already read. */
export function billsRefusal({ code }: ProviderComplaint): boolean {
  return code === FILTERED
}

function texts(members: JsonObject): ProviderComplaint {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => stringOf(value) !== undefined),
  )
}

/** What codes and types of complaints mean. */
const OVERLOADED = 'overloaded_error server_is_overloaded service_unavailable_error 503 529'.split(
  ' ',
)
const RATE_LIMITED = 'rate_limit_error rate_limit_exceeded slow_down requests tokens 429'.split(' ')
const TOO_LARGE = ['request_too_large', '413']
const REQUEST_FAULTS = ['invalid_request_error', 'invalid_prompt', FILTERED, FLAGGED, '400', '422']
/** Quota, credentials, unknown models: for the operator to fix, and not the client's business. */
const OURS = (
  'insufficient_quota credit_balance_exhausted billing_error authentication_error permission_error ' +
  'invalid_api_key API_KEY_INVALID API_KEY_EXPIRED not_found_error model_not_found 401 402 403 404'
).split(' ')

/** Anthropic reports an account without credit as an invalid request, and has no code for it. */
const OUT_OF_CREDIT = /^Your credit balance is too low\b/

/** Whether a complaint is about the operator's account with the provider, not about the request. */
export function isForOperator({ code, type, message }: ProviderComplaint): boolean {
  return OURS.includes(code ?? '') || OURS.includes(type ?? '') || OUT_OF_CREDIT.test(message ?? '')
}

/**
 * How providers refuse returned reasoning that they do not know, do not accept, or not in this form: OpenAI and xAI,
 * Anthropic, Gemini, and strict chat completions servers. Not all of them have a code for it.
 */
const REASONING_REFUSED = [
  /encrypted[ _]content/i,
  /invalid `?(?:signature|data)`? in `?(?:redacted_)?thinking/i,
  /thinking\.signature/,
  /thinking` blocks .{0,80}cannot be modified/,
  /final block in an assistant message cannot be `thinking/,
  /required (?:following|preceding|'reasoning') item/,
  /thought[ _]?signature/i,
  /reasoning_(?:content|details)/,
]

export function refusesReasoning({ message = '' }: ProviderComplaint): boolean {
  return REASONING_REFUSED.some((pattern) => pattern.test(message))
}

/**
 * How providers say that a prompt does not fit the context window, where they have no code for it: Anthropic, Bedrock,
 * Gemini, OpenAI, compatible servers and xAI, Groq, llama.cpp, Moonshot.
 */
const TOO_LONG = [
  /prompt is too long/i,
  /exceed context limit/,
  /input is too long for requested model/i,
  /input token count .{0,60}exceeds the maximum/i,
  /exceeds the context window/i,
  /maximum (?:context|model|prompt) length/i,
  /reduce the length of the messages/i,
  /available context size/i,
  /exceeded model token limit/i,
]

/** The client's code for a complaint: the provider's own, but one code for a prompt that is too long. */
export function clientCode({ code, message = '' }: ProviderComplaint): string | undefined {
  if (TOO_LONG.some((pattern) => pattern.test(message))) return TOO_LONG_CODE
  return code === undefined ? undefined : redact(code)
}

const NAME = /^[\w.:/-]{1,100}$/

/** For the log: the provider's names for it. The message may quote the request, and goes to the client alone. */
export function causeOf(where: string, { type, code }: ProviderComplaint): string {
  const names = [type, code].filter((word) => word !== undefined && NAME.test(word))
  return [where, ...names].join(' ')
}

/**
 * The error that an error event of a stream stands for. A refused request is mostly not billed, as long as it produced
 * nothing; one that failed for the provider's own reasons may be.
 */
export function streamError(complaint: ProviderComplaint): GatewayError {
  const { message, code, type, param } = complaint
  const says = (words: readonly string[]): boolean =>
    words.includes(code ?? '') || words.includes(type ?? '')
  const told = redact(message ?? 'the provider gave no reason')
  const toldCode = clientCode(complaint)
  const cause = causeOf('error event', complaint)
  if (isForOperator(complaint)) {
    return new GatewayError('provider_failed', 'the provider refused to serve this gateway', {
      cause,
      unbilled: true,
      forOperator: true,
    })
  }
  if (says(OVERLOADED)) {
    return new GatewayError('provider_overloaded', told, { cause, unbilled: true })
  }
  if (says(RATE_LIMITED)) {
    return new GatewayError('provider_rate_limited', told, { cause, unbilled: true })
  }
  const isTooLarge = says(TOO_LARGE)
  // Such a prompt is the request's fault even where an event has no type that says so.
  if (isTooLarge || says(REQUEST_FAULTS) || toldCode === TOO_LONG_CODE) {
    return new GatewayError(isTooLarge ? 'request_too_large' : 'invalid_request', told, {
      ...(param === undefined ? {} : { param: redact(param) }),
      provider: {
        status: isTooLarge ? 413 : 400,
        ...(toldCode === undefined ? {} : { code: toldCode }),
      },
      unbilled: !billsRefusal(complaint),
    })
  }
  return new GatewayError('provider_failed', told, { cause })
}

export function withoutContent(): GatewayError {
  return new GatewayError('provider_failed', 'the provider’s answer has no content')
}

/** A call that the provider could not read, or another reason for no answer: another attempt may do better. */
export function unusableAnswer(reason: string, usage: Usage | undefined): GatewayError {
  return new GatewayError('provider_failed', 'the model wrote an answer that cannot be used', {
    cause: causeOf('stop reason', { code: reason }),
    ...(usage === undefined ? {} : { usage }),
  })
}
