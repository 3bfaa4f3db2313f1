// Calls that were refused: the first of each key, code and hour as rows, all of them as counts, exact over all nodes. What
// is a secret, or may be one, never gets here (exchange/refusals.ts).
import { sql } from 'kysely'
import { firstIdAt } from '../core/ids.ts'
import { DAY_MS, HOUR_MS, iso, usd } from '../core/units.ts'
import { giveRefusals } from './alerts/give.ts'
import { isReached } from './database/store.ts'
import type { Store } from './database/store.ts'
import { type Row, type Tx, type Values, valuesOf } from './database/tables.ts'

/** How many refusals of a key with one code within an hour get a row; the others are only counted. */
export const ROWS_AN_HOUR_MAX = 100

/** The key of calls whose secret opens none: they all share one count. */
export const NO_KEY = ''

/** A refused call, before it has its place among others. */
export type NewRefusal = Omit<Values<'refusals'>, 'number'>

/** Refusals of one key, in one group, with one code within one hour, which begins at `startsAt`. */
export type Refusals = {
  readonly keyId: string
  readonly groupId: string
  readonly code: string
  readonly startsAt: number
  /** How many, including those without a row. */
  readonly count: number
  readonly rows: readonly NewRefusal[]
}

/** Counts them, and keeps the rows for which there is room. */
export function recordRefusals(store: Store, refusals: readonly Refusals[]): Promise<void> {
  // In the same order on every node, so that two cannot deadlock.
  const some = refusals.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  return store.db.transaction().execute(async (tx) => {
    const totals = await count(tx, some)
    const rows = some.flatMap((each) => {
      const before = (totals.get(nameOf(each))?.noted ?? 0) - each.rows.length
      return each.rows
        .map((row, index) => ({ ...columnsOf(row), number: before + index + 1 }))
        .filter(({ number }) => number <= ROWS_AN_HOUR_MAX)
    })
    if (rows.length > 0) await tx.insertInto('refusals').values(rows).execute()
    for (const each of some) {
      const total = totals.get(nameOf(each))?.count ?? 0
      const isReached = total >= ROWS_AN_HOUR_MAX && total - each.count < ROWS_AN_HOUR_MAX
      const day = Math.floor(each.startsAt / DAY_MS) * DAY_MS
      if (isReached) await giveRefusals(store, tx, { ...each, count: total, day })
    }
  })
}

