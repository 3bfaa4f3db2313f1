// Sums of usage by key, model, day or hour. The database adds up rollups and never reads usage rows, so
// reports stay fast however many rows there are. Sums over all keys come from the frame's rollups.
import { sql, type RawBuilder } from 'kysely'
import type { Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import { StoreError } from '../../store/database/errors.ts'
import { withWorkMemory } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID, KEYS_AFTER } from '../../store/database/tables.ts'
import { manyIds } from '../../store/keys/search.ts'
import type { RollupSpan } from '../rules/rows.ts'

export type UsageGroup = 'key' | 'model' | 'day' | 'hour'

export type UsageSelection = {
  readonly keyId?: string | undefined
  /** Whole hours: a moment inside an hour counts the hour. */
  readonly since: number
  readonly until: number
  /** What rows are grouped by. */
  readonly by: readonly UsageGroup[]
  /** Keeps only the dearest rows when there are more. Without it, a report with too many rows is refused. */
  readonly limit?: number | undefined
}

/** What a report counts, besides the cost; `estimated` = how many of the requests were charged by estimate. */
export const COUNTS = [
  'requests',
  'failed',
  'refused',
  'inputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'estimated',
] as const

/** What rows were grouped by, null where they were not, and the cost of a group. */
type Group = {
  readonly keyId: string | null
  readonly model: string | null
  /** The first moment of the day (UTC). */
  readonly day: number | null
  readonly hour: number | null
  readonly costNanodollars: Nanodollars
}

export type UsageSums = Group & Readonly<Record<(typeof COUNTS)[number], number>>

type UsageReport = {
  readonly rows: readonly UsageSums[]
  /** Of all rows, including those left out. */
  readonly total: UsageSums
  readonly leftOut: number
}

/** Nobody reads more rows, and the process has to hold them all. */
const ROWS_MAX = 200_000

export async function reportFromRollups(
  store: Store,
  question: UsageSelection,
): Promise<UsageReport> {
  const { keyId, by, limit = ROWS_MAX } = question
  // Nothing is used in the future; one day more allows for clocks that are ahead.
  const until = Math.min(question.until, store.clock.now() + DAY_MS)
  const firstDay = await firstDayOf(store, question.since)
  const stretches = stretchesOf({ ...question, until }, firstDay)
  const account = keyId ?? FRAME_ID
  const isOfEachKey = keyId === undefined && by.includes('key')
  const { rows, leftOut } = isOfEachKey
    ? await readEachKey(store, { stretches, by, limit })
    : await readSums(store, { stretches, accounts: [account], by, limit })
  if (question.limit === undefined && leftOut > 0) throw tooMany()
  const all = await readSums(store, { stretches, accounts: [account], by: [], limit: 1 })
  return {
    // Rows cut to the dearest stay in order of cost.
    rows: leftOut > 0 ? rows : rows.toSorted(byTimeKeyModel),
    total: all.rows[0] ?? NOTHING_USED,
    leftOut,
  }
}

/** What all keys together have used so far, by model. */
export async function usedSoFar(store: Store): Promise<readonly UsageSums[]> {
  const from = await firstDayOf(store, 0)
  if (from === undefined) return []
  const stretches = [{ span: 'day', from, to: dayAt(store.clock.now()) + DAY_MS } as const]
  const wanted = { stretches, accounts: [FRAME_ID], by: ['model'], limit: ROWS_MAX } as const
  return (await readSums(store, wanted)).rows
}

/** The first day since then with any usage: earlier ones need not be looked up. */
async function firstDayOf(store: Store, since: number): Promise<number | undefined> {
  const row = await store.db
    .selectFrom('rollups')
    .select('starts_at')
    .where('span', '=', 'day')
    .where('starts_at', '>=', dayAt(since))
    .orderBy('starts_at')
    .limit(1)
    .executeTakeFirst()
  return row?.starts_at
}

