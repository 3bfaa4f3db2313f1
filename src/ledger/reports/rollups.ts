// What keys cost on single days: read for lists of keys, and added up once a day is over, so that a report over all keys
// reads one narrow row for each key and day. Reports are in report.ts.
import { sql } from 'kysely'
import type { Nanodollars } from '../../core/money.ts'
import { DAY_MS } from '../../core/units.ts'
import { isReached } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID, KEYS_AFTER, type Row, type Tx } from '../../store/database/tables.ts'
import { manyIds } from '../../store/keys/search.ts'
import { KEY_DAY, KEY_DAY_KEYS } from '../rules/rows.ts'

/** The first moments of the last `count` days (UTC), ending with today. */
export function lastDays(now: number, count: number): readonly number[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: count }, (_, index) => today - (count - 1 - index) * DAY_MS)
}

const OF_ROLLUP = { group: sql.ref('rollups.group_id'), key: sql.ref('rollups.key_id') }

/** What each key cost on each of these days (their first moments, UTC); null = no requests. */
export async function costsByDay(
  store: Store,
  keyIds: readonly string[],
  days: readonly number[],
): Promise<ReadonlyMap<string, readonly (Nanodollars | null)[]>> {
  if (keyIds.length === 0) return new Map()
  const query = store.db
    .selectFrom('rollups')
    .select(({ fn }) => [
      'key_id',
      'starts_at',
      fn.sum<Nanodollars>('cost_nanodollars').as('cost_nanodollars'),
    ])
    .where('span', '=', 'day')
    .where('starts_at', 'in', days)
    .where('key_id', 'in', keyIds)
    .groupBy(['key_id', 'starts_at'])
  const reached = isReached(store.scope, OF_ROLLUP)
  const rows = await (reached === undefined ? query : query.where(reached)).execute()
  const byKey = Map.groupBy(rows, (row) => row.key_id)
  return new Map(
    keyIds.map((id) => {
      const costs = new Map(byKey.get(id)?.map((row) => [row.starts_at, row.cost_nanodollars]))
      return [id, days.map((day) => costs.get(day) ?? null)]
    }),
  )
}

/** The keys, or those of `among`, that cost something on these days, dearest first. */
export async function dearestKeys(
  store: Store,
  days: readonly number[],
  among?: readonly string[],
): Promise<readonly string[]> {
  const whose =
    among === undefined ? sql`key_id > ${KEYS_AFTER}` : sql`key_id IN (${sql.join([...among])})`
  const reached = isReached(store.scope, OF_ROLLUP)
  return manyIds(
    store,
    sql`
      SELECT key_id AS id FROM rollups
      WHERE span = 'day' AND starts_at IN (${sql.join([...days])}) AND ${whose}
      ${reached === undefined ? sql`` : sql`AND ${reached}`}
      GROUP BY key_id HAVING sum(cost_nanodollars) > 0
      ORDER BY sum(cost_nanodollars) DESC, key_id`,
  )
}

// The sums of days that are over. Adding them up is a part of a node's background duties; whichever node comes first does
// it. A batch that changes a day which is summed up already changes that sum in the same transaction (`isSummedUp`).

/** Batches wait while these are added up: a few milliseconds. */
const KEYS_MAX = 500

/** How far days are summed up; it is the frame's, because every batch locks that, and so knows it for sure. */
type Position = Pick<Row<'accounts'>, 'summed_day' | 'summed_key'>

/** Sums up the next few keys of a day that is over. True when there may be more to do. */
export function sumUpKeyDays(store: Store, now: number, keysMax = KEYS_MAX): Promise<boolean> {
  return store.db.transaction().execute(async (tx) => {
    const position = await lockPosition(store, tx)
    const day = await firstDayFrom(tx, position.summed_day)
    if (day === undefined || day + DAY_MS > now) return false
    const summed = day === position.summed_day ? position.summed_key : KEYS_AFTER
    const after = summed > KEYS_AFTER ? summed : KEYS_AFTER
    const { found, last } = await nextKeys(tx, day, { after, keysMax })
    if (last !== null) await insertSums(tx, day, { after, last })
    const isDayDone = last === null || found < keysMax
    await tx
      .updateTable('accounts')
      .set({ summed_day: isDayDone ? day + DAY_MS : day, summed_key: isDayDone ? '' : last })
      .where('id', '=', FRAME_ID)
      .execute()
    return true
  })
}

async function lockPosition({ kind }: Store, tx: Tx): Promise<Position> {
  const query = tx
    .selectFrom('accounts')
    .select(['summed_day', 'summed_key'])
    .where('id', '=', FRAME_ID)
  return (kind === 'postgres' ? query.forNoKeyUpdate() : query).executeTakeFirstOrThrow()
}

/** The first day with any usage. */
async function firstDayFrom(tx: Tx, day: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom('rollups')
    .select('starts_at')
    .where('span', '=', 'day')
    .where('starts_at', '>=', day)
    .orderBy('starts_at')
    .limit(1)
    .executeTakeFirst()
  return row?.starts_at
}

type Keys = { readonly found: number; readonly last: string | null }

async function nextKeys(
  tx: Tx,
  day: number,
  { after, keysMax }: { readonly after: string; readonly keysMax: number },
): Promise<Keys> {
  const { rows } = await sql<Keys>`
    SELECT count(*) AS found, max(key_id) AS last FROM (
      SELECT DISTINCT key_id FROM rollups
      WHERE span = 'day' AND starts_at = ${day} AND key_id > ${after}
      ORDER BY key_id LIMIT ${keysMax}) AS keys`.execute(tx)
  return rows[0] ?? { found: 0, last: null }
}

async function insertSums(
  tx: Tx,
  day: number,
  { after, last }: { readonly after: string; readonly last: string },
): Promise<void> {
  const key = sql.join(KEY_DAY.names.slice(0, KEY_DAY_KEYS).map((name) => sql.ref(name)))
  const sums = KEY_DAY.names.slice(KEY_DAY_KEYS).map((name) => sql`sum(${sql.ref(name)})`)
  await sql`
    INSERT INTO key_days (${sql.join(KEY_DAY.names.map((name) => sql.ref(name)))})
    SELECT ${key}, ${sql.join(sums)} FROM rollups
    WHERE span = 'day' AND starts_at = ${day} AND key_id > ${after} AND key_id <= ${last}
    GROUP BY ${key}`.execute(tx)
}
