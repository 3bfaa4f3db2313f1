// How many keys there are of each kind, for the figures above the list, and what their budgets add up to. Reads every
// account once, so callers that show them often keep them for a moment.
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { NANO_PER_USD, type Nanodollars } from '../../core/money.ts'
import { isReached } from '../database/store.ts'
import type { Store } from '../database/store.ts'
import { FRAME_ID } from '../database/tables.ts'
import type { KeyStatus } from './keys.ts'
import {
  expiresSoon,
  IS_KEY,
  isHigh,
  isRefused,
  isUnused,
  noOwnLimit,
  type KeyConcern,
} from './search.ts'

/** All keys by status, and those not revoked by what needs attention. */
export type KeyCounts = Readonly<Record<'all' | KeyStatus | KeyConcern, number>>

export type KeyTotals = {
  readonly counts: KeyCounts
  readonly allocatedNanodollars: Nanodollars
}

/** Of the keys within reach. */
export async function countKeys(store: Store): Promise<KeyTotals> {
  const now = store.clock.now()
  const [kinds, money, unused, refused] = await Promise.all([
    countByStatus(store, now),
    countByMoney(store, now),
    countCurrent(store, isUnused(now)),
    countCurrent(store, isRefused(now)),
  ])
  const { active, paused, revoked } = kinds
  const current = [active, paused]
  const keys = sum(current, (kind) => kind.keys)
  return {
    counts: {
      all: keys + revoked.keys,
      ...byStatus(kinds),
      refusing_now: refused,
      no_own_limit: money.no_own_limit,
      never_expires: keys - sum(current, (kind) => kind.with_expiry),
      unused_90_days: unused,
      expiring_7_days: sum(current, (kind) => kind.expiring),
      over_80_percent: money.over_80_percent,
    },
    allocatedNanodollars: allocatedOf(money),
  }
}

/** Counts all keys; fast enough to be called every few seconds. */
export async function countKeysByStatus(
  store: Store,
): Promise<Readonly<Record<KeyStatus, number>>> {
  return byStatus(await countByStatus(store, store.clock.now()))
}

function byStatus({ active, paused, revoked }: Kinds): Readonly<Record<KeyStatus, number>> {
  return {
    active: active.keys - active.expired,
    paused: paused.keys - paused.expired,
    expired: active.expired + paused.expired,
    revoked: revoked.keys,
  }
}

type Kinds = Readonly<Record<StoredStatus, Kind>>

type StoredStatus = Exclude<KeyStatus, 'expired'>

type Kind = {
  readonly keys: number
  readonly with_expiry: number
  readonly expired: number
  readonly expiring: number
}

const NONE: Kind = { keys: 0, with_expiry: 0, expired: 0, expiring: 0 }

/** Reads an index alone, with columns that no request changes. */
async function countByStatus(store: Store, now: number): Promise<Kinds> {
  const { rows } = await sql<Kind & { readonly status: StoredStatus }>`
    SELECT status, count(*) AS keys, count(expires_at) AS with_expiry,
      ${countIf(sql`expires_at <= ${now}`)} AS expired,
      ${countIf(expiresSoon(now))} AS expiring
    FROM accounts WHERE ${IS_KEY} ${andReached(store, 'accounts')} GROUP BY status`.execute(
    store.db,
  )
  const of = (status: StoredStatus): Kind => rows.find((row) => row.status === status) ?? NONE
  return { active: of('active'), paused: of('paused'), revoked: of('revoked') }
}

async function countByMoney(store: Store, now: number) {
  const { rows } = await sql<
    AllocatedSums & { readonly no_own_limit: number; readonly over_80_percent: number }
  >`
    SELECT ${allocatedSums}, ${countIf(sql`${IS_KEY} AND ${noOwnLimit}`)} AS no_own_limit,
      ${countIf(sql`${IS_KEY} AND ${isHigh(now)}`)} AS over_80_percent
    FROM accounts WHERE id <> ${FRAME_ID} AND status <> 'revoked'
    ${andReached(store, 'accounts')}`.execute(store.db)
  const [row] = rows
  if (row === undefined) throw new Error('a sum without GROUP BY has one row')
  return row
}

async function countCurrent(store: Store, test: RawBuilder<SqlBool>): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`
    SELECT count(*) AS count FROM keys
    WHERE revoked_at IS NULL AND (${test}) ${andReached(store, 'keys')}`.execute(store.db)
  return rows[0]?.count ?? 0
}

function andReached({ scope }: Store, table: 'accounts' | 'keys'): RawBuilder<unknown> {
  const of = { group: sql.ref(`${table}.group_id`), key: sql.ref(`${table}.id`) }
  const reached = isReached(scope, of)
  return reached === undefined ? sql`` : sql`AND ${reached}`
}

function countIf(condition: RawBuilder<SqlBool>): RawBuilder<number> {
  return sql`count(CASE WHEN ${condition} THEN 1 END)`
}

function sum(kinds: readonly Kind[], of: (kind: Kind) => number): number {
  return kinds.reduce((total, kind) => total + of(kind), 0)
}

/**
 * The sum of what the frame gives out: the budgets of groups, and of keys outside groups, that are neither archived nor
 * revoked. It may exceed the frame's own. Reads every account.
 */
export async function readAllocated(store: Store): Promise<Nanodollars> {
  const { rows } = await sql<AllocatedSums>`
    SELECT ${allocatedSums} FROM accounts
    WHERE id <> ${FRAME_ID} AND status <> 'revoked'`.execute(store.db)
  return rows[0] === undefined ? 0n : allocatedOf(rows[0])
}

type AllocatedSums = {
  readonly whole_nanodollars: bigint | null
  readonly rest_nanodollars: bigint | null
}

/** Whole dollars and the rest separately: SQLite's sums end at 9.2 billion USD, a thousand of the largest budgets. */
const allocatedSums = sql`
  sum(CASE WHEN ${isGivenOut()} THEN limit_nanodollars / ${NANO_PER_USD} END) AS whole_nanodollars,
  sum(CASE WHEN ${isGivenOut()} THEN limit_nanodollars % ${NANO_PER_USD} END) AS rest_nanodollars`

/** What a key in a group may spend comes out of the group's budget. */
function isGivenOut(): RawBuilder<SqlBool> {
  return sql`group_id IS NULL AND status <> 'archived'`
}

function allocatedOf(sums: AllocatedSums): Nanodollars {
  return (sums.whole_nanodollars ?? 0n) * NANO_PER_USD + (sums.rest_nanodollars ?? 0n)
}
