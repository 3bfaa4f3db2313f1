// Searches the list of keys: filtered and sorted by the database, a page at a time, however many there are. A filter
// becomes conditions, each with a form for every table that can decide it, so that a query reads as few tables as
// possible, and no usage.
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { firstIdAt } from '../../core/ids.ts'
import { KEY_ID_SHAPE, type KeyMode } from '../../core/limits.ts'
import { caseFold } from '../../core/text.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import { isReached, type Store, withWorkMemory } from '../database/store.ts'
import { FRAME_ID } from '../database/tables.ts'
import type { KeyStatus } from './keys.ts'

export type KeySort = keyof typeof SORTS

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
  const conditions = conditionsOf(store, search.filter)
  const sort: Sort = SORTS[search.sort](now)
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

/** As a query, for a condition of another. */
export function idsMatching(store: Store, filter: KeyFilter): RawBuilder<unknown> {
  const { id, from } = unordered(store, filter)
  return sql`SELECT ${id} ${from}`
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
  const { rows } = await withWorkMemory(store, asText)
  const ids = rows[0]?.ids ?? ''
  return ids === '' ? [] : ids.split(' ')
}

/** With no order to keep, a search by model reads the allowlists first: an index finds the keys of a model there. */
function unordered(store: Store, filter: KeyFilter) {
  const conditions = conditionsOf(store, filter)
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

const SORTS = {
  name: () => ({ by: sql`keys.name`, source: 'keys' }),
  created_at: () => ({ source: 'keys' }),
  models: () => ({ by: sql`keys.model_count`, source: 'keys' }),
  owner: () => ({ by: sql`keys.owner`, source: 'keys', isOptional: true }),
  last_used_at: () => ({ by: sql`keys.last_used_at`, source: 'keys', isOptional: true }),
  expires_at: () => ({ by: sql`accounts.expires_at`, source: 'accounts', isOptional: true }),
  spent: (now) => ({ by: spentAt(now), source: 'accounts' }),
  share: (now) => ({ by: frameSpentAt(now), source: 'accounts' }),
  percent: (now) => ({
    by: sql`CAST(${spentAndHeldAt(now)} AS DOUBLE PRECISION) / nullif(${limitAt(now)}, 0)`,
    source: 'accounts',
    isOptional: true,
  }),
  state: (now) => ({ by: statePriority(now), source: 'accounts' }),
} satisfies Readonly<Record<string, (now: number) => Sort>>

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

/** A key that was not used for this long may have been forgotten. */
const UNUSED_MS = 90 * DAY_MS
const USED_LATELY_MS = 30 * DAY_MS
export const EXPIRES_SOON_MS = 7 * DAY_MS
/** The part of a budget at which a key needs attention. */
export const HIGH_PERCENT = 80

export type KeyConcern = keyof typeof CONCERNS

export type KeyFilter = {
  readonly search?: string | undefined
  /** The masked forms of a secret that the search text may be. */
  readonly masks?: readonly string[] | undefined
  /** `current` = all but revoked ones. */
  readonly status?: 'current' | KeyStatus | undefined
  readonly concern?: KeyConcern | undefined
  readonly used?: 'last_30_days' | 'not_last_30_days' | undefined
  /** The id of a group; null = outside groups. */
  readonly groupId?: Wanted | undefined
  /** Null = without one. */
  readonly owner?: Wanted | undefined
  /** The id of a person. */
  readonly ownerPersonId?: string | undefined
  readonly environment?: Wanted | undefined
  readonly tag?: Wanted | undefined
  readonly mode?: KeyMode | undefined
  readonly model?: string | undefined
  /** Only these. */
  readonly ids?: readonly string[] | undefined
}

/** One value, or several of which any will do. */
type Wanted = string | null | readonly (string | null)[]

/** The labels that keys have, each in one spelling. */
type KeyLabels = Readonly<Record<'owners' | 'environments' | 'tags', string[]>>

/** Of the keys within reach that are not revoked, in order. */
export async function keyLabels(store: Store): Promise<KeyLabels> {
  const [owners, environments, lists] = await Promise.all([
    distinct(store, 'owner', [CURRENT]),
    distinct(store, 'environment', [CURRENT]),
    distinct(store, 'tags', [CURRENT]),
  ])
  const tags = lists.flatMap((list) => JSON.parse(list) as string[])
  return {
    owners: inOneSpelling(owners),
    environments: inOneSpelling(environments),
    tags: inOneSpelling(tags.toSorted()),
  }
}

/** The filter with every spelling of what it names: people write owners and environments by hand. */
export async function inAnySpelling(store: Store, filter: KeyFilter): Promise<KeyFilter> {
  const { owner, environment } = filter
  return {
    ...filter,
    owner: await spellings(store, 'owner', owner),
    environment: await spellings(store, 'environment', environment),
  }
}

async function spellings(
  store: Store,
  column: 'owner' | 'environment',
  wanted: Wanted | undefined,
): Promise<Wanted | undefined> {
  if (wanted === undefined || wanted === null) return wanted
  const folded = [wanted].flat().map((value) => value && caseFold(value))
  const known = await distinct(store, column)
  const found = known.filter((value) => folded.includes(caseFold(value)))
  return folded.includes(null) ? [...found, null] : found
}

function inOneSpelling(labels: readonly string[]): string[] {
  return [...Map.groupBy(labels, caseFold).values()].flatMap(([first]) => first ?? [])
}

async function distinct(
  store: Store,
  column: 'owner' | 'environment' | 'tags',
  conditions: readonly Condition[] = [],
): Promise<string[]> {
  const value = sql.ref<string>(`keys.${column}`)
  const isThere = { keys: sql<SqlBool>`${value} IS NOT NULL` }
  const { from } = rowsOf([...withinReach(store), ...conditions, isThere], ['keys'])
  const { rows } = await sql<{ readonly value: string }>`
    SELECT DISTINCT ${value} AS value ${from}`.execute(store.db)
  return rows.map((row) => row.value).toSorted()
}

/** The tables that hold something about a key. */
type Source = 'keys' | 'accounts' | 'key_models'

const KEY_ID: Readonly<Record<Source, RawBuilder<string>>> = {
  keys: sql`keys.id`,
  accounts: sql`accounts.id`,
  key_models: sql`key_models.key_id`,
}

type Test = RawBuilder<SqlBool>
/** What must be true, as a test on each table that can decide it. */
type Condition = Readonly<Partial<Record<Source, Test>>>

function conditionsOf(store: Store, filter: KeyFilter): readonly Condition[] {
  const now = store.clock.now()
  const { search, status, concern, used: lastUse, groupId } = filter
  const { owner, ownerPersonId, environment, mode, tag, model } = filter
  const conditions: Condition[] = withinReach(store)
  if (search !== undefined && search !== '') conditions.push(isFound(search, filter.masks ?? []))
  if (status !== undefined) conditions.push(hasStatus(status, now))
  if (concern !== undefined) conditions.push(CURRENT, CONCERNS[concern](now))
  if (lastUse !== undefined) conditions.push({ keys: wasUsed(lastUse, now) })
  if (groupId !== undefined) conditions.push(isIn(groupId))
  if (owner !== undefined) conditions.push({ keys: isOf(sql`keys.owner`, owner) })
  if (ownerPersonId !== undefined) {
    conditions.push({ keys: sql`keys.owner_person_id = ${ownerPersonId}` })
  }
  if (environment !== undefined) {
    conditions.push({ keys: isOf(sql`keys.environment`, environment) })
  }
  if (mode !== undefined) conditions.push({ keys: sql`keys.mode = ${mode}` })
  if (tag !== undefined) conditions.push({ keys: isTagged(tag) })
  if (model !== undefined) conditions.push(mayCall(model))
  const { ids } = filter
  if (ids !== undefined) conditions.push(byId((id) => sql`${id} IN (${sql.join([...ids])})`))
  return conditions
}

function withinReach({ scope }: Store): Condition[] {
  const ofKey = { group: sql.ref('keys.group_id'), key: sql.ref('keys.id') }
  const ofAccount = { group: sql.ref('accounts.group_id'), key: sql.ref('accounts.id') }
  const [keys, accounts] = [isReached(scope, ofKey), isReached(scope, ofAccount)]
  return keys === undefined || accounts === undefined ? [] : [{ keys, accounts }]
}

/** Reads rows that meet all conditions from `sources`, and from other tables only where no source can decide. */
function rowsOf(
  conditions: readonly Condition[],
  sources: readonly Source[],
): { readonly id: RawBuilder<string>; readonly from: RawBuilder<unknown> } {
  const read = new Set(sources)
  // Conditions that only one table can decide come first: that table may decide others, too.
  const byTellers = conditions.map(tellersOf).toSorted((a, b) => a.length - b.length)
  for (const tellers of byTellers) {
    const [teller] = tellers
    if (teller !== undefined && !tellers.some((one) => read.has(one))) read.add(teller)
  }
  const [first = 'keys', ...others] = read
  const tests = others.map((other) => sql<SqlBool>`${KEY_ID[other]} = ${KEY_ID[first]}`)
  if (first === 'accounts') tests.push(IS_KEY)
  for (const condition of conditions) {
    const teller = tellersOf(condition).find((source) => read.has(source))
    if (teller !== undefined) tests.push(sql`(${condition[teller]})`)
  }
  // CROSS JOIN makes SQLite read the tables in this order: in the order of an index it can stop after a page.
  const tables = sql.join(
    [first, ...others].map((source) => sql.table(source)),
    sql` CROSS JOIN `,
  )
  const where = tests.length === 0 ? sql`` : sql` WHERE ${sql.join(tests, sql` AND `)}`
  return { id: KEY_ID[first], from: sql`FROM ${tables}${where}` }
}

const SOURCES: readonly Source[] = ['keys', 'accounts', 'key_models']

function tellersOf(condition: Condition): readonly Source[] {
  return SOURCES.filter((source) => condition[source] !== undefined)
}

/** Searches the name, the owner, the environment, the tags, the id and the masked secrets. */
function isFound(search: string, masks: readonly string[]): Condition {
  const text = search.trim()
  // No name looks like an id.
  if (KEY_ID_SHAPE.test(text)) return byId((id) => sql`${id} = ${text}`)
  const found = [contains(sql`keys.folded_text`, text)]
  if (masks.length > 0) {
    found.push(
      sql`keys.id IN (SELECT key_id FROM secrets WHERE masked IN (${sql.join([...masks])}))`,
    )
  }
  return { keys: sql`${sql.join(found, sql` OR `)}` }
}

function contains(folded: RawBuilder<unknown>, text: string): Test {
  const pattern = `%${caseFold(text).replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql`${folded} LIKE ${pattern} ESCAPE '\\'`
}

function byId(test: (id: RawBuilder<string>) => Test): Condition {
  return {
    keys: test(KEY_ID.keys),
    accounts: test(KEY_ID.accounts),
    key_models: test(KEY_ID.key_models),
  }
}

function mayCall(model: string): Condition {
  // A ceiling is a JSON list of texts: the quotes make sure that a whole name matches.
  const name = JSON.stringify(model)
  const isBelowCeiling = (id: RawBuilder<string>): Test =>
    sql`${id} NOT IN (SELECT within.id FROM groups JOIN keys AS within ON within.group_id = groups.id
      WHERE groups.models IS NOT NULL AND replace(groups.models, ${name}, '') = groups.models)`
  const isAllowed = (id: RawBuilder<string>): Test =>
    sql`EXISTS (SELECT 1 FROM key_models AS allowed WHERE allowed.key_id = ${id} AND allowed.model = ${model})
      AND ${isBelowCeiling(id)}`
  return {
    ...byId(isAllowed),
    key_models: sql`key_models.model = ${model} AND ${isBelowCeiling(KEY_ID.key_models)}`,
  }
}

function isIn(groupId: Wanted): Condition {
  return {
    keys: isOf(sql`keys.group_id`, groupId),
    accounts: isOf(sql`accounts.group_id`, groupId),
  }
}

function isOf(column: RawBuilder<unknown>, wanted: Wanted): Test {
  return anyOf(wanted, (value) =>
    value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`,
  )
}

