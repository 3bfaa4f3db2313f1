// The failure that a steering line asks for, with the error code that real providers use for that status.
import { GatewayError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'

/** The code decides the error's type in each family; the word is the code shown to the client. */
const FAILURES: Readonly<Record<number, readonly [code: ErrorCode, word: string]>> = {
  401: ['invalid_api_key', 'invalid_api_key'],
  402: ['key_budget_exceeded', 'insufficient_quota'],
  403: ['endpoint_not_allowed', 'permission_denied'],
  404: ['model_not_found', 'model_not_found'],
  413: ['request_too_large', 'request_too_large'],
  429: ['rate_limit_exceeded', 'rate_limit_exceeded'],
  503: ['overloaded', 'server_is_overloaded'],
  504: ['provider_timeout', 'timeout'],
  529: ['overloaded', 'server_is_overloaded'],
}

export function failureOf(status: number): GatewayError {
  const [code, word] = FAILURES[status] ?? USUAL[status < 500 ? 'client' : 'server']
  const message = `the sandbox was asked to fail with the status ${status}`
  return new GatewayError(code, message, { provider: { status, code: word } })
}

const USUAL = {
  client: ['invalid_request', 'invalid_request'],
  server: ['internal_error', 'server_error'],
} as const
