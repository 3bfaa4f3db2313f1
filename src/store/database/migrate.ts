// Brings a database to the schema of this release, or refuses it. Several nodes may start at once: one migrates in
// one transaction while the others wait, and a failed step leaves nothing behind.
import { randomUUID } from 'node:crypto'

import { sql } from 'kysely'

import { StoreError } from './errors.ts'
import {
  create,
  MIGRATIONS,
  type DatabaseKind,
  type Migration,
  type Statement,
} from './migrations.ts'
import type { Queries, Tx } from './tables.ts'

type Version = { readonly major: number; readonly minor: number }

/** Any number will do, as long as every release uses the same. */
export const ADVISORY_LOCK = 7_065_744_001n

export async function migrate(
  db: Queries,
  kind: DatabaseKind,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (kind === 'postgres') await waitForOthers(tx)
    // Another node may have been faster.
    const version = await schemaVersion(tx, kind)
    if (version === undefined) await createMeta(tx, kind)
    for (const migration of pending(version, migrations)) await apply(tx, kind, migration)
  })
}

type SchemaState =
  | { readonly state: 'current' }
  | { readonly state: 'none' }
  /** Versions such as 1.7; `newest` is what this release needs. */
  | { readonly state: 'older'; readonly version: string; readonly newest: string }

/** Whether there is anything left to do; refuses a schema that this release does not know. */
export async function schemaState(db: Queries, kind: DatabaseKind): Promise<SchemaState> {
  const version = await schemaVersion(db, kind)
  const newest = pending(version, MIGRATIONS).at(-1)
  if (newest === undefined) return { state: 'current' }
  if (version === undefined) return { state: 'none' }
  return { state: 'older', version: textOf(version), newest: textOf(newest) }
}

/** Waiting for another node's migration, and a step over millions of rows, may take longer than any query. */
async function waitForOthers(tx: Tx): Promise<void> {
  await sql`SET LOCAL statement_timeout = 0`.execute(tx)
  await sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx)
}

/** The steps left to do. A later minor version of the same major only added, so this release runs on it as it is. */
function pending(
  version: Version | undefined,
  migrations: readonly Migration[],
): readonly Migration[] {
  const newest = migrations.at(-1)
  if (version === undefined || newest === undefined) return migrations
  if (version.major > newest.major) {
    throw new StoreError(
      'newer_schema',
      `this database has schema ${textOf(version)}, this Tollgate knows ${textOf(newest)}: ` +
        `run the Tollgate that migrated it, or restore the backup made before`,
    )
  }
  return migrations.filter(
    ({ major, minor }) =>
      major > version.major || (major === version.major && minor > version.minor),
  )
}

function textOf({ major, minor }: Version): string {
  return `${major}.${minor}`
}

/** Undefined for a database that is still empty. */
async function schemaVersion(db: Queries, kind: DatabaseKind): Promise<Version | undefined> {
  const metaTable =
    kind === 'sqlite'
      ? sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'meta'`
      : // Not to_regclass: its cache may still say that there is none, although another node has just made it.
        sql`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'meta'`
  if ((await metaTable.execute(db)).rows.length === 0) return undefined
  const row = await db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', 'schema_version')
    .executeTakeFirst()
  if (row === undefined) {
    throw new StoreError(
      'not_a_database',
      'this database has a table "meta" that is not Tollgate\'s: give Tollgate a database of its own',
    )
  }
  const [major, minor] = row.value.split('.')
  return { major: Number(major), minor: Number(minor) }
}

async function createMeta(tx: Tx, kind: DatabaseKind): Promise<void> {
  await run(tx, kind, create('meta'))
  await tx
    .insertInto('meta')
    .values([
      { name: 'schema_version', value: '0.0' },
      { name: 'revision', value: '0' },
      { name: 'instance_id', value: randomUUID() },
    ])
    .execute()
}

async function apply(tx: Tx, kind: DatabaseKind, migration: Migration): Promise<void> {
  for (const statement of migration.statements) await run(tx, kind, statement)
  await tx
    .updateTable('meta')
    .set({ value: textOf(migration) })
    .where('name', '=', 'schema_version')
    .execute()
}

async function run(tx: Tx, kind: DatabaseKind, statement: Statement): Promise<void> {
  if (typeof statement === 'function') await statement(tx)
  else if (typeof statement === 'string') await sql.raw(inWordsOf(kind, statement)).execute(tx)
  else if (statement.only === kind) await sql.raw(statement.sql).execute(tx)
}

/** PostgreSQL compares text by the rules of a language by default; SQLite and this code compare bytes. */
function inWordsOf(kind: DatabaseKind, statement: string): string {
  if (kind === 'sqlite') return statement
  return statement
    .replace(/\) STRICT(, WITHOUT ROWID)?$/, ')')
    .replaceAll(/\bINTEGER\b/g, 'BIGINT')
    .replaceAll(/\bBLOB\b/g, 'BYTEA')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
}