function anyOf(wanted: Wanted, test: (value: string | null) => Test): Test {
  const tests = [wanted].flat().map(test)
  return tests.length === 0 ? sql`1 = 0` : sql`(${sql.join(tests, sql` OR `)})`
}

/** Tags are a JSON list of texts: the quotes make sure that a whole tag matches. */
function isTagged(wanted: Wanted): Test {
  const tags = sql`keys.folded_tags`
  return anyOf(wanted, (tag) =>
    tag === null ? sql`${tags} = '[]'` : contains(tags, JSON.stringify(tag)),
  )
}

/** Neither a group nor the frame. Not as a range of ids, which the planner would rather read than an index of states. */
export const IS_KEY: Test = sql`substr(accounts.id, 1, 4) = 'key_'`

/** Not revoked. */
const CURRENT: Condition = {
  keys: sql`keys.revoked_at IS NULL`,
  accounts: sql`accounts.status <> 'revoked'`,
}

function hasStatus(status: NonNullable<KeyFilter['status']>, now: number): Condition {
  switch (status) {
    case 'current':
      return CURRENT
    case 'revoked':
      return {
        keys: sql`keys.revoked_at IS NOT NULL`,
        accounts: sql`accounts.status = 'revoked'`,
      }
    case 'expired':
      return { accounts: sql`accounts.status <> 'revoked' AND accounts.expires_at <= ${now}` }
    case 'paused':
    case 'active':
      return {
        accounts: sql`accounts.status = ${status}
          AND (accounts.expires_at IS NULL OR accounts.expires_at > ${now})`,
      }
  }
}

