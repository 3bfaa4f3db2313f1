// Everything the admin API can answer instead of a result: one envelope, one closed list of codes, and the error that
// ends a request with one of them.
import { z } from 'zod'
import type { Sentence } from '../../core/sentences.ts'
import type { Permission } from './permissions.ts'
import { moment } from './values.ts'

export const ADMIN_ERRORS = {
  /** A value is wrong; `field` names it, `problems` names them all. */
  invalid_value: 400,
  not_signed_in: 401,
  /** The e-mail address, the password or the code is wrong; the answer does not say which. */
  wrong_credentials: 401,
  /** The role or the token lacks a permission; `permission` names it. */
  not_permitted: 403,
  /** A write with a cookie that comes from another site. */
  wrong_origin: 403,
  not_found: 404,
  /** A one-time link that never existed. */
  invalid_link: 404,
  duplicate_name: 409,
  /** The change would leave nobody who can manage people, or the configuration. */
  last_manager: 409,
  /** The current state of the subject does not allow this. */
  wrong_state: 409,
  /** The same Idempotency-Key was used for another request, or for one that is still running. */
  idempotency_conflict: 409,
  link_used: 410,
  link_expired: 410,
  /** It was changed since it was read; `conflict` says by whom and how. */
  version_conflict: 412,
  too_large: 413,
  /** A change to something with a version needs If-Match. */
  version_required: 428,
  too_many_attempts: 429,
  internal_error: 500,
  /** The database, or another service that is needed, cannot be reached. */
  unavailable: 503,
} as const
export type AdminErrorCode = keyof typeof ADMIN_ERRORS
const ADMIN_ERROR_CODES = Object.keys(ADMIN_ERRORS) as [AdminErrorCode, ...AdminErrorCode[]]

/** One field, before and after. */
export const fieldChange = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })

const conflict = z.object({
  /** Send this as If-Match to apply the change on top. */
  version: z.string(),
  /** Newest first; empty if their record is gone. */
  changes: z.array(
    z.object({ at: moment, actor: z.string(), action: z.string(), fields: z.array(fieldChange) }),
  ),
})

/** The message by name, for programs that show it in another language. */
export const byName = {
  /** Its name, which stays the same when the wording changes. */
  reason: z.string().optional(),
  /** The values in it. */
  values: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
}

export const adminError = z.object({
  error: z.object({
    code: z.enum(ADMIN_ERROR_CODES),
    /** The field at fault, spelled as in the body, the query or the path. */
    field: z.string().optional(),
    message: z.string(),
    ...byName,
    request_id: z.string(),
    problems: z.array(z.object({ field: z.string(), message: z.string(), ...byName })).optional(),
    permission: z.string().optional(),
    conflict: conflict.optional(),
  }),
})

export type AdminErrorJson = z.output<typeof adminError>
export type Conflict = z.output<typeof conflict>

/** What is wrong with one field. */
type Problem = { readonly field: string; readonly sentence: Sentence }

type AdminErrorDetails = {
  /** The field at fault, as the caller spelled it. */
  readonly field?: string | undefined
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
