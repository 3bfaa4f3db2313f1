// Records refusals: what was tried, by whom, and why it was refused.
import { recordRefusal, type Refused } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import { AdminError } from '../error.ts'

/** Its `subjectId` is an id, or whatever the caller sent in its place. */
export type Attempt = Omit<Refused, 'sentence'>

/** Records an error, and returns it marked as recorded, to be thrown. */
export async function refusal(
  store: Store,
  attempt: Attempt,
  error: AdminError,
): Promise<AdminError> {
  await recordRefusal(store, { ...attempt, sentence: error.sentence })
  return new AdminError(error.code, error.sentence, { ...error.details, isRecorded: true })
}