function wasUsed(lastUse: NonNullable<KeyFilter['used']>, now: number): Test {
  const since = now - USED_LATELY_MS
  return lastUse === 'last_30_days'
    ? sql`keys.last_used_at > ${since}`
    : sql`keys.last_used_at IS NULL OR keys.last_used_at <= ${since}`
}

/** Zero where the period is over: the next request opens a new one. */
function ofPeriod(now: number, amount: RawBuilder<bigint>): RawBuilder<bigint> {
  return sql`(CASE WHEN accounts.period_ends_at <= ${now} THEN 0 ELSE ${amount} END)`
}

const spentAt = (now: number): RawBuilder<bigint> => ofPeriod(now, sql`accounts.spent_nanodollars`)
const spentAndHeldAt = (now: number): RawBuilder<bigint> =>
  ofPeriod(now, sql`accounts.spent_nanodollars + accounts.held_nanodollars`)
/** As `partOfFrame` in frame.ts. */
const frameSpentAt = (now: number): RawBuilder<bigint> =>
  sql`(CASE WHEN accounts.frame_period = (SELECT frame.period_seq FROM accounts AS frame
    WHERE frame.id = ${FRAME_ID} AND (frame.period_ends_at IS NULL OR frame.period_ends_at > ${now}))
    THEN accounts.frame_spent_nanodollars ELSE 0 END)`
