// What was used: reports from the rollups, and single rows. Reports never read usage rows, so they stay fast however
// many there are.
import type { Selectable } from 'kysely'

import type { Nanodollars } from '../core/money.ts'
import type { Store } from '../store/open.ts'
import type { Tables } from '../store/tables.ts'
import type { UsageRow } from './books.ts'
import { toUsageRow } from './rows.ts'

export type UsageQuestion = {
  readonly keyId?: string
  /** Whole hours: a moment inside an hour counts the hour. */
  readonly since: number
  readonly until: number
  /** What rows are grouped by; none = by key, model and day. */
  readonly by?: 'key' | 'model' | 'day'
}

/** Sums; a member that rows were not grouped by is null. */
export type UsageSums = {
  readonly keyId: string | null
  readonly model: string | null
  /** The first moment of the day (UTC). */
  readonly day: number | null
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

export async function usageReport(store: Store, question: UsageQuestion): Promise<UsageReport> {
  const groups = new Map<string, Sums>()
  const total = emptySums({ keyId: null, model: null, day: null })
  for (const stretch of stretches(question)) {
    for (const row of await readRollups(store, stretch, question)) {
      const group = groupOf(row, question.by)
      const name = JSON.stringify(group)
      const sums = groups.get(name) ?? emptySums(group)
      groups.set(name, sums)
      add(sums, row)
      add(total, row)
    }
  }
  return { rows: [...groups.values()].toSorted(byDayKeyModel), total }
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

/** Rows from the newest on; `before` = the request id that the last page ended with. */
export async function listUsage(
  store: Store,
  page: { readonly keyId?: string; readonly before?: string; readonly limit: number },
): Promise<readonly UsageRow[]> {
  const { keyId, before } = page
  const rows = await store.db
    .selectFrom('usage')
    .selectAll()
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId ?? ''))
    .$if(before !== undefined, (query) => query.where('request_id', '<', before ?? ''))
    .orderBy('request_id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(toUsageRow)
}

type Sums = { -readonly [Name in keyof UsageSums]: UsageSums[Name] }
type Group = Pick<UsageSums, 'keyId' | 'model' | 'day'>
type Rollup = Selectable<Tables['rollups']>
type Stretch = { readonly span: 'hour' | 'day'; readonly from: number; readonly to: number }

/** Whole days from their own sums, the hours before and after them from theirs. */
function stretches({ since, until }: UsageQuestion): readonly Stretch[] {
  const from = Math.floor(since / HOUR_MS) * HOUR_MS
  const to = Math.ceil(until / HOUR_MS) * HOUR_MS
  const firstDay = Math.ceil(from / DAY_MS) * DAY_MS
  const lastDay = Math.floor(to / DAY_MS) * DAY_MS
  if (firstDay >= lastDay) return [{ span: 'hour', from, to }]
  const all: readonly Stretch[] = [
    { span: 'hour', from, to: firstDay },
    { span: 'day', from: firstDay, to: lastDay },
    { span: 'hour', from: lastDay, to },
  ]
  return all.filter((stretch) => stretch.from < stretch.to)
}

async function readRollups(
  store: Store,
  { span, from, to }: Stretch,
  { keyId }: UsageQuestion,
): Promise<readonly Rollup[]> {
  const rollups = store.db.selectFrom('rollups').selectAll().where('span', '=', span)
  if (keyId === undefined) {
    return rollups.where('starts_at', '>=', from).where('starts_at', '<', to).execute()
  }
  // One look-up per hour or day instead of reading past the rows of all other keys.
  const stepMs = span === 'hour' ? HOUR_MS : DAY_MS
  const rows: Rollup[] = []
  for (let start = from; start < to; start += stepMs * LOOKUPS_MAX) {
    const end = Math.min(to, start + stepMs * LOOKUPS_MAX)
    const moments = Array.from(
      { length: (end - start) / stepMs },
      (_, step) => start + step * stepMs,
    )
    rows.push(
      ...(await rollups.where('starts_at', 'in', moments).where('key_id', '=', keyId).execute()),
    )
  }
  return rows
}

function groupOf(row: Rollup, by: UsageQuestion['by']): Group {
  const has = (what: 'key' | 'model' | 'day'): boolean => by === undefined || by === what
  return {
    keyId: has('key') ? row.key_id : null,
    model: has('model') ? row.model : null,
    day: has('day') ? Math.floor(row.starts_at / DAY_MS) * DAY_MS : null,
  }
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

/** A refused request is a request, and an error; it never had a row. */
function add(sums: Sums, row: Rollup): void {
  sums.requests += row.requests + row.refused
  sums.errors += row.errors + row.refused
  sums.inputTokens += row.input_tokens
  sums.cachedTokens += row.cached_tokens
  sums.cacheWriteTokens += row.cache_write_tokens
  sums.outputTokens += row.output_tokens
  sums.reasoningTokens += row.reasoning_tokens
  sums.costNanodollars += row.cost_nanodollars
  sums.estimated += row.estimated
}

function byDayKeyModel(a: UsageSums, b: UsageSums): number {
  return (
    (a.day ?? 0) - (b.day ?? 0) ||
    compare(a.keyId ?? '', b.keyId ?? '') ||
    compare(a.model ?? '', b.model ?? '')
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
