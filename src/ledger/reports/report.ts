// Reports: usage added up by any of its dimensions, of everything or of what matches some filters. Only rollups are read,
// never usage rows, so a report stays fast however many rows there are. Sums that no single key is asked for come from the
// rollups of groups and of the frame; where keys are told apart and nothing else is, from their sums of whole days. Owner, environment and tags are those that a key has now; the group is the one that a
// request was made in.
import { sql, type RawBuilder } from 'kysely'
import { DIMENSIONS, type Dimension } from '../../core/limits.ts'
import type { Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, HOUR_MS } from '../../core/units.ts'
import { StoreError } from '../../store/database/errors.ts'
import { isReached, type Scope, withWorkMemory } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID, KEYS_AFTER } from '../../store/database/tables.ts'
import { fewMatching, idsMatching, inAnySpelling } from '../../store/keys/search.ts'
import type { RollupSpan } from '../rules/rows.ts'

type Sql = RawBuilder<unknown>

export type UsageQuestion = UsageFilter & {
  /** Whole hours: a moment inside an hour counts the hour. */
  readonly since: number
  readonly until: number
  /** What rows are grouped by. */
  readonly by: readonly Dimension[]
  /** Keeps only the dearest rows when there are more. Without it, a report with too many rows is refused. */
  readonly limit?: number | undefined
}

/** Empty = what has none: keys without an owner, requests outside groups, calls that reached no provider. */
export type UsageFilter = {
  readonly key?: string | undefined
  readonly group?: string | undefined
  readonly owner?: string | undefined
  readonly environment?: string | undefined
  readonly tag?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly endpoint?: string | undefined
}

/** What a report counts, besides the cost; `estimated` = how many of the requests were charged by estimate. */
const COUNTS = [
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

type Cost = { readonly costNanodollars: Nanodollars }

export type UsageSums = Cost & Readonly<Record<(typeof COUNTS)[number], number>>

/**
 * What a row is grouped by, null where it is not: ids of keys and groups, first moments of days (UTC) and hours. Grouped by
 * key, a row also has the group that the key was in, null where that changed.
 */
type Dimensions = Readonly<Record<Exclude<Dimension, 'day' | 'hour'>, string | null>> &
  Readonly<Record<'day' | 'hour', number | null>>

export type UsageLine = Dimensions & UsageSums

type UsageReport = {
  readonly rows: readonly UsageLine[]
  /** Of all rows, including those left out. A key with two tags counts once. */
  readonly total: UsageSums
  /** How many rows were left out, and their sums. */
  readonly leftOut: number
  readonly rest: UsageSums
}

/** Nobody reads more rows, and the process has to hold them all. */
const ROWS_MAX = 200_000

export async function reportUsage(store: Store, question: UsageQuestion): Promise<UsageReport> {
  const asked = await askedOf(store, question)
  if (asked === undefined) return NOTHING_REPORTED
  const { limit = ROWS_MAX } = question
  // Named twice, a column would be ambiguous.
  const by = [...new Set(question.by)]
  const found = await readDearest(store, asked, { by, limit })
  if (question.limit === undefined && found.leftOut > 0) throw tooMany()
  const [total = NOTHING_USED] = (await readRows<UsageLine>(store, asked, { by: [], limit: 1 }))
    .rows
  return {
    rows: found.rows.toSorted(found.leftOut > 0 ? dearestFirst(by) : orderOf(by)),
    total: sumsOf(total),
    leftOut: found.leftOut,
    rest: found.rest ?? restOf(total, found.rows),
  }
}

/** A question about keys and moments that exist. */
type Asked = {
  readonly stretches: readonly Stretch[]
  readonly filter: UsageFilter
  /** The keys that the filters leave, or how to find them where they are many; undefined = all. */
  readonly keys: readonly string[] | Sql | undefined
  /** Before this day, those of keys are summed up. */
  readonly summedDay: number
}

/** Undefined: there is nothing to add up. */
async function askedOf(store: Store, question: UsageQuestion): Promise<Asked | undefined> {
  // Nothing is used in the future; one day more allows for clocks that are ahead.
  const until = Math.min(question.until, store.clock.now() + DAY_MS)
  const firstDay = await firstDayOf(store, question.since)
  if (firstDay === undefined) return undefined
  const stretches = stretchesOf({ ...question, until }, firstDay)
  const keys = await keysOf(store, question)
  const isNone = Array.isArray(keys) && keys.length === 0
  if (stretches.length === 0 || isNone) return undefined
  return { stretches, filter: question, keys, summedDay: await summedDayOf(store) }
}

async function summedDayOf({ db }: Store): Promise<number> {
  const frame = db.selectFrom('accounts').select('summed_day').where('id', '=', FRAME_ID)
  return (await frame.executeTakeFirst())?.summed_day ?? 0
}

async function keysOf(store: Store, filter: UsageFilter): Promise<Asked['keys']> {
  const { key, owner, environment, tag } = filter
  if (owner === undefined && environment === undefined && tag === undefined) {
    return key === undefined ? undefined : [key]
  }
  const wanted = await inAnySpelling(store, {
    ...(key !== undefined && { ids: [key] }),
    owner: orNull(owner),
    environment: orNull(environment),
    tag: orNull(tag),
  })
  return (await fewMatching(store, wanted)) ?? idsMatching(store, wanted)
}

function orNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text
}

