// Records what people changed, in the transaction of the change. Append only. audit-refusals.ts records what they were
// refused; audit-list.ts reads both.
import { newId } from '../core/ids.ts'
import type { AuditAction } from './audit-actions.ts'
import type { Store } from './store.ts'
import type { Tx } from './tables.ts'

export type AuditSubject = 'key' | 'frame' | 'person' | 'role' | 'token' | 'alert'

export type Subject = {
  readonly action: AuditAction
  readonly subject: AuditSubject
  readonly subjectId: string
  /** Its present name: the record keeps it, whatever becomes of the subject. */
  readonly subjectName?: string | null
  readonly reason?: string | null
}

export type Change = Subject & {
  readonly version?: number
  /** Flat JSON values; null = it did not exist before, or does not any more. Never a secret. */
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

export async function recordChange(store: Store, tx: Tx, change: Change): Promise<void> {
  await tx
    .insertInto('audit')
    .values({
      ...auditHead(store, change),
      version: change.version ?? null,
      outcome: 'done',
      reason: change.reason ?? null,
      fields: JSON.stringify(fieldsBetween(change.before, change.after)),
    })
    .execute()
}

/** What every row begins with: who acts, when and from where, and what it is about. */
export function auditHead({ author, clock }: Store, about: Subject) {
  return {
    id: newId('entry', clock),
    at: clock.now(),
    actor: author.actor,
    source: author.source,
    address: author.address,
    request_id: author.requestId,
    action: about.action,
    subject: about.subject,
    subject_id: about.subjectId,
    subject_name: about.subjectName ?? null,
  }
}

export type FieldChange = {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

function fieldsBetween(before: Change['before'], after: Change['after']): readonly FieldChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names].flatMap((field) => {
    const change = { field, before: before?.[field] ?? null, after: after?.[field] ?? null }
    return JSON.stringify(change.before) === JSON.stringify(change.after) ? [] : [change]
  })
}
