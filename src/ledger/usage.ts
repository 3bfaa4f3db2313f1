// What was used: reports from the rollups, and single rows. Reports never read usage rows, so they stay fast however
// many there are.
import { sql, type RawBuilder } from 'kysely'

import { firstIdAt } from '../core/ids.ts'
import type { Nanodollars } from '../core/money.ts'
import { sentence } from '../core/sentences.ts'
import { StoreError } from '../store/errors.ts'
import type { Store } from '../store/open.ts'
import type { UsageRow } from './books.ts'
import { toUsageRow } from './rows.ts'

export type UsageGroup = 'key' | 'model' | 'day' | 'hour'

export type UsageQuestion = {
  readonly keyId?: string | undefined
  /** Whole hours: a moment inside an hour counts the hour. */
  readonly since: number
  readonly until: number
  /** What rows are grouped by. */
  readonly by: readonly UsageGroup[]
}

/** Sums; a member that rows were not grouped by is null. */
export type UsageSums = {
  readonly keyId: string | null
  readonly model: string | null
  /** The first moment of the day (UTC). */
  readonly day: number | null
  readonly hour: number | null
  readonly requests: number
  readonly errors: number
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly costNanodollars: Nanodollars
  /** How many of the requests were charged by estimate. */
  readonly estimated: number
}

export type UsageReport = { readonly rows: readonly UsageSums[]; readonly total: UsageSums }

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const LOOKUPS_MAX = 500
/** More rows nobody reads, and a process has to hold them all. */
const ROWS_MAX = 200_000

export async function usageReport(store: Store, question: UsageQuestion): Promise<UsageReport> {
  const groups = new Map<string, Sums>()
  const total = emptySums({ keyId: null, model: null, day: null, hour: null })
  for (const stretch of stretches(question)) {
    for (const row of await readRollups(store, stretch, question)) {
      const group = { keyId: row.key_id, model: row.model, day: row.day, hour: row.hour }
      const name = JSON.stringify(group)
      const sums = groups.get(name) ?? emptySums(group)
      groups.set(name, sums)
      if (groups.size > ROWS_MAX) throw tooMany()
      add(sums, row)
      add(total, row)
    }
  }
  return { rows: [...groups.values()].toSorted(byTimeKeyModel), total }
}

/** What each key cost on each of these days (their first moments, UTC); null = nothing was asked. */
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

/** Undefined when there is no such request, or its row is past retention. */
export async function findUsage(store: Store, requestId: string): Promise<UsageRow | undefined> {
  const row = await store.db
    .selectFrom('usage')
    .selectAll()
    .where('request_id', '=', requestId)
    .executeTakeFirst()
  return row && toUsageRow(row)
}

/** The keys that cost something on these days, the dearest first. */
export async function dearestKeys(
  store: Store,
  days: readonly number[],
): Promise<readonly string[]> {
  const rows = await store.db
    .selectFrom('rollups')
    .select('key_id')
    .where('span', '=', 'day')
    .where('starts_at', 'in', days)
    .where('cost_nanodollars', '>', 0n)
    .groupBy('key_id')
    .orderBy(({ fn }) => fn.sum('cost_nanodollars'), 'desc')
    .orderBy('key_id')
    .execute()
  return rows.map(({ key_id }) => key_id)
}

export type UsagePage = {
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly outcome?: 'ok' | 'failed' | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The request id that the last page ended with. */
  readonly before?: string | undefined
  readonly limit: number
}

/** So many rows are looked through for one page: no index knows models and outcomes. */
const LOOKED_THROUGH_MAX = 20_000

/** Rows from the newest on. */
export async function listUsage(store: Store, page: UsagePage): Promise<readonly UsageRow[]> {
  return (await searchUsage(store, page)).rows
}

/** `next`: where the next page begins; null = there is nothing more. A page may be short and still have a next. */
export async function searchUsage(
  store: Store,
  page: UsagePage,
): Promise<{ readonly rows: readonly UsageRow[]; readonly next: string | null }> {
  const { model, outcome, limit } = page
  const isFiltered = model !== undefined || outcome !== undefined
  const lookedAt = inOrder(store, page).limit(isFiltered ? LOOKED_THROUGH_MAX : limit)
  let query = store.db.selectFrom(lookedAt.as('usage')).selectAll()
  if (model !== undefined) query = query.where('model_asked', '=', model)
  if (outcome !== undefined) query = query.where('status', outcome === 'ok' ? '<' : '>=', 400)
  const rows = await query.orderBy('request_id', 'desc').limit(limit).execute()
  if (rows.length === limit) {
    return { rows: rows.map(toUsageRow), next: rows.at(-1)?.request_id ?? null }
  }
  const next = isFiltered ? await lastLookedAt(store, page) : null
  return { rows: rows.map(toUsageRow), next }
}

function inOrder(store: Store, { keyId, before, since, until }: UsagePage) {
  const end = until === undefined ? undefined : firstIdAt('req', until)
  const last = [before, end].filter((id) => id !== undefined).toSorted()[0]
  let query = store.db.selectFrom('usage').selectAll()
  if (keyId !== undefined) query = query.where('key_id', '=', keyId)
  if (since !== undefined) query = query.where('request_id', '>=', firstIdAt('req', since))
  if (last !== undefined) query = query.where('request_id', '<', last)
  return query.orderBy('request_id', 'desc')
}

