// Turns a filter of keys into conditions on tables. A condition has a form for each table that can decide it, so that a
// query reads as few tables as possible.
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { KeyMode } from '../core/limits.ts'
import { KEY_ID_SHAPE } from '../core/limits.ts'
import { DAY_MS } from '../core/units.ts'
import { fold } from './fold.ts'
import type { KeyStatus } from './keys.ts'
import { FRAME_ID } from './tables.ts'

/** A key that was not used for this long may have been forgotten. */
const UNUSED_MS = 90 * DAY_MS
const USED_LATELY_MS = 30 * DAY_MS
export const EXPIRES_SOON_MS = 7 * DAY_MS
/** The part of a budget at which a key needs attention. */
export const HIGH_PERCENT = 80

export type KeyConcern =
  | 'no_own_limit'
  | 'never_expires'
  | 'unused_90_days'
  | 'expiring_7_days'
  | 'over_80_percent'

export type KeyFilter = {
  readonly search?: string | undefined
  /** The masked forms of a secret that the search text may be. */
  readonly masks?: readonly string[] | undefined
  /** `current` = all but revoked ones. */
  readonly status?: 'current' | KeyStatus | undefined
  readonly concern?: KeyConcern | undefined
  readonly used?: 'last_30_days' | 'not_last_30_days' | undefined
  readonly owner?: string | undefined
  readonly environment?: string | undefined
  readonly mode?: KeyMode | undefined
  readonly tag?: string | undefined
  readonly model?: string | undefined
  /** Only these. */
  readonly ids?: readonly string[] | undefined
}

/** The tables that hold something about a key. */
export type Source = 'keys' | 'accounts' | 'key_models'

const KEY_ID: Readonly<Record<Source, RawBuilder<string>>> = {
  keys: sql`keys.id`,
  accounts: sql`accounts.id`,
  key_models: sql`key_models.key_id`,
}

type Test = RawBuilder<SqlBool>
/** What must be true, as a test on each table that can decide it. */
export type Condition = Readonly<Partial<Record<Source, Test>>>

export function conditionsOf(filter: KeyFilter, now: number): readonly Condition[] {
  const { search, status, concern, used: lastUse, owner, environment, mode, tag, model } = filter
  const conditions: Condition[] = []
  if (search !== undefined && search !== '') conditions.push(isFound(search, filter.masks ?? []))
  if (status !== undefined) conditions.push(hasStatus(status, now))
  if (concern !== undefined) conditions.push(CURRENT, CONCERNS[concern](now))
  if (lastUse !== undefined) conditions.push({ keys: wasUsed(lastUse, now) })
  if (owner !== undefined) conditions.push({ keys: sql`keys.owner = ${owner}` })
  if (environment !== undefined) conditions.push({ keys: sql`keys.environment = ${environment}` })
  if (mode !== undefined) conditions.push({ keys: sql`keys.mode = ${mode}` })
  // Tags are a JSON list of texts: the quotes make sure that a whole tag matches.
  if (tag !== undefined) {
    conditions.push({ keys: contains(sql`keys.folded_tags`, JSON.stringify(tag)) })
  }
  if (model !== undefined) conditions.push(mayCall(model))
  const { ids } = filter
  if (ids !== undefined) conditions.push(byId((id) => sql`${id} IN (${sql.join([...ids])})`))
  return conditions
}

/** Reads rows that meet all conditions from `sources`, and from other tables only where no source can decide. */
export function rowsOf(
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
  if (first === 'accounts') tests.push(sql`accounts.id <> ${FRAME_ID}`)
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

/** Searches the name, the owner, the id and the masked secrets. */
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
  const pattern = `%${fold(text).replaceAll(/[\\%_]/g, '\\$&')}%`
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
  const isAllowed = (id: RawBuilder<string>): Test =>
    sql`EXISTS (SELECT 1 FROM key_models AS allowed WHERE allowed.key_id = ${id} AND allowed.model = ${model})`
  return { ...byId(isAllowed), key_models: sql`key_models.model = ${model}` }
}

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

export const spentAt = (now: number): RawBuilder<bigint> =>
  ofPeriod(now, sql`accounts.spent_nanodollars`)
export const spentAndHeldAt = (now: number): RawBuilder<bigint> =>
  ofPeriod(now, sql`accounts.spent_nanodollars + accounts.held_nanodollars`)
/** As `partOfFrame` in frame.ts. */
export const frameSpentAt = (now: number): RawBuilder<bigint> =>
  sql`(CASE WHEN accounts.frame_period_seq = (SELECT frame.period_seq FROM accounts AS frame
    WHERE frame.id = ${FRAME_ID} AND (frame.period_ends_at IS NULL OR frame.period_ends_at > ${now}))
    THEN accounts.frame_spent_nanodollars ELSE 0 END)`
export const limitAt = (now: number): RawBuilder<bigint> =>
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

const CONCERNS: Readonly<Record<KeyConcern, (now: number) => Condition>> = {
  no_own_limit: () => ({ accounts: noOwnLimit }),
  never_expires: () => ({ accounts: sql`accounts.expires_at IS NULL` }),
  unused_90_days: (now) => ({ keys: isUnused(now) }),
  expiring_7_days: (now) => ({ accounts: expiresSoon(now) }),
  over_80_percent: (now) => ({ accounts: isHigh(now) }),
}