function dayAt(moment: number): number {
  return Math.floor(moment / DAY_MS) * DAY_MS
}

type Stretch = { readonly span: RollupSpan; readonly from: number; readonly to: number }

/** Whole days come from daily rollups, the hours before and after from hourly ones; by hour, all from hourly ones. */
function stretchesOf(
  { since, until, by }: UsageSelection,
  firstDay: number | undefined,
): readonly Stretch[] {
  if (firstDay === undefined) return []
  const from = Math.max(firstDay, Math.floor(since / HOUR_MS) * HOUR_MS)
  const to = Math.ceil(until / HOUR_MS) * HOUR_MS
  const dayFrom = Math.ceil(from / DAY_MS) * DAY_MS
  const dayTo = Math.floor(to / DAY_MS) * DAY_MS
  const all: readonly Stretch[] =
    dayFrom >= dayTo || by.includes('hour')
      ? [{ span: 'hour', from, to }]
      : [
          { span: 'hour', from, to: dayFrom },
          { span: 'day', from: dayFrom, to: dayTo },
          { span: 'hour', from: dayTo, to },
        ]
  return all.filter((stretch) => stretch.from < stretch.to)
}

type Wanted = {
  readonly stretches: readonly Stretch[]
  /** Undefined = every key. */
  readonly accounts?: readonly string[]
  readonly by: readonly UsageGroup[]
  readonly limit: number
}

/** Up to this many keys, looking up the rows of each is faster than reading the rows of all. */
const LOOKED_UP_MAX = 1_000

/** Finds the dearest rows by adding up costs alone, then adds up everything else only for those. */
async function readEachKey(store: Store, wanted: Wanted): Promise<Found> {
  if (wanted.limit > LOOKED_UP_MAX) return readSums(store, wanted)
  const dearest = await readGroups<Group>(store, wanted, COST)
  const accounts = [...new Set(dearest.rows.flatMap((row) => row.keyId ?? []))]
  if (accounts.length === 0) return { rows: [], leftOut: 0 }
  const { rows } = await readSums(store, { ...wanted, accounts, limit: ROWS_MAX })
  const ranks = new Map(dearest.rows.map((row, rank) => [nameOf(row), rank]))
  const rank = (sums: UsageSums): number => ranks.get(nameOf(sums)) ?? Infinity
  return {
    rows: rows.filter((row) => rank(row) < Infinity).toSorted((a, b) => rank(a) - rank(b)),
    leftOut: dearest.leftOut,
  }
}

type Found = Omit<UsageReport, 'total'>

async function readSums(store: Store, wanted: Wanted): Promise<Found> {
  return readGroups<UsageSums>(store, wanted, SUMS)
}

/** The columns that have the same names in rollups and in usage rows. */
export const TOKEN_SUMS = sql`
  sum(estimated) AS estimated, sum(input_tokens) AS "inputTokens",
  sum(cached_tokens) AS "cachedTokens", sum(cache_write_tokens) AS "cacheWriteTokens",
  sum(output_tokens) AS "outputTokens", sum(reasoning_tokens) AS "reasoningTokens",
  sum(cost_nanodollars) AS "costNanodollars"`
/** A refused request counts as a request; it has no usage row. */
const SUMS = sql`sum(requests + refused) AS requests, sum(failed) AS failed, sum(refused) AS refused, ${TOKEN_SUMS}`
const COST = sql`sum(cost_nanodollars) AS "costNanodollars"`

const GROUPINGS: Readonly<Record<UsageGroup, RawBuilder<unknown>>> = {
  key: sql`key_id`,
  model: sql`model`,
  // Integer division drops the remainder.
  day: sql`starts_at / ${sql.lit(DAY_MS)} * ${sql.lit(DAY_MS)}`,
  hour: sql`starts_at`,
}

