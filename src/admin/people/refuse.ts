// Refusals go on record with what was tried, by whom and why; nothing of it happened.
import type { AuditAction } from '../../store/audit-actions.ts'
import { recordRefusal } from '../../store/audit-refusals.ts'
import type { AuditSubject } from '../../store/audit.ts'
import type { Store } from '../../store/open.ts'
import { AdminError } from '../error.ts'

export type Attempt = {
  readonly action: AuditAction
  readonly subject: AuditSubject
  /** An id, or what was given in its place. */
  readonly subjectId: string
  readonly subjectName?: string | null
}

/** The same error, recorded: to be thrown. */
export async function refusal(
  store: Store,
  attempt: Attempt,
  error: AdminError,
): Promise<AdminError> {
  await recordRefusal(store, { ...attempt, sentence: error.sentence })
  return new AdminError(error.code, error.sentence, { ...error.details, isRecorded: true })
}
