// Why a key that exists may not be used, in words that tell its owner what to do. Used wherever that is noticed first:
// at authentication, in the ledger, or when a running answer is cut.
import { GatewayError } from '../core/errors.ts'

export function revokedKey(): GatewayError {
  return new GatewayError(
    'revoked_api_key',
    'this API key has been revoked: use another one, or ask an administrator for a new key',
  )
}

export function expiredKey(): GatewayError {
  return new GatewayError(
    'expired_api_key',
    'this API key has expired: ask an administrator to extend it',
  )
}

export function pausedKey(): GatewayError {
  return new GatewayError(
    'paused_api_key',
    'this API key is paused: ask an administrator to resume it',
  )
}