/** The first day since then with any usage: earlier ones need not be looked up. */
async function firstDayOf(store: Store, since: number): Promise<number | undefined> {
  const row = await store.db
    .selectFrom('rollups')
    .select('starts_at')
    .where('span', '=', 'day')
    .where('starts_at', '>=', Math.floor(since / DAY_MS) * DAY_MS)
    .orderBy('starts_at')
    .limit(1)
    .executeTakeFirst()
  return row?.starts_at
}

type Stretch = { readonly span: RollupSpan; readonly from: number; readonly to: number }

/** Whole days come from daily rollups, the hours before and after from hourly ones; by hour, all from hourly ones. */
function stretchesOf(
  { since, until, by }: Pick<UsageQuestion, 'since' | 'until' | 'by'>,
  firstDay: number,
): readonly Stretch[] {
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

type Grouping = { readonly by: readonly Dimension[]; readonly limit: number }

type Found<Row> = {
  readonly rows: readonly Row[]
  readonly leftOut: number
  /** Of the rows left out, where it is not simply what the others leave of the total. */
  readonly rest?: UsageSums
}

/** Up to this many keys, looking up the rows of each is faster than reading the rows of all. */
const LOOKED_UP_MAX = 1_000

async function readDearest(
  store: Store,
  asked: Asked,
  { by, limit }: Grouping,
): Promise<Found<UsageLine>> {
  if (by.includes('tag'))
    return cut(await readRows<UsageLine>(store, asked, { by, limit: ROWS_MAX }), limit)
  const isOfEachKey = by.includes('key') && !Array.isArray(asked.keys)
  if (!isOfEachKey || limit > LOOKED_UP_MAX) return readRows<UsageLine>(store, asked, { by, limit })
  // Finds the dearest rows by adding up costs alone, then adds up everything else only for those.
  const dearest = await readRows<Dimensions & Cost>(store, asked, { by, limit, isRanking: true })
  const keys = [...new Set(dearest.rows.flatMap(({ key }) => key ?? []))]
  if (keys.length === 0) return { rows: [], leftOut: 0 }
  const { rows } = await readRows<UsageLine>(store, { ...asked, keys }, { by, limit: ROWS_MAX })
  const nameOf = (row: Dimensions): string => JSON.stringify(by.map((each) => row[each]))
  const ranks = new Map(dearest.rows.map((row, rank) => [nameOf(row), rank]))
  const rank = (row: Dimensions): number => ranks.get(nameOf(row)) ?? Infinity
  return {
    rows: rows.filter((row) => rank(row) < Infinity).toSorted((a, b) => rank(a) - rank(b)),
    leftOut: dearest.leftOut,
  }
}

/** A key counts in each of its tags, so the rest is not what remains of the total. */
function cut({ rows, leftOut }: Found<UsageLine>, limit: number): Found<UsageLine> {
  const rest = rows.slice(limit).reduce<UsageSums>(added, NOTHING_USED)
  return { rows: rows.slice(0, limit), leftOut: leftOut + Math.max(0, rows.length - limit), rest }
}

/** The columns of the rollups that each count is the sum of. A refused request counts as a request; it has no usage row. */
const COUNTED: Readonly<Record<(typeof COUNTS)[number], Sql>> = {
  requests: sql`requests + refused`,
  failed: sql`failed`,
  refused: sql`refused`,
  inputTokens: sql`input_tokens`,
  cachedTokens: sql`cached_tokens`,
  cacheWriteTokens: sql`cache_write_tokens`,
  outputTokens: sql`output_tokens`,
  reasoningTokens: sql`reasoning_tokens`,
  estimated: sql`estimated`,
}

/**
 * PostgreSQL keeps the sum of whole numbers in memory of its own and answers with a numeric, which takes most of the time
 * of a report with many rows. Counts end as numbers of JavaScript, so they may as well be added up as such: exact up to
 * 2^53, as they are there. Money may be more.
 */
function countOf({ kind }: Store, column: Sql): Sql {
  return kind === 'sqlite' ? sql`sum(${column})` : sql`sum(CAST(${column} AS DOUBLE PRECISION))`
}

const SUMMED = [
  ...['requests', 'failed', 'refused', 'estimated', 'input_tokens', 'cached_tokens'],
  ...['cache_write_tokens', 'output_tokens', 'reasoning_tokens', 'cost_nanodollars'],
] as const

const COLUMNS: Readonly<Record<Dimension, Sql>> = {
  // Integer division drops the remainder.
  day: sql`starts_at / ${sql.lit(DAY_MS)} * ${sql.lit(DAY_MS)}`,
  hour: sql`starts_at`,
  group: sql`used.group_id`,
  key: sql`used.key_id`,
  owner: sql`coalesce(owner, '')`,
  environment: sql`coalesce(environment, '')`,
  tag: sql`coalesce(tagged.value, '')`,
  model: sql`used.model`,
  provider: sql`used.provider`,
  endpoint: sql`used.endpoint`,
}

const ONE_GROUP = sql`CASE WHEN min(used.group_id) = max(used.group_id) THEN min(used.group_id) END`

/** The column of the rollups, or of the keys beside them, that a dimension comes from. */
const SOURCES = {
  ...{ day: 'starts_at', hour: 'starts_at', group: 'group_id', key: 'key_id' },
  ...{ model: 'model', provider: 'provider', endpoint: 'endpoint' },
  ...{ owner: 'owner', environment: 'environment', tag: 'tags' },
} as const satisfies Readonly<Record<Dimension, string>>

const OF_KEY: readonly Dimension[] = ['owner', 'environment', 'tag']

function isOfKeys(by: readonly Dimension[]): boolean {
  return by.some((each) => OF_KEY.includes(each))
}

function isByTime(by: readonly Dimension[]): boolean {
  return by.includes('day') || by.includes('hour')
}

type Reading = Grouping & {
  /** Only what a row costs, which is quicker to add up. */
  readonly isRanking?: boolean
}

/** The dearest rows. */
async function readRows<Row extends Dimensions & Cost>(
  store: Store,
  asked: Asked,
  reading: Reading,
): Promise<Found<Row>> {
  const { by, limit, isRanking = false } = reading
  const columns = DIMENSIONS.map((each) => {
    const isSaid = by.includes(each) || (each === 'group' && saysGroup(reading))
    return sql`${isSaid ? sql.ref(each) : sql`NULL`} AS ${sql.ref(each)}`
  })
  const sums = namesOf(reading).map((name) => sql.ref(name))
  const used = isRanking ? sql`` : sql`WHERE requests <> 0`
  // `found` is the number of all rows, including those left out.
  const query = sql<Row & { found?: number }>`
    SELECT ${sql.join([...columns, ...sums])}, count(*) OVER () AS found
    FROM (${linesOf(store, asked, reading)}) AS lines ${used}
    ORDER BY "costNanodollars" DESC LIMIT ${limit}`
  const { rows } = await withWorkMemory(store, query, { without: tooSlow(by) })
  const found = rows[0]?.found ?? 0
  for (const row of rows) delete row.found
  return { rows, leftOut: Math.max(0, found - limit) }
}

/** Adds up rollups, or parts of them: what they are grouped by, and their sums. */
function addedUp(store: Store, reading: Reading, from: Sql): Sql {
  const { by } = reading
  const columns = by.map((each) => sql`${COLUMNS[each]} AS ${sql.ref(each)}`)
  if (saysGroup(reading) && !by.includes('group')) columns.push(sql`${ONE_GROUP} AS "group"`)
  const sums = namesOf(reading).map((name) => {
    const sum =
      name === 'costNanodollars' ? sql`sum(cost_nanodollars)` : countOf(store, COUNTED[name])
    return sql`${sum} AS ${sql.ref(name)}`
  })
  const grouped =
    by.length === 0 ? sql`` : sql`GROUP BY ${sql.join(by.map((each) => COLUMNS[each]))}`
  return sql`
    SELECT ${sql.join([...columns, ...sums])} FROM (${from}) AS used
    ${store.kind === 'sqlite' ? keysBeside(store, by) : sql``} ${tagsApart(store, by)}
    ${grouped}`
}

function namesOf({ isRanking = false }: Reading): readonly (keyof UsageSums)[] {
  return isRanking ? ['costNanodollars'] : [...COUNTS, 'costNanodollars']
}

function saysGroup({ by, isRanking = false }: Reading): boolean {
  return by.includes('key') && !isRanking
}

/** What PostgreSQL is to avoid: a table of 100,000 keys in memory is slower than their days, read key by key. */
function tooSlow(by: readonly Dimension[]): 'hashagg' | 'hashjoin' | undefined {
  if (isOfKeys(by)) return 'hashjoin'
  return by.includes('key') && !isByTime(by) ? 'hashagg' : undefined
}

/** The owner, environment and tags of keys, where a report is by them. */
function keysBeside({ scope }: Store, by: readonly Dimension[]): Sql {
  if (!isOfKeys(by)) return sql``
  // A key that was moved has its present owner, environment and tags from another group.
  const known = isReached(scope, { group: sql.ref('keys.group_id'), key: sql.ref('keys.id') })
  const here = known === undefined ? sql`` : sql`AND ${known}`
  return sql`LEFT JOIN keys ON keys.id = used.key_id ${here}`
}

function tagsApart({ kind }: Store, by: readonly Dimension[]): Sql {
  if (!by.includes('tag')) return sql``
  const each =
    kind === 'sqlite'
      ? sql`json_each(tags) AS tagged`
      : sql`jsonb_array_elements_text(tags::jsonb) AS tagged (value)`
  return sql`LEFT JOIN ${each} ON TRUE`
}

const OF_GROUPS = sql`key_id > ${FRAME_ID} AND key_id < ${KEYS_AFTER}`

/** From the fewest rollups that answer the question: of the frame, of groups, of some keys, of all keys. */
function linesOf(store: Store, asked: Asked, reading: Reading): Sql {
  const { scope } = store
  const { filter, keys, stretches } = asked
  const { by } = reading
  const { group } = filter
  if (keys !== undefined || by.includes('key') || isOfKeys(by) || isConfined(scope)) {
    const parts = sourcesOf(asked, reading).map(({ source, stretch }) => {
      const inGroup = group === undefined ? sql`` : sql`AND used.group_id = ${group}`
      const which = sql`${ofKeys(source, stretch, keys)} ${inGroup} ${andReached(scope)}`
      return partOf(store, reading, { source, which, filter })
    })
    return addedUp(store, reading, together(parts))
  }
  const summed = (groupedBy: readonly Dimension[], which: Sql, isOfGroups: boolean): Sql => {
    const of = { ...reading, by: groupedBy }
    const parts = stretches.map((stretch) => {
      const at = sql`span = ${stretch.span} AND starts_at IN (${sql.join(momentsOf(stretch))})`
      const whose = { which: sql`${at} AND ${which}`, isOfGroups }
      return partOf(store, of, { source: 'rollups', filter, ...whose })
    })
    return addedUp(store, of, together(parts))
  }
  if (group !== undefined && group !== '') return summed(by, sql`key_id = ${group}`, true)
  const ofFrame = sql`key_id = ${FRAME_ID}`
  if (group === undefined && !by.includes('group')) return summed(by, ofFrame, false)
  const others = { ...reading, by: by.filter((each) => each !== 'group') }
  const columns = by.map((each) => (each === 'group' ? sql`'' AS "group"` : sql.ref(each)))
  const sums = namesOf(reading).map((name) => sql.ref(name))
  // Groups are read once, for their own lines and for what they leave of the frame.
  return sql`
    WITH in_groups AS MATERIALIZED (${summed(group === '' ? others.by : by, OF_GROUPS, true)})
    ${group === '' ? sql`` : sql`SELECT * FROM in_groups UNION ALL`}
    SELECT ${sql.join([...columns, ...sums])}
    FROM (${leftOver(others, summed(others.by, ofFrame, false))}) AS outside`
}

/** What was used outside groups: what `in_groups` leaves of the frame. */
function leftOver(reading: Reading, ofFrame: Sql): Sql {
  const columns = reading.by.map((each) => sql.ref(each))
  const sums = namesOf(reading).map((name) => sql.ref(name))
  const less = sums.map((sum) => sql`-${sum} AS ${sum}`)
  const grouped = columns.length === 0 ? sql`` : sql`GROUP BY ${sql.join(columns)}`
  return sql`
    SELECT ${sql.join([...columns, ...sums.map((sum) => sql`sum(${sum}) AS ${sum}`)])}
    FROM (${ofFrame} UNION ALL SELECT ${sql.join([...columns, ...less])} FROM in_groups) AS parts
    ${grouped}`
}

function together(parts: readonly Sql[]): Sql {
  return sql.join(parts, sql` UNION ALL `)
}

/** Then the sums of the frame tell too much, and those of a group perhaps. */
function isConfined(scope: Scope): boolean {
  return scope !== 'everywhere'
}

/** Sums of keys by the hour and by the day, or of whole days of keys. */
type Source = 'rollups' | 'key_days'

/** Where the sums of keys are for each stretch of time: for days that are summed up, there, if nothing finer is asked. */
function sourcesOf(
  { stretches, filter, summedDay }: Asked,
  { by }: Reading,
): readonly { readonly source: Source; readonly stretch: Stretch }[] {
  const isFine = FINER.some((each) => by.includes(each) || filter[each] !== undefined)
  return stretches.flatMap((stretch) => {
    const { span, from, to } = stretch
    const until = Math.min(to, summedDay)
    if (span === 'hour' || isFine || until <= from) return { source: 'rollups', stretch } as const
    const summed = { source: 'key_days', stretch: { span, from, to: until } } as const
    if (until === to) return summed
    return [summed, { source: 'rollups', stretch: { span, from: until, to } } as const]
  })
}

/** What the sums of whole days do not tell apart. */
const FINER = ['model', 'provider', 'endpoint'] as const

function andReached(scope: Scope): Sql {
  const reached = isReached(scope, { group: sql.ref('used.group_id'), key: sql.ref('used.key_id') })
  return reached === undefined ? sql`` : sql`AND ${reached}`
}

type Part = {
  readonly source: Source
  readonly which: Sql
  readonly filter: UsageFilter
  /** Whether the rollups are those of groups; others say the group themselves. */
  readonly isOfGroups?: boolean
}

/**
 * One stretch of time, added up by itself where that leaves fewer rows, as by time it hardly does. PostgreSQL reads the days
 * of keys in the order of the keys, so it can look up each key beside them; SQLite looks up one after the other, so it adds
 * up the days of each first.
 */
function partOf(store: Store, reading: Reading, part: Part): Sql {
  const { source, which, filter, isOfGroups = false } = part
  const { by } = reading
  const isLookedUp = store.kind === 'postgres'
  const isAddedUp = !isByTime(by) || isOfKeys(by)
  const names = new Set<string>(
    by.map((each) => (OF_KEY.includes(each) && !isLookedUp ? 'key_id' : SOURCES[each])),
  )
  if (saysGroup(reading)) names.add('group_id')
  const valueOf = (name: string): Sql => {
    if (name !== 'group_id') return sql.ref(name)
    return isOfGroups ? sql`key_id` : sql.ref('used.group_id')
  }
  const columns = [...names].map((name) => sql`${valueOf(name)} AS ${sql.ref(name)}`)
  const summed = reading.isRanking ? (['cost_nanodollars'] as const) : SUMMED
  const sums = summed.map((name) => {
    const column = sql.ref(name)
    if (!isAddedUp) return column
    // A sum of money is numeric, which is slow to add up again.
    const isMoney = name === 'cost_nanodollars'
    const sum = isMoney ? sql`CAST(sum(${column}) AS BIGINT)` : countOf(store, column)
    return sql`${sum} AS ${column}`
  })
  const grouped =
    isAddedUp && names.size > 0 ? sql`GROUP BY ${sql.join([...names].map(valueOf))}` : sql``
  const tests = FINER.flatMap((name) =>
    filter[name] === undefined ? [] : [sql` AND ${sql.ref(name)} = ${filter[name]}`],
  )
  return sql`
    SELECT ${sql.join([...columns, ...sums])}
    FROM ${sql.table(source)} AS used ${isLookedUp ? keysBeside(store, by) : sql``}
    WHERE ${which}${sql.join(tests, sql``)} ${grouped}`
}

function ofKeys(source: Source, stretch: Stretch, keys: Asked['keys']): Sql {
  const { span, from, to } = stretch
  const within = sql`starts_at >= ${from} AND starts_at < ${to}`
  const at = source === 'key_days' ? within : sql`span = ${span} AND ${within}`
  if (keys === undefined) return sql`${at} AND key_id > ${KEYS_AFTER}`
  if (!Array.isArray(keys)) return sql`${at} AND key_id > ${KEYS_AFTER} AND key_id IN (${keys})`
  const among = sql`key_id IN (${sql.join(keys)})`
  if (source === 'key_days') return sql`${at} AND ${among}`
  // One look-up per key and hour or day, instead of reading past the rows of all other keys.
  return sql`span = ${span} AND starts_at IN (${sql.join(momentsOf(stretch))}) AND ${among}`
}

function momentsOf({ span, from, to }: Stretch): readonly number[] {
  const stepMs = span === 'hour' ? HOUR_MS : DAY_MS
  return Array.from({ length: (to - from) / stepMs }, (_, step) => from + step * stepMs)
}

function tooMany(): StoreError {
  const message = sentence('report_too_long', { most: ROWS_MAX })
  return new StoreError('invalid_value', message, { field: 'by' })
}

/** Days and hours follow each other; of everything else people look for the dearest. */
function orderOf(by: readonly Dimension[]): (one: UsageLine, other: UsageLine) => number {
  return isByTime(by) ? inOrderOf(by) : dearestFirst(by)
}

function dearestFirst(by: readonly Dimension[]): (one: UsageLine, other: UsageLine) => number {
  const ofSameCost = inOrderOf(by)
  return (one, other) =>
    Number(other.costNanodollars - one.costNanodollars) || ofSameCost(one, other)
}

/** By time, then by each dimension. */
function inOrderOf(by: readonly Dimension[]): (one: Dimensions, other: Dimensions) => number {
  const dimensions = DIMENSIONS.filter((each) => by.includes(each))
  return (one, other) => {
    for (const each of dimensions) {
      const [a, b] = [one[each] ?? '', other[each] ?? '']
      if (a !== b) return a < b ? -1 : 1
    }
    return 0
  }
}

const NOTHING_USED: UsageSums = {
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

/** Grouped by nothing. */
export const NO_LINE: UsageLine = {
  ...(Object.fromEntries(DIMENSIONS.map((each) => [each, null])) as Dimensions),
  ...NOTHING_USED,
}

const NOTHING_REPORTED: UsageReport = {
  rows: [],
  total: NOTHING_USED,
  leftOut: 0,
  rest: NOTHING_USED,
}

function combined(one: UsageSums, other: UsageSums, sign: 1 | -1): UsageSums {
  const counts = COUNTS.map((name) => [name, one[name] + sign * other[name]] as const)
  return {
    ...(Object.fromEntries(counts) as Record<(typeof COUNTS)[number], number>),
    costNanodollars: one.costNanodollars + BigInt(sign) * other.costNanodollars,
  }
}

const added = (sums: UsageSums, row: UsageSums): UsageSums => combined(sums, row, 1)

function restOf(total: UsageSums, rows: readonly UsageSums[]): UsageSums {
  return rows.reduce((left, row) => combined(left, row, -1), total)
}

/** Without what it was grouped by. */
function sumsOf(line: UsageSums): UsageSums {
  return combined(NOTHING_USED, line, 1)
}
