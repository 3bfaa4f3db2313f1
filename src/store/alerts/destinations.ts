// Where alerts are sent: webhooks and e-mail addresses. Every change of them is recorded.
import { newId } from '../../core/ids.ts'
import { sentence, type NamedSentence, type Sentence, wordsOf } from '../../core/sentences.ts'
import { recordChange, type Change } from '../audit/record.ts'
import { StoreError } from '../database/errors.ts'
import { withChangeLock } from '../database/revision.ts'
import { inTransaction, type Store } from '../database/store.ts'
import { valuesOf, type Row, type Tx, type Values } from '../database/tables.ts'

/** Its address is in full, for sending. */
export type Destination = Omit<Values<'alert_destinations'>, 'enabled'> & {
  readonly enabled: boolean
}

export async function listDestinations(store: Store): Promise<readonly Destination[]> {
  const rows = await store.db.selectFrom('alert_destinations').selectAll().orderBy('id').execute()
  return rows.map(destinationOf)
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

export async function addDestination(
  store: Store,
  { kind, address }: Pick<Destination, 'kind' | 'address'>,
): Promise<Destination> {
  const id = newId('dest', store.clock)
  const row = { id, kind, address, enabled: 1, created_at: store.clock.now() }
  await inTransaction(store.db, async (tx) => {
    await tx.insertInto('alert_destinations').values(row).execute()
    const shown = shownAddress(row)
    const after = { kind, address: shown, enabled: true }
    await record(store, tx, { id, shown, action: 'alert.create', before: null, after })
  })
  return destinationOf(row)
}

export async function switchDestination(
  store: Store,
  id: string,
  enabled: boolean,
): Promise<Destination> {
  await changeOne(store, id, async (tx, before) => {
    await tx
      .updateTable('alert_destinations')
      .set({ enabled: enabled ? 1 : 0 })
      .where('id', '=', id)
      .execute()
    await record(store, tx, {
      id,
      shown: shownAddress(before),
      action: 'alert.change',
      before: { enabled: before.enabled },
      after: { enabled },
    })
  })
  return findDestination(store, id)
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
    const { kind, enabled } = destination
    const shown = shownAddress(destination)
    const before = { kind, address: shown, enabled }
    await record(store, tx, { id, shown, action: 'alert.delete', before, after: null })
  })
}

const NAMED = '{"name":'

/** How the end of a delivery is kept: what a receiver answered as it said it, a failure by name and values. */
export function storedResult(result: string | Sentence): string {
  if (typeof result === 'string') return result.startsWith(NAMED) ? ` ${result}` : result
  const { name, values } = result
  return JSON.stringify({ name, values })
}

/** In words, and by name where this gateway knows why it failed. */
export function readResult(stored: string | null): {
  readonly result: string | null
  readonly failure: NamedSentence | null
} {
  if (stored === null || !stored.startsWith(NAMED)) return { result: stored, failure: null }
  const failure = JSON.parse(stored) as NamedSentence
  return { result: wordsOf(failure), failure }
}

/** One change at a time, so that the record has the true previous values, and each removal once. */
async function changeOne(
  store: Store,
  id: string,
  change: (tx: Tx, destination: Destination) => Promise<void>,
): Promise<void> {
  await withChangeLock(store, async (tx) => {
    await change(tx, await findDestination({ ...store, db: tx }, id))
  })
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

type Recorded = Pick<Change, 'action' | 'before' | 'after'> & {
  readonly id: string
  readonly shown: string
}

async function record(store: Store, tx: Tx, { id, shown, ...change }: Recorded): Promise<void> {
  await recordChange(store, tx, { ...change, subject: 'alert', subjectId: id, subjectName: shown })
}

function destinationOf(row: Row<'alert_destinations'>): Destination {
  return { ...valuesOf(row), enabled: row.enabled === 1 }
}
