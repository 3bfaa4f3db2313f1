// An error that ends a request to the admin API: a code from the contract's list, and a sentence for the reader.
import type { Sentence } from '../core/sentences.ts'
import { ADMIN_ERRORS, type AdminErrorCode, type Conflict } from './contract/errors.ts'
import type { Permission } from './contract/permissions.ts'

/** What is wrong with one field. */
type Problem = { readonly field: string; readonly sentence: Sentence }

type AdminErrorDetails = {
  /** The field at fault, as the caller spelled it. */
  readonly field?: string
  readonly problems?: readonly Problem[]
  readonly permission?: Permission
  readonly conflict?: Conflict
  readonly retryAfterSeconds?: number
  /** Already in the audit record, in better words than the server has. */
  readonly isRecorded?: true
  /** For the log only. */
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
