// Requests that may be sent twice and must be done once: who has claimed a name, and the answer to the first request.
import { DAY_MS } from '../core/units.ts'
import type { Store } from './database/store.ts'
import type { Values } from './database/tables.ts'

const KEPT_MS = DAY_MS

/** Names are the caller's, unique among their own for a day; the hash tells requests under one name apart. */
type Claim = Pick<Values<'idempotency'>, 'personId' | 'name' | 'requestHash'>

type Claimed =
  | { readonly claimed: true }
  /** Answer null: the request is running, or its outcome is unknown. */
  | { readonly claimed: false; readonly answer: string | null; readonly isSame: boolean }

export async function claim(store: Store, wanted: Claim): Promise<Claimed> {
  const { personId: person_id, name, requestHash: request_hash } = wanted
  const now = store.clock.now()
  await store.db
    .deleteFrom('idempotency')
    .where('created_at', '<', now - KEPT_MS)
    .execute()
  const { numInsertedOrUpdatedRows } = await store.db
    .insertInto('idempotency')
    .values({ person_id, name, request_hash, answer: null, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 1n) return { claimed: true }
  const row = await store.db
    .selectFrom('idempotency')
    .selectAll()
    .where('person_id', '=', person_id)
    .where('name', '=', name)
    .executeTakeFirst()
  const isSame = row === undefined || row.request_hash === request_hash
  return { claimed: false, answer: row?.answer ?? null, isSame }
}

/** The request is done: sending it again gets this answer. */
export async function keepAnswer(store: Store, made: Claim, answer: string): Promise<void> {
  await store.db
    .updateTable('idempotency')
    .set({ answer })
    .where('person_id', '=', made.personId)
    .where('name', '=', made.name)
    .execute()
}

/** Nothing was done: the name is free again. */
export async function releaseClaim(store: Store, made: Claim): Promise<void> {
  await store.db
    .deleteFrom('idempotency')
    .where('person_id', '=', made.personId)
    .where('name', '=', made.name)
    .execute()
}
