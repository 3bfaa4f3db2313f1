// Reads usage rows: one request's, lists, and reports on what rollups do not know. And their JSON forms.
import { sql, type RawBuilder } from 'kysely'
import { targetName } from '../../catalog/models.ts'
import { firstIdAt } from '../../core/ids.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, HOUR_MS, iso, usd } from '../../core/units.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import { USAGE, type UsageRow } from '../rules/rows.ts'
import {
  byTimeKeyModel,
  COUNTS,
  NOTHING_USED,
  reportFromRollups,
  TOKEN_SUMS,
  type UsageGroup,
  type UsageSelection,
  type UsageSums,
} from './rollups.ts'

/**
 * Undefined when there is no such request, or its row is past retention. A request ran with its last hold: an earlier
 * one was voided when its node had to join again.
 */
export async function findUsage(store: Store, requestId: string): Promise<UsageRow | undefined> {
  const row = await store.db
    .selectFrom('usage')
    .selectAll()
    .where('request_id', '=', requestId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row && USAGE.read(row, 0)
}

type UsagePage = {
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly outcome?: 'ok' | 'failed' | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The request id that the previous page ended with. */
  readonly before?: string | undefined
  readonly limit: number
}

/** How many rows are searched for one page: no index covers models and outcomes. */
const LOOKED_THROUGH_MAX = 20_000

/**
 * Rows, newest first. `next` is where the next page begins; null = there is nothing more. A page may be short and still
 * have a next.
 */
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
    return { rows: rows.map((each) => USAGE.read(each, 0)), next: rows.at(-1)?.request_id ?? null }
  }
  const next = isFiltered ? await lastLookedAt(store, page) : null
  return { rows: rows.map((each) => USAGE.read(each, 0)), next }
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

type ScanGroup = UsageGroup | 'provider' | 'endpoint'

export type UsageScan = Omit<UsageSelection, 'by'> & { readonly by: readonly ScanGroup[] }

/** Requests that were refused before admission have no row, so sums over rows leave them out. */
export type ScanSums = UsageSums & {
  /** Empty where no provider answered. */
  readonly provider: string | null
  readonly endpoint: string | null
}

type ScanReport = {
  readonly rows: readonly ScanSums[]
  /** Of all rows, including those left out. */
  readonly total: ScanSums
  readonly leftOut: number
}

const SLICE_ROWS = 20_000
const SCANNED_ROWS_MAX = 400_000

/**
 * Reads the rollups unless the report groups by what they lack, provider or endpoint. For those it reads usage rows: in
 * slices that hold nobody up for long, and only up to a maximum, so that the cost of a report stays bounded.
 */
export async function reportUsage(store: Store, question: UsageScan): Promise<ScanReport> {
  const known = question.by.filter((group) => group !== 'provider' && group !== 'endpoint')
  if (known.length < question.by.length) return reportFromRows(store, question)
  const { rows, total, leftOut } = await reportFromRollups(store, { ...question, by: known })
  const none = { provider: null, endpoint: null }
  return { rows: rows.map((row) => ({ ...row, ...none })), total: { ...total, ...none }, leftOut }
}

async function reportFromRows(store: Store, question: UsageScan): Promise<ScanReport> {
  const groups = new Map<string, Sums>()
  const total = { ...NOTHING_SCANNED }
  let after = firstIdAt('req', question.since)
  for (let scanned = 0; ; scanned += SLICE_ROWS) {
    const slice = await readSlice(store, question, after)
    for (const row of slice) {
      const { keyId, model, day, hour, provider, endpoint } = row
      const group = { keyId, model, day, hour, provider, endpoint }
      const name = JSON.stringify(group)
      const sums = groups.get(name) ?? { ...NOTHING_SCANNED, ...group }
      groups.set(name, sums)
      add(sums, row)
      add(total, row)
    }
    const rows = slice.reduce((sum, row) => sum + row.requests, 0)
    if (rows < SLICE_ROWS) return { ...dearest([...groups.values()], question.limit), total }
    if (scanned + rows >= SCANNED_ROWS_MAX) throw tooMany()
    const [last = after] = slice
      .map(({ lastId }) => lastId)
      .toSorted()
      .toReversed()
    after = last
  }
}

