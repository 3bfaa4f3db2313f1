// Callers who are not signed in. What the guard refuses them is recorded only if another site sent the request.
import type { AuditAction } from '../../store/audit/record.ts'
import { recordRefusal } from '../../store/audit/record.ts'
import { inTheNameOf, type Author, type Store } from '../../store/database/store.ts'
import type { AdminError } from '../error.ts'

export function strangerAt(address: string, requestId: string): Author {
  return { actor: 'not signed in', source: 'ui', address, requestId }
}

type StrangersAttempt = {
  readonly action: AuditAction
  readonly address: string
  readonly requestId: string
  readonly error: AdminError
}

export async function recordStranger(store: Store, attempt: StrangersAttempt): Promise<void> {
  const { action, address, requestId, error } = attempt
  if (error.code !== 'wrong_origin') return
  await recordRefusal(inTheNameOf(store, strangerAt(address, requestId)), {
    action,
    subject: 'person',
    subjectId: '',
    sentence: error.sentence,
  })
}
