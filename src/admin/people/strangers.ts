// Whoever is not signed in, on record. Anyone can be refused any number of times, so of each place a few are enough.
import type { Author } from '../../store/audit.ts'
import { inTheNameOf, recordRefusal } from '../../store/audit.ts'
import type { Store } from '../../store/open.ts'
import type { AdminError } from '../error.ts'
import { isRecordWorthy } from './limits.ts'

export function strangerAt(address: string, requestId: string): Author {
  return { actor: 'not signed in', source: 'ui', address, requestId }
}

export type StrangersAttempt = {
  readonly action: string
  readonly address: string
  readonly requestId: string
  readonly error: AdminError
}

export async function recordStranger(store: Store, attempt: StrangersAttempt): Promise<void> {
  const { action, address, requestId, error } = attempt
  if (error.code !== 'wrong_origin' || !(await isRecordWorthy(store, address))) return
  await recordRefusal(inTheNameOf(store, strangerAt(address, requestId)), {
    ...{ action, subject: 'person', subjectId: '' },
    reason: error.message,
  })
}
