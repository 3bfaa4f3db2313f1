// Fills a database as months of traffic would: keys in groups, with secrets, a usage row per request, and the sums that
// the ledger keeps beside them. Takes a few thousand statements, whatever the number of rows; the usage rows get their
// indexes afterwards.
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import pg from 'pg'
import { firstIdAt } from '../../src/core/ids.ts'
import { sumUpKeyDays } from '../../src/ledger/reports/rollups.ts'
import { ROLLUP, type RollupSpan } from '../../src/ledger/rules/rows.ts'
import { SCHEMA, textsFor, type DatabaseKind } from '../../src/store/database/migrations.ts'
import type { Store } from '../../src/store/database/store.ts'
import { FRAME_ID, KEYS_AFTER } from '../../src/store/database/tables.ts'
import { MODELS } from '../contenders/tollgate.ts'
import { fillGroups, fillKeys, numbered, type Filled, type NumberedIds } from './filled-keys.ts'
import type { Size } from './size.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HOURS = 30 * 24
/** Keys in use per hour; the next hour uses others. */
const KEYS_AN_HOUR = 1_000

/** Hold ids contain the node's number; no node of a benchmark gets this one. */
const FIRST_ROW = 500_000 * 2 ** 33

export async function fill(store: Store, size: Size): Promise<Filled> {
  const endsAt = Math.floor(store.clock.now() / HOUR_MS) * HOUR_MS
  const startsAt = endsAt - HOURS * HOUR_MS
  const groupIds = { prefix: firstIdAt('grp', startsAt), count: size.groups }
  const keyIds = { prefix: firstIdAt('key', startsAt), count: size.keys }
  await fillGroups(store, groupIds, startsAt)
  const filled = await fillKeys(store, { keyIds, groupIds, startsAt, endsAt })
  for (const { name } of usageIndexes(store.kind)) {
    await sql`DROP INDEX ${sql.ref(name)}`.execute(store.db)
  }
  const rowsAnHour = Math.ceil(size.rows / HOURS)
  for (let hour = 0; hour < HOURS; hour++) {
    await fillHour(store, { hour, startsAt, keyIds, groupIds, rows: rowsAnHour })
    const nextAt = startsAt + (hour + 1) * HOUR_MS
    // As on a real server, each day's sums are stored right after its hours'.
    if (nextAt % DAY_MS === 0 || hour === HOURS - 1) await sumUpDay(store, nextAt - 1)
  }
  // A day at a time: no batch waits for it.
  while (await sumUpKeyDays(store, endsAt, size.keys));
  await sumUpAccounts(store, keyIds)
  return filled
}

/**
 * Makes the indexes of the usage rows, and does what a server that ran for months would have done by itself. Takes longer
 * than the store allows a query.
 */
export async function settle(database: string): Promise<void> {
  if (!database.startsWith('postgres')) {
    const file = new DatabaseSync(database.replace(/^sqlite:/, ''))
    for (const { text } of usageIndexes('sqlite')) file.exec(text)
    file.close()
    return
  }
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  await client.query("SET maintenance_work_mem = '512MB'")
  for (const { text } of usageIndexes('postgres')) await client.query(text)
  await client.query('VACUUM ANALYZE')
  await client.end()
}

type Index = { readonly name: string; readonly text: string }

function usageIndexes(kind: DatabaseKind): readonly Index[] {
  return textsFor(kind, SCHEMA.indexes).flatMap((text) => {
    const name = /^CREATE INDEX (\w+) ON usage /.exec(text)?.[1]
    return name === undefined ? [] : { name, text }
  })
}

type Hour = {
  readonly hour: number
  readonly startsAt: number
  readonly keyIds: NumberedIds
  readonly groupIds: NumberedIds
  readonly rows: number
}

