// Where alerts are sent: webhooks and e-mail addresses, each with a name and with what it takes. Every change of them is
// recorded, and whether what was sent last has arrived stands beside them.
import { newId } from '../../core/ids.ts'
import type { AlertKind } from '../../core/limits.ts'
import { sentence, type NamedSentence, type Sentence, wordsOf } from '../../core/sentences.ts'
import { caseFold, label } from '../../core/text.ts'
import { checkSettings, type Some } from '../accounts/settings.ts'
import { recordChange, type Change } from '../audit/record.ts'
import { isDuplicate, StoreError } from '../database/errors.ts'
import { withChangeLock } from '../database/revision.ts'
import { areGroupsWithin } from '../database/store.ts'
import type { Store } from '../database/store.ts'
import type { Row, Tx } from '../database/tables.ts'

/** Which alerts a destination takes: all of them, or those of some kinds, groups, tags and environments; null = whatever there is. Everything that it names must fit. */
export type Taken = {
  readonly kinds: readonly AlertKind[] | null
  readonly groupIds: readonly string[] | null
  readonly tags: readonly string[] | null
  readonly environments: readonly string[] | null
}

export const TAKES_ALL: Taken = { kinds: null, groupIds: null, tags: null, environments: null }

export type Destination = {
  readonly id: string
  readonly name: string
  readonly kind: Row<'alert_destinations'>['kind']
  /** In full, for sending. */
  readonly address: string
  readonly enabled: boolean
  readonly taken: Taken
  /** Null: what was sent last has arrived. */
  readonly failing: Failing | null
  readonly createdAt: number
}

type Failing = Result & { readonly since: number }

/** What becomes of a message, in words, and by name where this gateway knows why it failed. */
type Result = { readonly result: string | null; readonly failure: NamedSentence | null }

/** By name. Those who are confined to groups see what only their groups are sent to. */
export async function listDestinations(store: Store): Promise<readonly Destination[]> {
  const rows = await store.db.selectFrom('alert_destinations').selectAll().orderBy('name').execute()
  return rows.map(destinationOf).filter(({ taken }) => areGroupsWithin(store.scope, taken.groupIds))
}

/** Throws unknown_destination. */
export async function findDestination(store: Store, id: string): Promise<Destination> {
  const row = await store.db
    .selectFrom('alert_destinations')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (row !== undefined) return destinationOf(row)
  throw new StoreError('unknown_destination', sentence('no_such_destination'))
}

type DestinationSettings = Pick<Destination, 'name' | 'address' | 'enabled'> & Taken
type NewDestination = Pick<Destination, 'kind' | 'name' | 'address'> & Some<Taken>

export async function addDestination(
  store: Store,
  { kind, name, address, ...taken }: NewDestination,
): Promise<Destination> {
  const id = newId('dest', store.clock)
  const settings = { ...NEW, name, address, ...checked({ name, ...taken }) }
  return withChangeLock(store, async (tx) => {
    const row = { id, kind, ...columnsOf(settings), created_at: store.clock.now() }
    await refusingTaken(settings.name, tx.insertInto('alert_destinations').values(row))
    const added = await findDestination({ ...store, db: tx }, id)
    await record(store, tx, {
      ...{ action: 'alert.create', destination: added },
      ...{ before: null, after: await recorded(tx, added) },
    })
    return added
  })
}

const NEW = { enabled: true, ...TAKES_ALL }

/** What is undefined is left as it is. */
export type DestinationChange = Some<DestinationSettings>

export async function changeDestination(
  store: Store,
  id: string,
  change: DestinationChange,
): Promise<Destination> {
  const given = checked(change)
  return changeOne(store, id, async (tx, before) => {
    const { name, address, enabled, taken } = before
    const settings = { name, address, enabled, ...taken, ...given }
    // What went wrong at another address says nothing about this one.
    const isElsewhere = settings.address !== address
    const row = { ...columnsOf(settings), ...(isElsewhere ? NOT_FAILING : {}) }
    await refusingTaken(
      settings.name,
      tx.updateTable('alert_destinations').set(row).where('id', '=', id),
    )
    const destination = await findDestination({ ...store, db: tx }, id)
    await record(store, tx, {
      ...{ action: 'alert.change', destination },
      ...{ before: await recorded(tx, before), after: await recorded(tx, destination) },
    })
    return destination
  })
}

/** Deliveries that still wait to be sent there are given up. */
export async function deleteDestination(store: Store, id: string): Promise<void> {
  await changeOne(store, id, async (tx, destination) => {
    await tx.deleteFrom('alert_destinations').where('id', '=', id).execute()
    await tx
      .updateTable('alert_deliveries')
      .set({
        state: 'failed',
        next_attempt_at: null,
        result: storedResult(sentence('destination_removed')),
      })
      .where('destination_id', '=', id)
      .where('state', '=', 'waiting')
      .execute()
    await record(store, tx, {
      ...{ action: 'alert.delete', destination },
      ...{ before: await recorded(tx, destination), after: null },
    })
  })
}

const NOT_FAILING = { failing_since: null, failure: null }

/** What was sent there last has arrived, or has not. */
export async function noteAttempt(
  { db, clock }: Store,
  id: string,
  failure: string | Sentence | undefined,
): Promise<void> {
  const update = db.updateTable('alert_destinations').where('id', '=', id)
  if (failure === undefined) {
    await update.set(NOT_FAILING).where('failing_since', 'is not', null).execute()
    return
  }
  await update
    .set((eb) => ({
      failing_since: eb.fn.coalesce('failing_since', eb.val(clock.now())),
      failure: storedResult(failure),
    }))
    .execute()
}