const limitAt = (now: number): RawBuilder<bigint> =>
  sql`(accounts.limit_nanodollars + ${ofPeriod(now, sql`accounts.top_up_nanodollars`)})`
export const noOwnLimit: Test = sql`accounts.limit_nanodollars IS NULL`
export const expiresSoon = (now: number): Test =>
  sql`accounts.expires_at > ${now} AND accounts.expires_at <= ${now + EXPIRES_SOON_MS}`
export const isHigh = (now: number): Test =>
  sql`accounts.limit_nanodollars IS NOT NULL AND ${spentAndHeldAt(now)} >= ${highOf(limitAt(now))}`

/** Rounded up. Hundreds and remainder separately: with many top-ups a limit may be too large to be multiplied. */
function highOf(amount: RawBuilder<bigint>): RawBuilder<bigint> {
  // Not as a parameter: SQLite would take it for a float.
  const percent = sql.lit(HIGH_PERCENT)
  return sql`(${amount} / 100 * ${percent} + (${amount} % 100 * ${percent} + 99) / 100)`
}

/** For a key that was never used, the time counts from its creation. */
export const isUnused = (now: number): Test =>
  sql`keys.last_used_at <= ${now - UNUSED_MS}
    OR (keys.last_used_at IS NULL AND keys.created_at <= ${now - UNUSED_MS})`

/** Counts find the keys, rows the moment: only the first of an hour have one, so less than that would lose keys. */
const REFUSED_MS = HOUR_MS

export const isRefused = (now: number): Test =>
  sql`keys.id IN (SELECT key_id FROM refusal_counts WHERE starts_at > ${now - REFUSED_MS - HOUR_MS})
    AND EXISTS (SELECT 1 FROM refusals WHERE refusals.key_id = keys.id
      AND refusals.request_id >= ${firstIdAt('req', now - REFUSED_MS)})`

/** Of those keys among these that are: the code of the last refusal. */
export async function lastRefusals(
  { db, clock }: Store,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keyIds.length === 0) return new Map()
  const last = db
    .selectFrom('refusals')
    .select(({ fn }) => fn.max('request_id').as('id'))
    .where('key_id', 'in', keyIds)
    .where('request_id', '>=', firstIdAt('req', clock.now() - REFUSED_MS))
    .groupBy('key_id')
  const rows = await db
    .selectFrom('refusals')
    .select(['key_id', 'code'])
    .where('request_id', 'in', last)
    .execute()
  return new Map(rows.map(({ key_id, code }) => [key_id, code]))
}

const CONCERNS = {
  refusing_now: (now) => ({ keys: isRefused(now) }),
  no_own_limit: () => ({ accounts: noOwnLimit }),
  never_expires: () => ({ accounts: sql`accounts.expires_at IS NULL` }),
  unused_90_days: (now) => ({ keys: isUnused(now) }),
  expiring_7_days: (now) => ({ accounts: expiresSoon(now) }),
  over_80_percent: (now) => ({ accounts: isHigh(now) }),
} satisfies Readonly<Record<string, (now: number) => Condition>>