async function fillHour(store: Store, { hour, startsAt, keyIds, groupIds, rows }: Hour) {
  const at = startsAt + hour * HOUR_MS
  const firstId = FIRST_ROW + hour * rows
  const active = Math.min(KEYS_AN_HOUR, keyIds.count)
  const n = sql.ref('series.n')
  const keyIndex = sql`(${sql.lit(hour * active)} + ${n} % ${sql.lit(active)}) % ${sql.lit(keyIds.count)}`
  const digits = (number: typeof keyIndex) =>
    store.kind === 'sqlite'
      ? sql`printf('%016d', ${number})`
      : sql`lpad((${number})::text, 16, '0')`
  const group = sql`${sql.lit(groupIds.prefix)} || ${digits(sql`${keyIndex} % ${sql.lit(groupIds.count)}`)}`
  // Every fourth round of the keys uses the other model; every key has its own cost, and some answers are errors.
  const model = sql`CASE WHEN ${n} / ${sql.lit(active)} % 4 = 3 THEN ${sql.lit(MODELS.embedding)} ELSE ${sql.lit(MODELS.chat)} END`
  const cost = sql`20000 + ${keyIndex} * 31 % 50000`
  const status = sql`CASE WHEN ${n} % 50 = 0 THEN 502 ELSE 200 END`
  const attempts =
    '[{"target":"whole/constant","why":"first choice","outcome":"answered","durationMs":10}]'
  await sql`
    ${series(store, rows)}
    INSERT INTO usage (
      id, request_id, key_id, group_id, key_period, group_period, frame_period, state, held_nanodollars,
      cost_nanodollars, endpoint, model_asked, model_served, provider, status, input_tokens,
      cached_tokens, cache_write_tokens, cache_write_long_tokens, output_tokens,
      reasoning_tokens, estimated, latency_ms, first_token_ms, tags, attempts, reserved_at,
      settled_at)
    SELECT ${sql.lit(firstId)} + ${n}, ${sql.lit(firstIdAt('req', at))} || ${digits(sql`${n}`)},
      ${sql.lit(keyIds.prefix)} || ${digits(keyIndex)}, ${group}, 1, 1, 1, 'settled', 120000,
      ${cost}, 'chat', ${model}, 'constant', 'whole', ${status}, 60,
      0, 0, 0, 100, 0, 0, 12, 11, '{}', ${sql.lit(attempts)}, ${sql.lit(at)} + ${n} % 3600000,
      ${sql.lit(at)} + ${n} % 3600000 + 12
    FROM series`.execute(store.db)
  const inHour = sql`usage WHERE id BETWEEN ${sql.lit(firstId + 1)} AND ${sql.lit(firstId + rows)}`
  await sql`
    INSERT INTO rollups (${ROLLUP_COLUMNS})
    SELECT 'hour', ${sql.lit(at)}, key_id, model_asked, group_id, provider, endpoint, count(*),
      count(CASE WHEN status >= 400 THEN 1 END), 0, 0, sum(input_tokens), 0, 0,
      sum(output_tokens), 0, sum(cost_nanodollars)
    FROM ${inHour} GROUP BY key_id, model_asked, group_id, provider, endpoint`.execute(store.db)
  await sumUpAbove(store, 'hour', at)
}

const ROLLUP_COLUMNS = sql.join(ROLLUP.names.map((name) => sql.ref(name)))

/** The sums over the keys of each group, and over all keys. */
async function sumUpAbove(store: Store, span: RollupSpan, startsAt: number): Promise<void> {
  for (const account of [sql`group_id`, sql.lit(FRAME_ID)]) {
    await sql`
      INSERT INTO rollups (${ROLLUP_COLUMNS})
      SELECT span, starts_at, ${account}, model, '', provider, endpoint, ${SUMS}
      FROM rollups WHERE span = ${span} AND starts_at = ${startsAt} AND key_id > ${KEYS_AFTER}
      GROUP BY span, starts_at, 3, model, provider, endpoint`.execute(store.db)
  }
}

const SUMS = sql`sum(requests), sum(failed), 0, 0, sum(input_tokens), 0, 0, sum(output_tokens), 0,
  sum(cost_nanodollars)`

/** The numbers from 1 to `length`, as a table named series. */
function series({ kind }: Store, length: number) {
  const last = sql.lit(length)
  return kind === 'sqlite'
    ? sql`WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${last})`
    : sql`WITH series AS (SELECT n FROM generate_series(1, ${last}) AS n)`
}

async function sumUpDay(store: Store, at: number): Promise<void> {
  const day = Math.floor(at / DAY_MS) * DAY_MS
  await sql`
    INSERT INTO rollups (${ROLLUP_COLUMNS})
    SELECT 'day', ${sql.lit(day)}, key_id, model, group_id, provider, endpoint, ${SUMS}
    FROM rollups
    WHERE span = 'hour' AND starts_at >= ${day} AND starts_at <= ${at} AND key_id > ${KEYS_AFTER}
    GROUP BY key_id, model, group_id, provider, endpoint`.execute(store.db)
  await sumUpAbove(store, 'day', day)
}

/** Below any limit on the time of a statement. */
const SUMMED_KEYS = 10_000

async function sumUpAccounts(store: Store, { prefix, count }: NumberedIds): Promise<void> {
  const ranges: (readonly [after: string, last: string])[] = [[FRAME_ID, KEYS_AFTER]]
  for (let first = 0; first < count; first += SUMMED_KEYS) {
    ranges.push([numbered(prefix, first - 1), numbered(prefix, first + SUMMED_KEYS - 1)])
  }
  for (const [after, last] of ranges) {
    await sql`
      UPDATE accounts SET spent_nanodollars = spent
      FROM (
        SELECT key_id, sum(cost_nanodollars) AS spent FROM rollups
        WHERE span = 'day' AND key_id > ${after} AND key_id <= ${last} GROUP BY key_id
      ) AS sums
      WHERE accounts.id = sums.key_id`.execute(store.db)
  }
}