const GROUPINGS: Readonly<Record<ScanGroup, RawBuilder<unknown>>> = {
  key: sql`key_id`,
  model: sql`model_asked`,
  // Integer division drops the remainder.
  day: sql`reserved_at / ${sql.lit(DAY_MS)} * ${sql.lit(DAY_MS)}`,
  hour: sql`reserved_at / ${sql.lit(HOUR_MS)} * ${sql.lit(HOUR_MS)}`,
  provider: sql`coalesce(provider, '')`,
  endpoint: sql`endpoint`,
}

type Sum = ScanSums & { readonly lastId: string }

async function readSlice(
  store: Store,
  { keyId, until, by }: UsageScan,
  after: string,
): Promise<readonly Sum[]> {
  const column = (group: ScanGroup) => (by.includes(group) ? GROUPINGS[group] : sql`NULL`)
  const key = keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`
  const { rows } = await sql<Sum>`
    SELECT ${column('key')} AS "keyId", ${column('model')} AS model,
      ${column('day')} AS day, ${column('hour')} AS hour,
      ${column('provider')} AS provider, ${column('endpoint')} AS endpoint,
      count(*) AS requests, sum(CASE WHEN status >= 400 THEN 1 ELSE 0 END) AS failed,
      0 AS refused,
      ${TOKEN_SUMS}, max(request_id) AS "lastId"
    FROM (
      SELECT * FROM usage
      WHERE request_id > ${after} AND request_id < ${firstIdAt('req', until)} ${key}
      ORDER BY request_id LIMIT ${SLICE_ROWS}
    ) AS slice
    GROUP BY ${sql.join(by.map((group) => GROUPINGS[group]))}`.execute(store.db)
  return rows
}

function tooMany(): StoreError {
  return new StoreError('invalid_value', sentence('report_scan', { most: SCANNED_ROWS_MAX }), {
    field: 'by',
  })
}

type Sums = { -readonly [Name in keyof ScanSums]: ScanSums[Name] }

const NOTHING_SCANNED: ScanSums = { ...NOTHING_USED, provider: null, endpoint: null }

function add(sums: Sums, row: Sum): void {
  for (const count of COUNTS) sums[count] += row[count]
  sums.costNanodollars += row.costNanodollars
}

/** All rows in order of time, or the dearest when there are too many. */
function dearest(rows: readonly ScanSums[], limit = rows.length): Omit<ScanReport, 'total'> {
  if (rows.length <= limit) return { rows: rows.toSorted(byTimeKeyModel), leftOut: 0 }
  const byCost = (one: ScanSums, other: ScanSums): number =>
    one.costNanodollars > other.costNanodollars ? -1 : 1
  return { rows: rows.toSorted(byCost).slice(0, limit), leftOut: rows.length - limit }
}

export function sumsJson(sums: UsageSums) {
  return {
    requests: sums.requests,
    failed: sums.failed,
    refused: sums.refused,
    input_tokens: sums.inputTokens,
    cached_tokens: sums.cachedTokens,
    cache_write_tokens: sums.cacheWriteTokens,
    output_tokens: sums.outputTokens,
    reasoning_tokens: sums.reasoningTokens,
    cost: usd(sums.costNanodollars),
    estimated: sums.estimated,
  }
}

/** `2026-11-15`, from the first moment of that day. */
export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** What a request's own key may see of it. */
export function requestJson(row: UsageRow) {
  return {
    endpoint: row.endpoint,
    model: row.modelAsked,
    target: targetOf(row),
    status: row.status,
    code: row.errorCode,
    created_at: iso(row.at),
    input_tokens: row.inputTokens,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens,
    output_tokens: row.outputTokens,
    reasoning_tokens: row.reasoningTokens,
    cost: usd(row.costNanodollars),
    estimated: row.estimated,
    latency_ms: row.latencyMs,
    first_token_ms: row.firstTokenMs,
  }
}

/** The provider and the model that answered; null when none did. */
export function targetOf({ provider, modelServed }: UsageRow): string | null {
  const isServed = provider !== null && modelServed !== null
  return isServed ? targetName(provider, modelServed) : null
}
