// Searches the list of keys: filtered and sorted by the database, a page at a time, however many there are. Reads no
// usage.
import { sql, type RawBuilder } from 'kysely'

import {
  conditionsOf,
  expiresSoon,
  frameSpentAt,
  isHigh,
  limitAt,
  rowsOf,
  spentAndHeldAt,
  spentAt,
  type Condition,
  type KeyFilter,
  type Source,
} from './key-filter.ts'
import { withRoom } from './room.ts'
import type { Store } from './store.ts'

export type KeySort =
  | 'name'
  | 'state'
  | 'percent'
  | 'spent'
  | 'share'
  | 'models'
  | 'last_used_at'
  | 'expires_at'
  | 'owner'
  | 'created_at'

export type Slice = { readonly limit: number; readonly offset: number }

type KeySearch = Slice & {
  readonly filter: KeyFilter
  readonly sort: KeySort
  readonly order: 'asc' | 'desc'
  /** How many keys match, if known: then the last pages can be read from the end. */
  readonly total?: number | undefined
}

/** The ids of one page, in order. */
export async function searchKeys(store: Store, search: KeySearch): Promise<readonly string[]> {
  const now = store.clock.now()
  const conditions = conditionsOf(search.filter, now)
  const sort = sortOf(search.sort, now)
  if (!sort.isOptional) {
    const fromEnd = readFromEnd(search)
    const ids = await pageOf(store, { ...search, ...fromEnd, conditions, sort })
    return fromEnd === undefined ? ids : ids.toReversed()
  }
  // Keys without such a value come last in either order. Queried separately, both parts can come from an index.
  const there = [...conditions, { [sort.source]: sql`(${sort.by}) IS NOT NULL` }]
  const found = await pageOf(store, { ...search, conditions: there, sort })
  if (found.length === search.limit) return found
  const isLast = found.length > 0 || search.offset === 0
  const thereCount = isLast
    ? search.offset + found.length
    : await countRows(store, rowsOf(there, []).from)
  const rest = await pageOf(store, {
    order: search.order,
    sort,
    conditions: [...conditions, { [sort.source]: sql`(${sort.by}) IS NULL` }],
    limit: search.limit - found.length,
    offset: Math.max(0, search.offset - thereCount),
  })
  return [...found, ...rest]
}

/** The same page in the opposite order, when fewer rows come before it there. */
function readFromEnd({ order, limit, offset, total }: KeySearch) {
  if (total === undefined || total - offset - limit >= offset) return undefined
  const end = Math.max(0, total - offset)
  const opposite = order === 'asc' ? ('desc' as const) : ('asc' as const)
  return { order: opposite, limit: Math.min(limit, end), offset: Math.max(0, end - limit) }
}

/** Up to this many keys can be sorted by anything. */
export const FEW_MAX = 1_000

/** The ids of the keys that match, in no order; undefined = there are more than FEW_MAX. */
export async function fewMatching(
  store: Store,
  filter: KeyFilter,
): Promise<readonly string[] | undefined> {
  const { id, from } = unordered(store, filter)
  const { rows } = await sql<{ readonly id: string }>`
    SELECT ${id} AS id ${from} LIMIT ${FEW_MAX + 1}`.execute(store.db)
  return rows.length > FEW_MAX ? undefined : rows.map((row) => row.id)
}

/** The ids of all keys that match, in order of creation. */
export async function matchingIds(store: Store, filter: KeyFilter): Promise<readonly string[]> {
  const { id, from } = unordered(store, filter)
  return manyIds(store, sql`SELECT ${id} AS id ${from} ORDER BY ${id}`)
}

export async function countMatching(store: Store, filter: KeyFilter): Promise<number> {
  return countRows(store, unordered(store, filter).from)
}

/** Reads the ids of a query as one text: as rows, a hundred thousand take longer to transfer than to find. */
export async function manyIds(
  store: Store,
  query: RawBuilder<unknown>,
): Promise<readonly string[]> {
  const asText = sql<{ readonly ids: string | null }>`
    SELECT string_agg(id, ' ') AS ids FROM (${query}) AS found`
  const { rows } = await withRoom(store, asText)
  const ids = rows[0]?.ids ?? ''
  return ids === '' ? [] : ids.split(' ')
}

/** With no order to keep, a search by model reads the allowlists first: an index finds the keys of a model there. */
function unordered(store: Store, filter: KeyFilter) {
  const conditions = conditionsOf(filter, store.clock.now())
  return rowsOf(conditions, filter.model === undefined ? [] : ['key_models'])
}

async function countRows(store: Store, from: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`SELECT count(*) AS count ${from}`.execute(
    store.db,
  )
  return rows[0]?.count ?? 0
}

type Sort = {
  readonly source: Source
  /** Absent: by the id, which sorts by time. */
  readonly by?: RawBuilder<unknown>
  /** Whether a key may have no such value. */
  readonly isOptional?: boolean
}

type Page = Slice & {
  readonly conditions: readonly Condition[]
  readonly sort: Sort
  readonly order: 'asc' | 'desc'
}

async function pageOf(store: Store, page: Page): Promise<readonly string[]> {
  const { id, from } = rowsOf(page.conditions, [page.sort.source])
  const order = page.order === 'asc' ? sql`ASC` : sql`DESC`
  // Ties are sorted in the same direction, so that an index can be read from either end.
  const first = page.sort.by === undefined ? sql`` : sql`${page.sort.by} ${order}, `
  const { rows } = await sql<{ readonly id: string }>`
    SELECT ${id} AS id ${from}
    ORDER BY ${first}${id} ${order}
    LIMIT ${page.limit} OFFSET ${page.offset}`.execute(store.db)
  return rows.map((row) => row.id)
}

function sortOf(sort: KeySort, now: number): Sort {
  switch (sort) {
    case 'name':
      return { by: sql`keys.name`, source: 'keys' }
    case 'created_at':
      return { source: 'keys' }
    case 'models':
      return { by: sql`keys.model_count`, source: 'keys' }
    case 'owner':
      return { by: sql`keys.owner`, source: 'keys', isOptional: true }
    case 'last_used_at':
      return { by: sql`keys.last_used_at`, source: 'keys', isOptional: true }
    case 'expires_at':
      return { by: sql`accounts.expires_at`, source: 'accounts', isOptional: true }
    case 'spent':
      return { by: spentAt(now), source: 'accounts' }
    case 'share':
      return { by: frameSpentAt(now), source: 'accounts' }
    case 'percent': {
      const percent = sql`CAST(${spentAndHeldAt(now)} AS DOUBLE PRECISION) / nullif(${limitAt(now)}, 0)`
      return { by: percent, source: 'accounts', isOptional: true }
    }
    case 'state':
      return { by: statePriority(now), source: 'accounts' }
  }
}

/** A test key spends nothing, so no budget stops it. */
const isTest = sql`EXISTS (SELECT 1 FROM keys WHERE keys.id = accounts.id AND keys.mode = 'test')`

/** In the order of KEY_STATES, as far as it depends on the key alone. */
function statePriority(now: number): RawBuilder<number> {
  return sql`CASE WHEN accounts.status = 'revoked' THEN 0
    WHEN accounts.expires_at <= ${now} THEN 1
    WHEN accounts.status = 'paused' THEN 2
    WHEN ${spentAndHeldAt(now)} >= ${limitAt(now)} AND NOT ${isTest} THEN 3
    WHEN ${expiresSoon(now)} THEN 4
    WHEN ${isHigh(now)} THEN 5
    ELSE 6 END`
}
