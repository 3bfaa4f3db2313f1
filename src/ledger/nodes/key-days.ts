// Adds up the day rollups of each key once the day is over, so that a report over all keys reads one narrow row for each
// key and day. A part of a node's background duties; whichever node comes first does it. A batch that changes a day which
// is summed up already changes that sum in the same transaction (`isSummedUp`).
import { sql } from 'kysely'
import { DAY_MS } from '../../core/units.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID, KEYS_AFTER, type Row, type Tx } from '../../store/database/tables.ts'
import { KEY_DAY, KEY_DAY_KEYS } from '../rules/rows.ts'

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
