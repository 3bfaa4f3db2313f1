// What ends a request to the admin API: a code of the contract's list, and a sentence for the person who reads it.
import type { Sentence } from '../core/sentences.ts'
import { ADMIN_ERRORS, type AdminErrorCode, type Conflict } from './contract/errors.ts'
import type { Permission } from './contract/permissions.ts'

/** What is wrong with one field. */
type Problem = { readonly field: string; readonly sentence: Sentence }

type AdminErrorDetails = {
  /** The value at fault, spelled as the caller did. */
  readonly field?: string
  readonly problems?: readonly Problem[]
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
  readonly sentence: Sentence
  readonly details: AdminErrorDetails

  constructor(code: AdminErrorCode, why: Sentence, details: AdminErrorDetails = {}) {
    super(why.text, { cause: details.cause })
    this.code = code
    this.sentence = why
    this.details = details
  }

  get status(): number {
    return ADMIN_ERRORS[this.code]
  }
}

export function invalidValue(field: string, why: Sentence): AdminError {
  return new AdminError('invalid_value', why, { field })
}
