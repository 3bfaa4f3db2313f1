// Refusals go on record with what was tried, by whom and why; nothing of it happened.
import { recordRefusal, type Refused } from '../../store/audit-refusals.ts'
import type { Store } from '../../store/open.ts'
import { AdminError } from '../error.ts'

/** Its `subjectId` is an id, or what was given in its place. */
export type Attempt = Omit<Refused, 'sentence'>

/** The same error, recorded: to be thrown. */
export async function refusal(
  store: Store,
  attempt: Attempt,
  error: AdminError,
): Promise<AdminError> {
  await recordRefusal(store, { ...attempt, sentence: error.sentence })
  return new AdminError(error.code, error.sentence, { ...error.details, isRecorded: true })
}