async function count(
  tx: Tx,
  refusals: readonly Refusals[],
): Promise<ReadonlyMap<string, Row<'refusal_counts'>>> {
  const totals = await tx
    .insertInto('refusal_counts')
    .values(
      refusals.map(({ keyId, groupId, code, startsAt, count, rows }) => ({
        ...{ key_id: keyId, group_id: groupId, starts_at: startsAt, code, count },
        noted: rows.length,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['key_id', 'starts_at', 'code', 'group_id']).doUpdateSet((eb) => ({
        count: eb('refusal_counts.count', '+', eb.ref('excluded.count')),
        noted: eb('refusal_counts.noted', '+', eb.ref('excluded.noted')),
      })),
    )
    .returningAll()
    .execute()
  return new Map(
    totals.map((row) => [
      nameOf({
        ...{ keyId: row.key_id, groupId: row.group_id, startsAt: row.starts_at, code: row.code },
      }),
      row,
    ]),
  )
}

type Counted = Pick<Refusals, 'keyId' | 'groupId' | 'startsAt' | 'code'>

function nameOf({ keyId, groupId, startsAt, code }: Counted): string {
  return `${keyId} ${startsAt} ${code} ${groupId}`
}

function columnsOf(row: NewRefusal): Omit<Row<'refusals'>, 'number'> {
  return {
    request_id: row.requestId,
    key_id: row.keyId,
    group_id: row.groupId,
    masked: row.masked,
    code: row.code,
    scope: row.scope,
    period: row.period,
    endpoint: row.endpoint,
    model_asked: row.modelAsked,
    required_nanodollars: row.requiredNanodollars,
    remaining_nanodollars: row.remainingNanodollars,
    user_agent: row.userAgent,
    address: row.address,
    created_at: row.createdAt,
  }
}

type Refusal = Values<'refusals'> & {
  /** How many more of the same key, code and hour were only counted; on the last row that was kept of them. */
  readonly further: number
}

type RefusalPage = {
  /** The group that the key was in. */
  readonly groupId?: string | undefined
  readonly keyId?: string | undefined
  readonly code?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The request id that the previous page ended with. */
  readonly before?: string | undefined
  readonly limit: number
}

/** Newest first. */
export async function listRefusals(store: Store, page: RefusalPage): Promise<readonly Refusal[]> {
  const { groupId, keyId, code, since, until, before, limit } = page
  const end = until === undefined ? undefined : firstIdAt('req', until)
  const last = [before, end].filter((id) => id !== undefined).toSorted()[0]
  let query = store.db
    .selectFrom('refusals')
    .leftJoin('refusal_counts as counts', (join) =>
      join
        .onRef('counts.key_id', '=', 'refusals.key_id')
        .onRef('counts.code', '=', 'refusals.code')
        .onRef('counts.group_id', '=', 'refusals.group_id')
        .on(
          sql<boolean>`counts.starts_at = refusals.created_at - refusals.created_at % ${sql.lit(HOUR_MS)}`,
        ),
    )
    .selectAll('refusals')
    .select(['counts.count', 'counts.noted'])
  if (groupId !== undefined) query = query.where('refusals.group_id', '=', groupId)
  if (keyId !== undefined) query = query.where('refusals.key_id', '=', keyId)
  if (code !== undefined) query = query.where('refusals.code', '=', code)
  if (since !== undefined) query = query.where('request_id', '>=', firstIdAt('req', since))
  if (last !== undefined) query = query.where('request_id', '<', last)
  const reached = isReached(store.scope, OF_REFUSAL)
  if (reached !== undefined) query = query.where(reached)
  const rows = await query.orderBy('request_id', 'desc').limit(limit).execute()
  return rows.map(({ count: total, noted, ...row }) => {
    const kept = Math.min(noted ?? 0, ROWS_AN_HOUR_MAX)
    return { ...valuesOf(row), further: row.number === kept ? (total ?? 0) - kept : 0 }
  })
}

const OF_REFUSAL = { group: sql.ref('refusals.group_id'), key: sql.ref('refusals.key_id') }

/** As the admin API and the command line give it. `key` is null where the secret opens none. */
export function refusalJson(refusal: Refusal, keyNames: ReadonlyMap<string, string>) {
  const { keyId } = refusal
  return {
    id: refusal.requestId,
    created_at: iso(refusal.createdAt),
    key: keyId === NO_KEY ? null : keyId,
    key_name: keyNames.get(keyId) ?? null,
    masked: refusal.masked,
    code: refusal.code,
    scope: refusal.scope,
    period: refusal.period,
    endpoint: refusal.endpoint,
    model: refusal.modelAsked,
    required: usd(refusal.requiredNanodollars),
    remaining: usd(refusal.remainingNanodollars),
    user_agent: refusal.userAgent,
    address: refusal.address,
    further: refusal.further,
  }
}

const PURGED_AT_ONCE = 500

/** Deletes a page of what is older, and the counts of an hour. True when there may be more to delete. */
export async function purgeRefusals(store: Store, olderThan: number): Promise<boolean> {
  const { numDeletedRows } = await store.db
    .deleteFrom('refusals')
    .where('request_id', 'in', (query) =>
      query
        .selectFrom('refusals')
        .select('request_id')
        .where('request_id', '<', firstIdAt('req', olderThan))
        .orderBy('request_id')
        .limit(PURGED_AT_ONCE),
    )
    .executeTakeFirstOrThrow()
  const counts = await store.db
    .deleteFrom('refusal_counts')
    .where('starts_at', '<=', olderThan - HOUR_MS)
    .where('starts_at', '=', (query) =>
      query.selectFrom('refusal_counts').select(({ fn }) => fn.min('starts_at').as('oldest')),
    )
    .executeTakeFirstOrThrow()
  return numDeletedRows === BigInt(PURGED_AT_ONCE) || counts.numDeletedRows > 0n
}
