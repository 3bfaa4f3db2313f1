// The audit record: what people changed, written in the transaction of the change, and what they were refused; and
// reading it, each reader only what lies within their groups. Append only. Anyone can be refused any number of times,
// so equal refusals within one minute share a row that counts them, and each caller gets only so many rows a minute:
// nobody can fill the disk this way.
import { hash } from 'node:crypto'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { firstIdAt, isGroupId, newId } from '../../core/ids.ts'
import { defined } from '../../core/json.ts'
import { KEY_ID_SHAPE } from '../../core/limits.ts'
import { sentence, type NamedSentence, type Sentence, wordsOf } from '../../core/sentences.ts'
import { networkOf } from '../../core/text.ts'
import { usd } from '../../core/units.ts'
import { type Author, isReached, type Scope, type Store } from '../database/store.ts'
import {
  FRAME_ID,
  KEYS_AFTER,
  type Queries,
  type Row,
  type Values,
  valuesOf,
} from '../database/tables.ts'
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

// Reading it, as one list: what people changed and were refused, and what they did to balances, which the ledger writes
// into ledger_entries.

type Recorded = Omit<
  Values<'audit'>,
  'createdAt' | 'version' | 'gathered' | 'fields' | 'sentence' | 'groupId'
>

export type AuditEntry = Recorded & {
  readonly at: number
  /** Why it was refused. */
  readonly sentence: NamedSentence | null
  readonly fields: readonly FieldChange[]
}

export type AuditFilter = {
  readonly subject?: string | undefined
  readonly subjectId?: string | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly source?: Author['source'] | undefined
  readonly outcome?: 'done' | 'refused' | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The id that the previous page ended with. */
  readonly before?: string | undefined
  readonly limit: number
}

/** Newest first. */
export async function listAudit(store: Store, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  const changes = await changesOf(store, filter)
  const entries = await ledgerEntriesOf(store, filter)
  return [...changes, ...entries]
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, filter.limit)
}

/** The changes of a subject since this version, newest first. */
export async function changesSince(
  store: Store,
  { subjectId, version }: { readonly subjectId: string; readonly version: number },
): Promise<readonly AuditEntry[]> {
  const query = store.db
    .selectFrom('audit')
    .selectAll()
    .where('subject_id', '=', subjectId)
    .where('version', '>', version)
  const reached = isReached(store.scope, OF_CHANGE)
  const rows = await (reached === undefined ? query : query.where(reached))
    .orderBy('id', 'desc')
    .limit(20)
    .execute()
  return rows.map((row) => entryOf(row, store.scope))
}

async function changesOf(store: Store, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  const { subject, subjectId: subject_id, actor, action, source, outcome } = filter
  const { first, last } = idRange(filter)
  // A refusal records only the id of a key or a group.
  let query = store.db
    .selectFrom('audit')
    .leftJoin('keys', (join) =>
      join.onRef('keys.id', '=', 'audit.subject_id').on(isNameKnown(store.scope)),
    )
    .leftJoin('groups', 'groups.id', 'audit.subject_id')
    .selectAll('audit')
    .select((eb) =>
      eb.fn.coalesce('audit.subject_name', 'keys.name', 'groups.name').as('subject_name'),
    )
    .where('audit.id', '>=', first)
    .where((eb) => eb.and(defined({ subject, subject_id, actor, action, source, outcome })))
  if (last !== undefined) query = query.where('audit.id', '<', last)
  const reached = isReached(store.scope, OF_CHANGE)
  if (reached !== undefined) query = query.where(reached)
  const rows = await query.orderBy('audit.id', 'desc').limit(filter.limit).execute()
  return rows.map((row) => entryOf(row, store.scope))
}

const OF_CHANGE = { group: sql.ref('audit.group_id'), key: sql.ref('audit.subject_id') }
const OF_ENTRY = {
  group: sql.ref('ledger_entries.group_id'),
  key: sql.ref('ledger_entries.account_id'),
}

/** A key that was moved since has a name that those who stayed behind do not learn. */
function isNameKnown(scope: Scope): RawBuilder<SqlBool> {
  const now = { group: sql.ref('keys.group_id'), key: sql.ref('keys.id') }
  return isReached(scope, now) ?? sql`1 = 1`
}

const LEDGER_ACTIONS = { top_up: 'top_up', reset: 'reset_spend', adjust: 'adjust' } as const
const LEDGER_FIELDS = { top_up: 'top_up', reset: 'spent', adjust: 'cost' } as const