const NAMED = '{"name":'

/** How the end of a delivery is kept: what a receiver answered as it said it, a failure by name and values. */
export function storedResult(result: string | Sentence): string {
  if (typeof result === 'string') return result.startsWith(NAMED) ? ` ${result}` : result
  const { name, values } = result
  return JSON.stringify({ name, values })
}

/** In words, and by name where this gateway knows why it failed. */
export function readResult(stored: string | null): Result {
  if (stored === null || !stored.startsWith(NAMED)) return { result: stored, failure: null }
  const failure = JSON.parse(stored) as NamedSentence
  return { result: wordsOf(failure), failure }
}

/** One change at a time, so that the record has the true previous values, and each removal once. */
async function changeOne<Changed>(
  store: Store,
  id: string,
  change: (tx: Tx, destination: Destination) => Promise<Changed>,
): Promise<Changed> {
  return withChangeLock(store, async (tx) =>
    change(tx, await findDestination({ ...store, db: tx }, id)),
  )
}

/** Cleaned, without what is undefined. Whoever looks the groups up finds out whether they exist. */
function checked(given: DestinationChange): Partial<DestinationSettings> {
  const { name, tags, environments } = given
  const clean = {
    ...(name === undefined ? {} : checkSettings({ name })),
    ...(tags ? { tags: tags.map(label) } : {}),
    ...(environments ? { environments: environments.map(label) } : {}),
  }
  const set = Object.entries({ ...given, ...clean }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set)
}

function columnsOf({ name, address, enabled, ...taken }: DestinationSettings) {
  return { name, address, enabled: enabled ? 1 : 0, ...storedTaken(taken) }
}

async function refusingTaken(name: string, query: { execute(): Promise<unknown> }): Promise<void> {
  try {
    await query.execute()
  } catch (error) {
    if (!isDuplicate(error, 'alert_destinations_name_key')) throw error
    throw new StoreError('duplicate_name', sentence('destination_taken', { name }))
  }
}

/** The path of a webhook is often all it takes to write there; the end of a long one tells several apart. */
export function shownAddress({ kind, address }: Pick<Destination, 'kind' | 'address'>): string {
  if (kind === 'email') return address
  const { origin, pathname, search, hash } = new URL(address)
  const rest = pathname + search + hash
  if (rest === '/') return `${origin}/`
  return `${origin}/…${rest.length < LONG_LENGTH ? '' : rest.slice(-SHOWN_LENGTH)}`
}

const LONG_LENGTH = 24
const SHOWN_LENGTH = 4

type Recorded = Pick<Change, 'action' | 'before' | 'after'> & { readonly destination: Destination }

async function record(store: Store, tx: Tx, { destination, ...change }: Recorded): Promise<void> {
  const { id, name } = destination
  await recordChange(store, tx, { ...change, subject: 'alert', subjectId: id, subjectName: name })
}

/** As the record shows it: groups by their names, and no more of an address than people see. */
async function recorded(tx: Tx, destination: Destination): Promise<Record<string, unknown>> {
  const { name, kind, enabled, taken } = destination
  const { kinds, groupIds, tags, environments } = taken
  const names = await tx.selectFrom('groups').select(['id', 'name']).execute()
  const groups =
    groupIds && groupIds.map((id) => names.find((group) => group.id === id)?.name ?? id)
  const address = shownAddress(destination)
  return { name, kind, address, enabled, kinds, groups, tags, environments }
}

function destinationOf(row: Row<'alert_destinations'>): Destination {
  const { id, name, kind, address, failing_since: since } = row
  return {
    ...{ id, name, kind, address, enabled: row.enabled === 1 },
    taken: readTaken(row),
    failing: since === null ? null : { since, ...readResult(row.failure) },
    createdAt: row.created_at,
  }
}

/** What an alert is about. Of a group only the group is known; of the gateway as a whole, nothing. */
export type Concerned = {
  readonly kind: AlertKind
  readonly groupId: string | null
  readonly tags: readonly string[]
  readonly environment: string | null
}

/** What concerns no group goes to no destination that names some: one group learns nothing of another, or of all. */
export function isTaken(taken: Taken, about: Concerned): boolean {
  return (
    isAmong(taken.kinds, [about.kind]) &&
    isAmong(taken.groupIds, [about.groupId]) &&
    isAmong(taken.tags, about.tags) &&
    isAmong(taken.environments, [about.environment])
  )
}

/** Whether one of these is wanted, however it is spelled: a search for keys compares them in the same way. */
function isAmong(wanted: readonly string[] | null, found: readonly (string | null)[]): boolean {
  if (wanted === null) return true
  const folded = wanted.map(caseFold)
  return found.some((each) => each !== null && folded.includes(caseFold(each)))
}

type Stored = Readonly<Record<'kinds' | 'group_ids' | 'tags' | 'environments', string | null>>

export function readTaken(row: Stored): Taken {
  return {
    kinds: listOf(row.kinds) as readonly AlertKind[] | null,
    groupIds: listOf(row.group_ids),
    tags: listOf(row.tags),
    environments: listOf(row.environments),
  }
}

function storedTaken({ kinds, groupIds, tags, environments }: Taken): Stored {
  return {
    kinds: textOf(kinds),
    group_ids: textOf(groupIds),
    tags: textOf(tags),
    environments: textOf(environments),
  }
}

function listOf(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as readonly string[])
}

function textOf(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}
