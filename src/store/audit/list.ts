// Reads the audit record as one list: what people changed and were refused (record.ts), and what they did to
// balances, which the ledger writes into ledger_entries.
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { firstIdAt, isGroupId } from '../../core/ids.ts'
import { defined } from '../../core/json.ts'
import { wordsOf, type NamedSentence } from '../../core/sentences.ts'
import { usd } from '../../core/units.ts'
import { isReached, type Scope } from '../database/scope.ts'
import type { Author, Store } from '../database/store.ts'
import { FRAME_ID, KEYS_AFTER, valuesOf, type Row, type Values } from '../database/tables.ts'
import type { FieldChange } from './record.ts'

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
