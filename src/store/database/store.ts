// An open database, as all others see it: its kind, its queries, its clock, in whose name it is changed, and how much of
// it can be reached.
import {
  sql,
  Transaction,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
} from 'kysely'
import type { Pool } from 'pg'
import type { Clock } from '../../core/clock.ts'
import type { Queries, Tables, Tx } from './tables.ts'

/**
 * What somebody may reach of the database: all of it, or only what belongs to groups of keys. It is part of the store
 * that they are given, and every query of keys, groups, usage, refusals, alerts and the audit record takes it from there.
 */
export type Scope = 'everywhere' | Confined

/** What is outside does not exist for those who are confined: it is not found, not listed and not counted. */
type Confined = {
  /** Everything of these groups. */
  readonly groupIds: readonly string[]
  /** Of these groups only the keys of this person, and what was done with them. */
  readonly own: { readonly personId: string; readonly groupIds: readonly string[] }
}

export const NOWHERE: Confined = { groupIds: [], own: { personId: '', groupIds: [] } }

type Common = {
  /** In whose name changes are recorded. */
  readonly author: Author
  /** What of it can be reached; what is outside does not exist. */
  readonly scope: Scope
  /** On SQLite a transaction stops every other query until it ends: keep it to a few statements, await nothing else. */
  readonly db: Kysely<Tables>
  readonly clock: Clock
  close(): Promise<void>
}

export type SqliteStore = Common & {
  readonly kind: 'sqlite'
  /** The path of the database. */
  readonly file: string
  /** Runs a handler of one of the `threadModules` beside the database, as one transaction (sqlite/connection.ts). */
  inThread(name: string, argument: unknown): Promise<unknown>
}

export type PostgresStore = Common & {
  readonly kind: 'postgres'
  /** For what Kysely cannot do: a separate connection with its own settings, LISTEN. */
  readonly pool: Pool
}

export type Store = SqliteStore | PostgresStore

/** Who acts, and from where; every store is opened in somebody's name. */
export type Author = {
  /** An e-mail address, or the system account that the command line ran under. */
  readonly actor: string
  readonly source: 'ui' | 'api' | 'cli'
  readonly address: string | null
  readonly requestId: string | null
}

/** The same database, with changes recorded under another name. */
export function inTheNameOf(store: Store, author: Author): Store {
  return { ...store, author }
}

/** Runs as a part of the transaction that `db` is, or as one of its own. */
export function inTransaction<Result>(
  db: Queries,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return db instanceof Transaction ? work(db) : db.transaction().execute(work)
}

/** The clock that all nodes share and that periods follow. SQLite's is this machine's. */
export async function databaseNow(store: Store, db = store.db): Promise<number> {
  if (store.kind === 'sqlite') return store.clock.now()
  const { rows } = await sql<{ now: number }>`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`.execute(db)
  return rows[0]?.now ?? store.clock.now()
}

/** Of a PostgreSQL server; SQLite comes with Node. */
export async function serverVersion({ kind, db }: Store): Promise<string | undefined> {
  if (kind === 'sqlite') return undefined
  const { rows } = await sql<{ version: string }>`
    SELECT current_setting('server_version') AS version`.execute(db)
  return rows[0]?.version
}

/**
 * For a query that groups by a hundred thousand keys: PostgreSQL would sort on disk, or have several processes each add
 * up nearly all of them, which takes twice as long. `without` the hash that it would choose, it reads in the order of an
 * index instead, which is in memory or on a disk that reads anywhere alike.
 */
export async function withWorkMemory<Row>(
  { kind, db }: Store,
  query: RawBuilder<Row>,
  { without }: { readonly without?: 'hashagg' | 'hashjoin' | undefined } = {},
): Promise<QueryResult<Row>> {
  if (kind === 'sqlite') return query.execute(db)
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL work_mem = '64MB'`.execute(tx)
    await sql`SET LOCAL max_parallel_workers_per_gather = 0`.execute(tx)
    if (without !== undefined) {
      await sql`SET LOCAL random_page_cost = 1.1`.execute(tx)
      await sql`SET LOCAL ${sql.id(`enable_${without}`)} = off`.execute(tx)
    }
    return query.execute(tx)
  })
}

// What is within reach.

type Column = RawBuilder<unknown>

/** The columns that decide: the group that a row belongs to, and its key. */
type Belonging = { readonly group: Column; readonly key: Column }

/** Whether a row is within reach; undefined = any is. */
export function isReached(
  scope: Scope,
  { group, key }: Belonging,
): RawBuilder<SqlBool> | undefined {
  if (scope === 'everywhere') return undefined
  const { groupIds, own } = scope
  if (own.groupIds.length === 0) return isOneOf(group, groupIds)
  return sql`(${isOneOf(group, groupIds)} OR (${isOneOf(group, own.groupIds)}
    AND ${key} IN (SELECT owned.id FROM keys AS owned WHERE owned.owner_person_id = ${own.personId})))`
}

/** The same for what a member may know of the group itself. */
export function isGroupReached(scope: Scope, group: Column): RawBuilder<SqlBool> | undefined {
  if (scope === 'everywhere') return undefined
  return isOneOf(group, [...scope.groupIds, ...scope.own.groupIds])
}

/** Whether keys of this group, or outside groups, can be reached at all. */
export function isGroupWithin(scope: Scope, groupId: string | null): boolean {
  if (scope === 'everywhere') return true
  return groupId !== null && [...scope.groupIds, ...scope.own.groupIds].includes(groupId)
}

/** Whether nothing but groups within reach is named; null = there is no bound, so that others are meant as well. */
export function areGroupsWithin(scope: Scope, groupIds: readonly string[] | null): boolean {
  if (scope === 'everywhere') return true
  return groupIds !== null && groupIds.every((id) => scope.groupIds.includes(id))
}

/** The person whose keys alone are reached in this group; undefined = all of its keys are. */
export function ownerWithin(scope: Scope, groupId: string | null): string | undefined {
  if (scope === 'everywhere' || groupId === null || scope.groupIds.includes(groupId))
    return undefined
  return scope.own.personId
}

/** What is found within a scope can be kept under this name. */
export function scopeName(scope: Scope): string {
  return JSON.stringify(scope)
}

/** PostgreSQL does not accept an empty list. */
function isOneOf(column: Column, values: readonly string[]): RawBuilder<SqlBool> {
  return values.length === 0 ? sql`1 = 0` : sql`${column} IN (${sql.join([...values])})`
}
