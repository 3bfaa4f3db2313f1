// What keys cost on single days, for lists of keys; and what all have used so far. Reports are in report.ts.
import { sql } from 'kysely'
import type { Nanodollars } from '../../core/money.ts'
import { DAY_MS } from '../../core/units.ts'
import { isReached } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { KEYS_AFTER } from '../../store/database/tables.ts'
import { manyIds } from '../../store/keys/search.ts'

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
