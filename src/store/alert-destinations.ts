// Whom alerts reach: webhooks and e-mail addresses. Every change of them is on record.
import type { Selectable, Transaction } from 'kysely'

import { newId } from '../core/ids.ts'
import { sentence, SENTENCES } from '../core/sentences.ts'
import type { AlertDestinationsTable } from './admin-tables.ts'
import { recordChange, type Change } from './audit.ts'
import { StoreError } from './errors.ts'
import type { Store } from './open.ts'
import type { Tables } from './tables.ts'

export type Destination = {
  readonly id: string
  readonly kind: 'webhook' | 'email'
  readonly address: string
  readonly enabled: boolean
  readonly createdAt: number
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
  await store.db.transaction().execute(async (tx) => {
    await tx.insertInto('alert_destinations').values(row).execute()
    const after = { kind, address, enabled: true }
    await record(store, tx, { id, address, action: 'alert.create', before: null, after })
  })
  return destinationOf(row)
}

export async function switchDestination(
  store: Store,
  id: string,
  enabled: boolean,
): Promise<Destination> {
  await store.db.transaction().execute(async (tx) => {
    const before = await findDestination({ ...store, db: tx }, id)
    await tx
      .updateTable('alert_destinations')
      .set({ enabled: enabled ? 1 : 0 })
      .where('id', '=', id)
      .execute()
    await record(store, tx, {
      id,
      address: before.address,
      action: 'alert.change',
      before: { enabled: before.enabled },
      after: { enabled },
    })
  })
  return findDestination(store, id)
}

/** What was to be sent there and was not is given up. */
export async function deleteDestination(store: Store, id: string): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    const { kind, address, enabled } = await findDestination({ ...store, db: tx }, id)
    await tx.deleteFrom('alert_destinations').where('id', '=', id).execute()
    await tx
      .updateTable('alert_deliveries')
      .set({ state: 'failed', next_attempt_at: null, result: SENTENCES.destination_removed })
      .where('destination_id', '=', id)
      .where('state', '=', 'waiting')
      .execute()
    const before = { kind, address, enabled }
    await record(store, tx, { id, address, action: 'alert.delete', before, after: null })
  })
}

type Recorded = Pick<Change, 'action' | 'before' | 'after'> & Pick<Destination, 'id' | 'address'>

async function record(
  store: Store,
  tx: Transaction<Tables>,
  { id, address, ...change }: Recorded,
): Promise<void> {
  await recordChange(store, tx, {
    ...change,
    subject: 'alert',
    subjectId: id,
    subjectName: address,
  })
}

function destinationOf(row: Selectable<AlertDestinationsTable>): Destination {
  return {
    id: row.id,
    kind: row.kind,
    address: row.address,
    enabled: row.enabled === 1,
    createdAt: row.created_at,
  }
}
