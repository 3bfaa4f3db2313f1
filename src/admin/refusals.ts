// What people tried and were refused, for the record: a missing permission, another site's request, a change that came too
// late or that the state of a thing does not allow.
import type { AuditSubject } from '../store/audit.ts'
import { inTheNameOf, recordRefusal } from '../store/audit.ts'
import type { Store } from '../store/open.ts'
import type { AdminErrorCode } from './contract/errors.ts'
import type { Route } from './contract/route.ts'
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

export type Refused = {
  readonly route: Route
  readonly params: unknown
  readonly person: Person
  readonly address: string
  readonly requestId: string
  readonly error: AdminError
}

export async function recordRefused(store: Store, refused: Refused): Promise<void> {
  const { route, params, error } = refused
  if (!RECORDED.includes(error.code) || error.details.isRecorded) return
  const id: unknown = Object(params)['id']
  await recordRefusal(inTheNameOf(store, authorOf(refused)), {
    action: nameOf(route),
    subject: subjectOf(route),
    subjectId: typeof id === 'string' ? id : '',
    reason: error.message,
  })
}

export function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

/** By the first word of the path. */
function subjectOf({ path }: Route): AuditSubject {
  const [, first = ''] = path.split(/[/.]/)
  const subjects: Readonly<Record<string, AuditSubject>> = {
    frame: 'frame',
    roles: 'role',
    tokens: 'token',
    alerts: 'alert',
    people: 'person',
    invitations: 'person',
    profile: 'person',
  }
  return subjects[first] ?? 'key'
}
