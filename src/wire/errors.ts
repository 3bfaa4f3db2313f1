// How each API family writes an error: the type it gives every code, and the envelope around it. A new code does not
// compile until both families have a type for it.
import type { Family } from '../core/endpoints.ts'
import type { ErrorCode, GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { redactOwn } from '../telemetry/log.ts'

const REQUEST = 'invalid_request_error'

const TYPES: Record<ErrorCode, Record<Family, string>> = {
  invalid_api_key: { chat: REQUEST, messages: 'authentication_error' },
  revoked_api_key: { chat: REQUEST, messages: 'authentication_error' },
  expired_api_key: { chat: REQUEST, messages: 'authentication_error' },
  paused_api_key: { chat: REQUEST, messages: 'authentication_error' },
  model_not_allowed: { chat: REQUEST, messages: 'permission_error' },
  endpoint_not_allowed: { chat: REQUEST, messages: 'permission_error' },
  key_budget_exceeded: { chat: 'insufficient_quota', messages: 'billing_error' },
  frame_budget_exceeded: { chat: 'insufficient_quota', messages: 'billing_error' },
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
export const TOO_LONG_CODE = 'context_length_exceeded'
const TOO_LONG_WORDS = 'prompt is too long'

export function errorType(family: Family, code: ErrorCode): string {
  return TYPES[code][family]
}

/** The body of an error answer, and of an error event in a stream. */
export function encodeError(family: Family, error: GatewayError, requestId: string): JsonObject {
  const { param, facts } = error.details
  const type = errorType(family, error.code)
  const message = redactOwn(error.message)
  switch (family) {
    case 'chat':
      return {
        error: {
          message,
          type,
          param: param ?? null,
          code: error.publicCode,
          ...facts,
        },
      }
    case 'messages': {
      const field = param === undefined ? {} : { param }
      const code = error.publicCode
      return {
        type: 'error',
        error: { type, message: wordsOf(message, code), code, ...field, ...facts },
        request_id: requestId,
      }
    }
  }
}

/** Clients of Anthropic know a prompt that is too long by its words, because Anthropic has no code for it. */
function wordsOf(message: string, code: string): string {
  if (code !== TOO_LONG_CODE || message.includes(TOO_LONG_WORDS)) return message
  return `${TOO_LONG_WORDS}: ${message}`
}
