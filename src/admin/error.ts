// What ends a request to the admin API: a code of the contract's list, and a message for the person who reads it.
import { ADMIN_ERRORS, type AdminErrorCode, type Conflict } from './contract/errors.ts'
import type { Permission } from './contract/permissions.ts'

export type AdminErrorDetails = {
  /** The value at fault, spelled as the caller did. */
  readonly field?: string
  readonly problems?: readonly { readonly field: string; readonly message: string }[]
  readonly permission?: Permission
  readonly conflict?: Conflict
  readonly retryAfterSeconds?: number
  /** Whoever refused it has recorded it in better words than the server could. */
  readonly isRecorded?: true
  /** For the log alone. */
  readonly cause?: unknown
}

export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly code: AdminErrorCode
  readonly details: AdminErrorDetails

  constructor(code: AdminErrorCode, message: string, details: AdminErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.details = details
  }

  get status(): number {
    return ADMIN_ERRORS[this.code]
  }
}

export function invalidValue(field: string, message: string): AdminError {
  return new AdminError('invalid_value', message, { field })
}