async function lastLookedAt(store: Store, page: UsagePage): Promise<string | null> {
  const row = await inOrder(store, page)
    .clearSelect()
    .select('request_id')
    .offset(LOOKED_THROUGH_MAX - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.request_id ?? null
}

type Sums = { -readonly [Name in keyof UsageSums]: UsageSums[Name] }
type Group = Pick<UsageSums, 'keyId' | 'model' | 'day' | 'hour'>
type Stretch = { readonly span: 'hour' | 'day'; readonly from: number; readonly to: number }

/** Whole days from their own sums, the hours before and after them from theirs; by hours, all from theirs. */
function stretches({ since, until, by }: UsageQuestion): readonly Stretch[] {
  const from = Math.floor(since / HOUR_MS) * HOUR_MS
  const to = Math.ceil(until / HOUR_MS) * HOUR_MS
  const firstDay = Math.ceil(from / DAY_MS) * DAY_MS
  const lastDay = Math.floor(to / DAY_MS) * DAY_MS
  if (firstDay >= lastDay || by.includes('hour')) return [{ span: 'hour', from, to }]
  const all: readonly Stretch[] = [
    { span: 'hour', from, to: firstDay },
    { span: 'day', from: firstDay, to: lastDay },
    { span: 'hour', from: lastDay, to },
  ]
  return all.filter((stretch) => stretch.from < stretch.to)
}

type Sum = {
  readonly key_id: string | null
  readonly model: string | null
  readonly day: number | null
  readonly hour: number | null
  readonly requests: number
  readonly errors: number
  readonly estimated: number
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly cost_nanodollars: Nanodollars
}

async function readRollups(
  store: Store,
  { span, from, to }: Stretch,
  { keyId, by }: UsageQuestion,
): Promise<readonly Sum[]> {
  if (keyId === undefined) {
    return sumRollups(store, by, sql`span = ${span} AND starts_at >= ${from} AND starts_at < ${to}`)
  }
  // One look-up per hour or day instead of reading past the rows of all other keys.
  const stepMs = span === 'hour' ? HOUR_MS : DAY_MS
  const rows: Sum[] = []
  for (let start = from; start < to; start += stepMs * LOOKUPS_MAX) {
    const end = Math.min(to, start + stepMs * LOOKUPS_MAX)
    const moments = Array.from(
      { length: (end - start) / stepMs },
      (_, step) => start + step * stepMs,
    )
    const where = sql`span = ${span} AND starts_at IN (${sql.join(moments)}) AND key_id = ${keyId}`
    rows.push(...(await sumRollups(store, by, where)))
  }
  return rows
}

const GROUPINGS: Readonly<Record<UsageGroup, RawBuilder<unknown>>> = {
  key: sql`key_id`,
  model: sql`model`,
  // The sums are of whole numbers, so the rest of the division is dropped.
  day: sql`starts_at / 86400000 * 86400000`,
  hour: sql`starts_at`,
}

/** A refused request is a request, and an error; it never had a row. */
async function sumRollups(
  store: Store,
  by: readonly UsageGroup[],
  where: RawBuilder<unknown>,
): Promise<readonly Sum[]> {
  const column = (group: UsageGroup) => (by.includes(group) ? GROUPINGS[group] : sql`NULL`)
  const grouped =
    by.length === 0 ? sql`` : sql`GROUP BY ${sql.join(by.map((group) => GROUPINGS[group]))}`
  const { rows } = await sql<Sum>`
    SELECT ${column('key')} AS key_id, ${column('model')} AS model,
      ${column('day')} AS day, ${column('hour')} AS hour,
      sum(requests + refused) AS requests, sum(errors + refused) AS errors,
      sum(estimated) AS estimated, sum(input_tokens) AS input_tokens,
      sum(cached_tokens) AS cached_tokens, sum(cache_write_tokens) AS cache_write_tokens,
      sum(output_tokens) AS output_tokens, sum(reasoning_tokens) AS reasoning_tokens,
      sum(cost_nanodollars) AS cost_nanodollars
    FROM rollups WHERE ${where} ${grouped}
    HAVING count(*) > 0
    LIMIT ${ROWS_MAX + 1}`.execute(store.db)
  return rows
}

function tooMany(): StoreError {
  return new StoreError('invalid_value', sentence('report_too_long', { most: ROWS_MAX }), {
    field: 'by',
  })
}

function emptySums(group: Group): Sums {
  return {
    ...group,
    requests: 0,
    errors: 0,
    inputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    costNanodollars: 0n,
    estimated: 0,
  }
}

function add(sums: Sums, row: Sum): void {
  sums.requests += row.requests
  sums.errors += row.errors
  sums.inputTokens += row.input_tokens
  sums.cachedTokens += row.cached_tokens
  sums.cacheWriteTokens += row.cache_write_tokens
  sums.outputTokens += row.output_tokens
  sums.reasoningTokens += row.reasoning_tokens
  sums.costNanodollars += row.cost_nanodollars
  sums.estimated += row.estimated
}

function byTimeKeyModel(a: UsageSums, b: UsageSums): number {
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
