// Records what people changed, in the transaction of the change, and what they were refused. Append only. Anyone can be
// refused any number of times, so equal refusals within one minute share a row that counts them, and each caller gets
// only so many rows a minute: nobody can fill the disk this way.
import { hash } from 'node:crypto'
import { isGroupId, newId } from '../../core/ids.ts'
import { KEY_ID_SHAPE } from '../../core/limits.ts'
import { sentence, type Sentence } from '../../core/sentences.ts'
import { networkOf } from '../../core/text.ts'
import type { Store } from '../database/store.ts'
import type { Queries } from '../database/tables.ts'
import { countTry } from '../database/try-counts.ts'

export type AuditSubject = 'key' | 'group' | 'frame' | 'person' | 'role' | 'token' | 'alert'

type Subject = {
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

export function recordChange(store: Store, db: Queries, change: Change): Promise<void> {
  return recordChanges(store, db, [change])
}

export async function recordChanges(
  store: Store,
  db: Queries,
  changes: readonly Change[],
): Promise<void> {
  const groups = await groupsOf(
    db,
    changes.map(({ subjectId }) => subjectId),
  )
  const rows = changes.map((change) => ({
    ...auditHead(store, change),
    group_id: groups.get(change.subjectId) ?? null,
    version: change.version ?? null,
    outcome: 'done' as const,
    reason: change.reason ?? null,
    fields: JSON.stringify(fieldsBetween(change.before, change.after)),
  }))
  await db.insertInto('audit').values(rows).execute()
}

/** What every row begins with: who acts, when and from where, and what it is about. */
function auditHead({ author, clock }: Store, about: Subject) {
  return {
    id: newId('entry', clock),
    created_at: clock.now(),
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

/** The groups that subjects belong to from now on: those who are confined to them see the entries. */
async function groupsOf(
  db: Queries,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const groups = new Map(subjectIds.filter(isGroupId).map((id) => [id, id]))
  const keyIds = subjectIds.filter((id) => KEY_ID_SHAPE.test(id))
  if (keyIds.length === 0) return groups
  const keys = await db
    .selectFrom('keys')
    .select(['id', 'group_id'])
    .where('id', 'in', keyIds)
    .execute()
  for (const { id, group_id: group } of keys) if (group !== null) groups.set(id, group)
  return groups
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

export type Refused = Omit<Subject, 'reason'> & {
  /** Why it was refused. */
  readonly sentence: Sentence
}

const MINUTE_MS = 60_000
export const ROWS_A_MINUTE_MAX = 20

/** Nothing was changed, so this belongs to no other transaction. */
export async function recordRefusal(store: Store, refused: Refused): Promise<void> {
  const { action, subject, subjectId, subjectName } = refused
  const key = gatherKey(store, [action, subjectId, subjectName ?? '', refused.sentence.text])
  if (await countAgain(store, key)) return
  const now = store.clock.now()
  const rows = await countTry(store.db, `refused ${callerOf(store)}`, { windowMs: MINUTE_MS, now })
  if (rows <= ROWS_A_MINUTE_MAX) return insert(store, refused, key)
  const rest = { action, subject, subjectId: '', sentence: sentence('more_refused') }
  await insert(store, rest, gatherKey(store, ['rest']))
}

async function countAgain(store: Store, key: string): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('audit')
    .set((eb) => ({ count: eb('count', '+', 1) }))
    .where('gathered', '=', key)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

async function insert(store: Store, refused: Refused, key: string): Promise<void> {
  const { name, values } = refused.sentence
  await store.db
    .insertInto('audit')
    .values({
      ...auditHead(store, refused),
      group_id: (await groupsOf(store.db, [refused.subjectId])).get(refused.subjectId) ?? null,
      version: null,
      fields: '[]',
      outcome: 'refused',
      sentence: JSON.stringify({ name, values }),
      gathered: key,
      count: 1,
    })
    .onConflict((conflict) =>
      conflict.column('gathered').doUpdateSet((eb) => ({ count: eb('audit.count', '+', 1) })),
    )
    .execute()
}

/** The same for refusals that share a row. */
function gatherKey(store: Store, parts: readonly string[]): string {
  const minute = Math.floor(store.clock.now() / MINUTE_MS)
  return hash('sha256', JSON.stringify([minute, callerOf(store), ...parts]), 'hex')
}

function callerOf({ author: { actor, source, address } }: Store): string {
  return JSON.stringify([actor, source, address === null ? null : networkOf(address)])
}

// What people can do or try: subject and verb. The interface has words for each.

/** Recorded when they are done, and when they are refused. */
export const CHANGES = [
  'key.create',
  'key.change',
  'key.pause',
  'key.resume',
  'key.revoke',
  'key.rotate',
  'key.end_overlap',
  'key.reset_spend',
  'key.top_up',
  'key.adjust',
  'key.wish',
  'key.grant_wish',
  'key.decline_wish',
  'key.withdraw_wish',
  'group.create',
  'group.change',
  'group.archive',
  'group.activate',
  'group.add_member',
  'group.remove_member',
  'group.reset_spend',
  'group.top_up',
  'frame.change',
  'frame.alerts',
  'frame.reset_spend',
  'frame.top_up',
  'frame.adjust',
  'alert.create',
  'alert.change',
  'alert.delete',
  'person.setup',
  'person.invite',
  'person.make_invitation',
  'person.join',
  'person.link_identity',
  'person.unlink_identity',
  'person.change',
  'person.block',
  'person.unblock',
  'person.remove',
  'person.make_reset_link',
  'person.set_password',
  'person.prove',
  'person.start_two_factor',
  'person.end_two_factor',
  'person.reset_two_factor',
  'person.new_recovery_codes',
  'person.use_link',
  'person.sign_in',
  'person.sign_out',
  'person.sign_out_everywhere',
  'role.create',
  'role.change',
  'role.remove',
  'token.create',
  'token.rotate',
  'token.revoke',
] as const

/** Recorded only when they are refused: they change nothing. */
export const LOOKS = [
  'key.read',
  'key.test',
  'key.play',
  'group.read',
  'frame.read',
  'model.read',
  'usage.read',
  'request.read',
  'audit.read',
  'alert.read',
  'alert.test',
  'person.read',
  'role.read',
  'token.read',
  'gateway.read',
] as const

export type AuditAction = (typeof CHANGES)[number] | (typeof LOOKS)[number]
