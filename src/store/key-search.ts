// The list of keys as people look through it: filtered, sorted and counted by the database, a page at a time, however many
// there are. Nothing here reads what was used.
import { sql, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely'

import type { Store } from './open.ts'
import { FRAME_ID, type Tables } from './tables.ts'

const DAY_MS = 86_400_000
/** A key that was not used for so long may be forgotten. */
const UNUSED_MS = 90 * DAY_MS
const USED_LATELY_MS = 30 * DAY_MS
export const EXPIRES_SOON_MS = 7 * DAY_MS
/** The part of a budget from which on it is worth a look. */
export const HIGH_PERCENT = 80

export type KeyConcern =
  | 'no_own_limit'
  | 'never_expires'
  | 'unused_90_days'
  | 'expiring_7_days'
  | 'over_80_percent'

export type KeyFilter = {
  readonly search?: string | undefined
  /** How a secret would be shown that the search may mean. */
  readonly masks?: readonly string[] | undefined
  /** `current` = all but revoked ones. */
  readonly status?: 'current' | 'active' | 'paused' | 'expired' | 'revoked' | undefined
  readonly concern?: KeyConcern | undefined
  readonly used?: 'last_30_days' | 'not_last_30_days' | undefined
  readonly owner?: string | undefined
  readonly environment?: string | undefined
  readonly mode?: 'live' | 'test' | undefined
  readonly tag?: string | undefined
  readonly model?: string | undefined
}

export type KeySort =
  | 'name'
  | 'state'
  | 'percent'
  | 'spent'
  | 'share'
  | 'last_used_at'
  | 'expires_at'
  | 'owner'
  | 'created_at'

export type KeySearch = {
  readonly filter: KeyFilter
  readonly sort: KeySort
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
}

/** The ids of one page, in order. */
export async function searchKeys(store: Store, search: KeySearch): Promise<readonly string[]> {
  const { by, isAlwaysThere = false } = sortOf(search.sort, store.clock.now())
  const direction = search.order === 'asc' ? sql`ASC` : sql`DESC`
  // What has no such value is of no interest in either order.
  const order = isAlwaysThere ? direction : sql`${direction} NULLS LAST`
  const rows = await matching(store, search.filter)
    .select('keys.id')
    .orderBy(sql`${by} ${order}`)
    .orderBy('keys.id')
    .limit(search.limit)
    .offset(search.offset)
    .execute()
  return rows.map(({ id }) => id)
}

/** All of them, or those among these, for an order that no column has. */
export async function matchingIds(
  store: Store,
  filter: KeyFilter,
  among?: readonly string[],
): Promise<readonly string[]> {
  let query = matching(store, filter).select('keys.id')
  if (among !== undefined) query = query.where('keys.id', 'in', among)
  const rows = await query.orderBy('keys.id').execute()
  return rows.map(({ id }) => id)
}

/** The keys that may call any model, those with the longest allowlist first. */
export async function keysByModelCount(store: Store): Promise<readonly string[]> {
  const rows = await store.db
    .selectFrom('key_models')
    .select('key_id')
    .groupBy('key_id')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('key_id')
    .execute()
  return rows.map(({ key_id }) => key_id)
}

export async function countMatching(store: Store, filter: KeyFilter): Promise<number> {
  const { count } = await matching(store, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export type KeyCounts = Readonly<
  Record<'all' | 'active' | 'paused' | 'expired' | 'revoked' | KeyConcern, number>
>

/** Of all keys by status, and of those not revoked by what somebody should look at. Reads each table once, in its order. */
export async function countKeys(store: Store): Promise<KeyCounts> {
  const now = store.clock.now()
  const count = (condition: RawBuilder<SqlBool>, name: string) =>
    sql<number>`count(CASE WHEN ${condition} THEN 1 END)`.as(name)
  const current = sql<SqlBool>`accounts.status <> 'revoked'`
  const expired = sql<SqlBool>`accounts.expires_at <= ${now}`
  const account = await store.db
    .selectFrom('accounts')
    .select([
      sql<number>`count(*)`.as('all'),
      count(sql`accounts.status = 'revoked'`, 'revoked'),
      count(sql`${current} AND ${expired}`, 'expired'),
      count(
        sql`accounts.status = 'paused' AND (accounts.expires_at IS NULL OR NOT ${expired})`,
        'paused',
      ),
      count(sql`${current} AND ${noOwnLimit}`, 'no_own_limit'),
      count(sql`${current} AND ${neverExpires}`, 'never_expires'),
      count(sql`${current} AND ${expiresSoon(now)}`, 'expiring_7_days'),
      count(sql`${current} AND ${isHigh(now)}`, 'over_80_percent'),
    ])
    .where('id', '<>', FRAME_ID)
    .executeTakeFirstOrThrow()
  const { unused_90_days } = await store.db
    .selectFrom('keys')
    .select(count(sql`keys.revoked_at IS NULL AND ${isUnused(now)}`, 'unused_90_days'))
    .$castTo<{ unused_90_days: number }>()
    .executeTakeFirstOrThrow()
  const counts = account as Omit<KeyCounts, 'active' | 'unused_90_days'>
  const active = counts.all - counts.revoked - counts.expired - counts.paused
  return { ...counts, active, unused_90_days }
}

type Place = ExpressionBuilder<Tables, 'keys' | 'accounts'>

function matching(store: Store, filter: KeyFilter) {
  const now = store.clock.now()
  const { search, status, concern, used: lastUse, owner, environment, mode, tag, model } = filter
  // Written so, SQLite begins with the keys: in the order of an index it can stop after a page.
  let query = store.db
    .selectFrom('keys')
    .crossJoin('accounts')
    .whereRef('accounts.id', '=', 'keys.id')
  if (search !== undefined && search !== '') {
    query = query.where((at) => isFound(at, search, filter.masks ?? []))
  }
  if (status !== undefined) query = query.where(hasStatus(status, now))
  if (concern !== undefined) {
    query = query.where('keys.revoked_at', 'is', null).where(CONCERNS[concern](now))
  }
  if (lastUse !== undefined) query = query.where(wasUsed(lastUse, now))
  if (owner !== undefined) query = query.where('keys.owner', '=', owner)
  if (environment !== undefined) query = query.where('keys.environment', '=', environment)
  if (mode !== undefined) query = query.where('keys.mode', '=', mode)
  // Tags are a JSON list of texts, so a whole text stands between quotes.
  if (tag !== undefined) query = query.where(contains('keys.tags', JSON.stringify(tag)))
  if (model !== undefined) {
    query = query.where('keys.id', 'in', (at) =>
      at.selectFrom('key_models').select('key_id').where('model', '=', model),
    )
  }
  return query
}

/** In the name, the owner, the id, or as a secret is shown. */
function isFound(at: Place, search: string, masks: readonly string[]) {
  const text = search.trim()
  const found = [
    contains('keys.name', text),
    contains('keys.owner', text),
    at('keys.id', '=', text),
  ]
  if (masks.length === 0) return at.or(found)
  const keyIds = at.selectFrom('secrets').select('key_id').where('masked', 'in', masks)
  return at.or([...found, at('keys.id', 'in', keyIds)])
}

function contains(column: 'keys.name' | 'keys.owner' | 'keys.tags', text: string) {
  const pattern = `%${escaped(text.toLowerCase())}%`
  return sql<SqlBool>`lower(${sql.ref(column)}) LIKE ${pattern} ESCAPE '\\'`
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}

function hasStatus(status: NonNullable<KeyFilter['status']>, now: number): RawBuilder<SqlBool> {
  const current = sql<SqlBool>`keys.revoked_at IS NULL`
  const expired = sql<SqlBool>`coalesce(accounts.expires_at <= ${now}, ${sql.raw('1=0')})`
  switch (status) {
    case 'current':
      return current
    case 'revoked':
      return sql`keys.revoked_at IS NOT NULL`
    case 'expired':
      return sql`${current} AND ${expired}`
    case 'paused':
    case 'active':
      return sql`accounts.status = ${status} AND NOT ${expired}`
  }
}

function wasUsed(used: NonNullable<KeyFilter['used']>, now: number): RawBuilder<SqlBool> {
  const since = now - USED_LATELY_MS
  return used === 'last_30_days'
    ? sql`keys.last_used_at > ${since}`
    : sql`(keys.last_used_at IS NULL OR keys.last_used_at <= ${since})`
}

/** A period that is over has spent nothing yet: the next request opens a new one. */
function used(now: number): RawBuilder<bigint> {
  return sql`CASE WHEN accounts.period_ends_at <= ${now} THEN 0
    ELSE accounts.spent_nanodollars + accounts.held_nanodollars END`
}

const limit = sql`(accounts.limit_nanodollars + accounts.top_up_nanodollars)`
const noOwnLimit = sql<SqlBool>`accounts.limit_nanodollars IS NULL`
const neverExpires = sql<SqlBool>`accounts.expires_at IS NULL`
const expiresSoon = (now: number) =>
  sql<SqlBool>`accounts.expires_at > ${now} AND accounts.expires_at <= ${now + EXPIRES_SOON_MS}`
const isHigh = (now: number) =>
  sql<SqlBool>`accounts.limit_nanodollars IS NOT NULL AND (${used(now)}) >= ${limit} / 100 * ${HIGH_PERCENT}`
const isUnused = (now: number) =>
  sql<SqlBool>`coalesce(keys.last_used_at, keys.created_at) <= ${now - UNUSED_MS}`

const CONCERNS: Readonly<Record<KeyConcern, (now: number) => RawBuilder<SqlBool>>> = {
  no_own_limit: () => noOwnLimit,
  never_expires: () => neverExpires,
  unused_90_days: isUnused,
  expiring_7_days: expiresSoon,
  over_80_percent: isHigh,
}

type Sort = { readonly by: RawBuilder<unknown>; readonly isAlwaysThere?: boolean }

function sortOf(sort: KeySort, now: number): Sort {
  switch (sort) {
    case 'name':
      return { by: sql`keys.name`, isAlwaysThere: true }
    case 'created_at':
      // Ids sort by time.
      return { by: sql`keys.id`, isAlwaysThere: true }
    case 'owner':
      return { by: sql`keys.owner` }
    case 'last_used_at':
      return { by: sql`keys.last_used_at` }
    case 'expires_at':
      return { by: sql`accounts.expires_at` }
    case 'spent':
    case 'share':
      return { by: used(now) }
    case 'percent':
      return { by: sql`CAST(${used(now)} AS DOUBLE PRECISION) / nullif(${limit}, 0)` }
    case 'state':
      return { by: statePriority(now) }
  }
}

/** In the order of KEY_STATES, as far as it depends on the key alone. */
function statePriority(now: number): RawBuilder<number> {
  return sql`CASE WHEN keys.revoked_at IS NOT NULL THEN 0
    WHEN accounts.expires_at <= ${now} THEN 1
    WHEN accounts.status = 'paused' THEN 2
    WHEN ${used(now)} >= ${limit} THEN 3
    WHEN ${expiresSoon(now)} THEN 4
    WHEN ${isHigh(now)} THEN 5
    ELSE 6 END`
}

/** The first moments of the last days (UTC), today the last of them. */
export function lastDays(now: number, count: number): readonly number[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: count }, (_, index) => today - (count - 1 - index) * DAY_MS)
}