/** The dearest rows with these sums. */
async function readGroups<Row extends Group>(
  store: Store,
  { stretches, accounts, by, limit }: Wanted,
  sums: RawBuilder<unknown>,
): Promise<{ readonly rows: readonly Row[]; readonly leftOut: number }> {
  if (stretches.length === 0) return { rows: [], leftOut: 0 }
  const column = (group: UsageGroup) => (by.includes(group) ? GROUPINGS[group] : sql`NULL`)
  const grouped =
    by.length === 0 ? sql`` : sql`GROUP BY ${sql.join(by.map((group) => GROUPINGS[group]))}`
  // `found` is the number of all rows, including those left out.
  const query = sql<Row & { found?: number }>`
    SELECT ${column('key')} AS "keyId", ${column('model')} AS model,
      ${column('day')} AS day, ${column('hour')} AS hour,
      count(*) OVER () AS found, ${sums}
    FROM (${rollupsIn(stretches, accounts)}) AS used ${grouped}
    HAVING count(*) > 0
    ORDER BY sum(cost_nanodollars) DESC
    LIMIT ${limit}`
  const { rows } = await withWorkMemory(store, query)
  const found = rows[0]?.found ?? 0
  for (const row of rows) delete row.found
  return { rows, leftOut: Math.max(0, found - limit) }
}

function rollupsIn(
  stretches: readonly Stretch[],
  accounts: readonly string[] | undefined,
): RawBuilder<unknown> {
  const parts = stretches.map((stretch) => {
    const { span, from, to } = stretch
    const which =
      accounts === undefined
        ? sql`starts_at >= ${from} AND starts_at < ${to} AND key_id > ${KEYS_AFTER}`
        : // One look-up per account and hour or day, instead of reading past the rows of all other keys.
          sql`starts_at IN (${sql.join(momentsOf(stretch))}) AND key_id IN (${sql.join([...accounts])})`
    return sql`SELECT * FROM rollups WHERE span = ${span} AND ${which}`
  })
  return sql.join(parts, sql` UNION ALL `)
}

function momentsOf({ span, from, to }: Stretch): readonly number[] {
  const stepMs = span === 'hour' ? HOUR_MS : DAY_MS
  return Array.from({ length: (to - from) / stepMs }, (_, step) => from + step * stepMs)
}

function tooMany(): StoreError {
  const message = sentence('report_too_long', { most: ROWS_MAX })
  return new StoreError('invalid_value', message, { field: 'by' })
}

function nameOf({ keyId, model, day, hour }: Group): string {
  return JSON.stringify([keyId, model, day, hour])
}

export const NOTHING_USED: UsageSums = {
  keyId: null,
  model: null,
  day: null,
  hour: null,
  requests: 0,
  failed: 0,
  refused: 0,
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costNanodollars: 0n,
  estimated: 0,
}

/** The order of a report that is complete. */
export function byTimeKeyModel(a: UsageSums, b: UsageSums): number {
  return (
    (a.day ?? 0) - (b.day ?? 0) ||
    (a.hour ?? 0) - (b.hour ?? 0) ||
    compare(a.keyId ?? '', b.keyId ?? '') ||
    compare(a.model ?? '', b.model ?? '')
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The first moments of the last `count` days (UTC), ending with today. */
export function lastDays(now: number, count: number): readonly number[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: count }, (_, index) => today - (count - 1 - index) * DAY_MS)
}

/** What each key cost on each of these days (their first moments, UTC); null = no requests. */
export async function costsByDay(
  store: Store,
  keyIds: readonly string[],
  days: readonly number[],
): Promise<ReadonlyMap<string, readonly (Nanodollars | null)[]>> {
  if (keyIds.length === 0) return new Map()
  const rows = await store.db
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
    .execute()
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
  return manyIds(
    store,
    sql`
      SELECT key_id AS id FROM rollups
      WHERE span = 'day' AND starts_at IN (${sql.join([...days])}) AND ${whose}
      GROUP BY key_id HAVING sum(cost_nanodollars) > 0
      ORDER BY sum(cost_nanodollars) DESC, key_id`,
  )
}
