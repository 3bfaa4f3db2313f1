// Records refused attempts of people: a missing permission, another site's request, a change that came too late or that
// the current state does not allow.
import type { AuditAction, AuditSubject } from '../store/audit/record.ts'
import { recordRefusal } from '../store/audit/record.ts'
import { inTheNameOf, type Store } from '../store/database/store.ts'
import { ATTEMPTS } from './attempts.ts'
import { AUDIT_SUBJECTS } from './contract/audit.ts'
import type { RouteName } from './contract/contract.ts'
import type { AdminErrorCode } from './contract/errors.ts'
import type { AdminError } from './error.ts'
import type { Person } from './identity.ts'
import { authorOf } from './parts.ts'

const RECORDED: readonly AdminErrorCode[] = [
  'not_permitted',
  'wrong_origin',
  'wrong_state',
  'duplicate_name',
  'version_conflict',
]

type RefusedRequest = {
  readonly route: RouteName
  readonly params: unknown
  readonly person: Person
  readonly address: string
  readonly requestId: string
  readonly error: AdminError
}

export async function recordRefused(store: Store, refused: RefusedRequest): Promise<void> {
  const { route, params, error } = refused
  if (!RECORDED.includes(error.code) || error.details.isRecorded) return
  const id: unknown = Object(params)['id']
  await recordRefusal(inTheNameOf(store, authorOf(refused)), {
    action: ATTEMPTS[route],
    subject: subjectOf(ATTEMPTS[route]),
    subjectId: typeof id === 'string' ? id : '',
    sentence: error.sentence,
  })
}

/** Actions that name none of the subjects, such as `usage.read`, are filed under keys. */
function subjectOf(action: AuditAction): AuditSubject {
  const [first] = action.split('.')
  return AUDIT_SUBJECTS.find((subject) => subject === first) ?? 'key'
}