async function ledgerEntriesOf(store: Store, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  const { subjectId: account_id, actor, source, outcome } = filter
  const { subjects, kinds } = ledgerFilterOf(filter)
  if (outcome === 'refused' || subjects.length === 0 || kinds.length === 0) return []
  const { first, last } = idRange(filter)
  let query = store.db
    .selectFrom('ledger_entries')
    .leftJoin('keys', (join) =>
      join.onRef('keys.id', '=', 'ledger_entries.account_id').on(isNameKnown(store.scope)),
    )
    .leftJoin('groups', 'groups.id', 'ledger_entries.account_id')
    .selectAll('ledger_entries')
    .select((eb) => eb.fn.coalesce('keys.name', 'groups.name').as('name'))
    .where('ledger_entries.id', '>=', first)
    .where('kind', 'in', kinds)
    .where((eb) => eb.and(defined({ account_id, actor })))
  if (last !== undefined) query = query.where('ledger_entries.id', '<', last)
  if (!subjects.includes('key')) query = query.where('account_id', '<', KEYS_AFTER)
  if (!subjects.includes('group')) {
    query = query.where((eb) =>
      eb.or([eb('account_id', '=', FRAME_ID), eb('account_id', '>', KEYS_AFTER)]),
    )
  }
  if (!subjects.includes('frame')) query = query.where('account_id', '<>', FRAME_ID)
  if (source !== undefined) query = query.where(sourceIn(store), '=', source)
  const reached = isReached(store.scope, OF_ENTRY)
  if (reached !== undefined) query = query.where(reached)
  const rows = await query.orderBy('ledger_entries.id', 'desc').limit(filter.limit).execute()
  return rows.map(ledgerEntryOf)
}

/** The part of a filter that applies to what people did to balances, in the ledger's words. */
function ledgerFilterOf({ subject, action }: AuditFilter) {
  const kinds = ['top_up', 'reset', 'adjust'] as const
  return {
    subjects: (['key', 'group', 'frame'] as const).filter(
      (one) => (subject ?? one) === one && (action ?? `${one}.`).startsWith(`${one}.`),
    ),
    kinds: kinds.filter((kind) => action?.endsWith(`.${LEDGER_ACTIONS[kind]}`) ?? true),
  }
}

/** Entries without a source are from the command line. */
function sourceIn({ kind }: Store): RawBuilder<string> {
  const origin = kind === 'sqlite' ? sql`origin` : sql`CAST(origin AS json)`
  return sql`coalesce(${origin} ->> 'source', 'cli')`
}

function idRange({ since, until, before }: AuditFilter): {
  readonly first: string
  readonly last: string | undefined
} {
  const end = until === undefined ? undefined : firstIdAt('entry', until)
  const last = [before, end].filter((id) => id !== undefined).toSorted()[0]
  return { first: since === undefined ? '' : firstIdAt('entry', since), last }
}

function entryOf(
  {
    created_at: at,
    version: _version,
    gathered: _gathered,
    group_id: _group,
    ...row
  }: Row<'audit'>,
  scope: Scope,
): AuditEntry {
  const sentence = row.sentence === null ? null : (JSON.parse(row.sentence) as NamedSentence)
  return {
    ...valuesOf(row),
    at,
    reason: row.reason ?? (sentence && wordsOf(sentence)),
    sentence,
    fields: fieldsWithin(scope, JSON.parse(row.fields) as readonly FieldChange[]),
  }
}

/** What a key was before it came is of another group. */
function fieldsWithin(scope: Scope, fields: readonly FieldChange[]): readonly FieldChange[] {
  if (scope === 'everywhere' || !fields.some(({ field }) => field === 'group')) return fields
  return fields.map((each) => ({ ...each, before: null }))
}

function subjectOf(accountId: string): 'key' | 'group' | 'frame' {
  if (accountId === FRAME_ID) return 'frame'
  return isGroupId(accountId) ? 'group' : 'key'
}

type LedgerEntryRow = Row<'ledger_entries'> & { readonly name: string | null }

function ledgerEntryOf(row: LedgerEntryRow): AuditEntry {
  const subject = subjectOf(row.account_id)
  const origin = JSON.parse(row.origin ?? '{}') as Partial<Omit<Author, 'actor'>>
  return {
    id: row.id,
    at: row.created_at,
    actor: row.actor,
    source: origin.source ?? 'cli',
    address: origin.address ?? null,
    requestId: origin.requestId ?? null,
    action: `${subject}.${LEDGER_ACTIONS[row.kind]}`,
    subject,
    subjectId: row.account_id,
    subjectName: row.name,
    outcome: 'done',
    reason: row.reason,
    sentence: null,
    count: 1,
    fields: [
      {
        field: LEDGER_FIELDS[row.kind],
        before: usd(row.before_nanodollars),
        after: usd(row.after_nanodollars),
      },
    ],
  }
}
