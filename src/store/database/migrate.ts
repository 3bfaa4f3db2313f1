// Brings a database to the schema of this release, or refuses it. Several nodes may start at once: one migrates in
// one transaction while the others wait, and a failed step leaves nothing behind.
import { randomUUID } from 'node:crypto'

import { sql } from 'kysely'

import { StoreError } from './errors.ts'
import {
  run,
  SCHEMA,
  textsFor,
  type DatabaseKind,
  type Migration,
  type Schema,
  type Version,
} from './migrations.ts'
import type { Queries, Tx } from './tables.ts'
import { mustTakeOver, takeOver } from './takeover.ts'

/** Any number will do, as long as every release uses the same. */
export const ADVISORY_LOCK = 7_065_744_001n

export async function migrate(db: Queries, kind: DatabaseKind, schema = SCHEMA): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (kind === 'postgres') await waitForOthers(tx)
    // Another node may have been faster.
    const version = await schemaVersion(tx, kind)
    if (version === undefined) await create(tx, kind, schema)
    else if (mustTakeOver(version)) await takeOver(tx, kind, schema)
    else for (const step of pending(version, schema)) await run(tx, kind, step.statements)
    if (version === undefined || isBefore(version, schema)) await setVersion(tx, schema)
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
  if (version === undefined) return { state: 'none' }
  const isOlder = mustTakeOver(version) || pending(version, SCHEMA).length > 0
  if (!isOlder) return { state: 'current' }
  return { state: 'older', version: textOf(version), newest: textOf(SCHEMA) }
}

/** The version of a schema that this release serves, such as 1.7. */
export async function servedSchema(db: Queries, kind: DatabaseKind): Promise<string> {
  const version = await schemaVersion(db, kind)
  return version === undefined ? 'none' : textOf(version)
}

/** What `migrate` would do. */
export type Plan = {
  /** Null: there are no tables yet. */
  readonly from: string | null
  readonly to: string
  /** The tables are made anew and their rows copied: then `statements` are those that make them. */
  readonly isTakeover: boolean
  readonly statements: readonly string[]
}

export async function planMigration(
  db: Queries,
  kind: DatabaseKind,
  schema = SCHEMA,
): Promise<Plan> {
  const version = await schemaVersion(db, kind)
  const isTakeover = version !== undefined && mustTakeOver(version)
  const statements =
    version === undefined || isTakeover
      ? [...schema.tables, ...schema.indexes]
      : pending(version, schema).flatMap((step) => step.statements)
  return {
    from: version === undefined ? null : textOf(version),
    to: textOf(schema),
    isTakeover,
    statements: textsFor(kind, statements),
  }
}

/** Waiting for another node's migration, and a step over millions of rows, may take longer than any query. */
async function waitForOthers(tx: Tx): Promise<void> {
  await sql`SET LOCAL statement_timeout = 0`.execute(tx)
  await sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx)
}

/** The steps left to do. A later minor version of the same major only added, so this release runs on it as it is. */
function pending(version: Version, schema: Schema): readonly Migration[] {
  if (version.major > schema.major) {
    throw new StoreError(
      'newer_schema',
      `this database has schema ${textOf(version)}, this Tollgate knows ${textOf(schema)}: ` +
        `run the Tollgate that migrated it, or restore the backup made before`,
    )
  }
  return schema.steps.filter((step) => isBefore(version, step))
}

function isBefore(one: Version, other: Version): boolean {
  return one.major < other.major || (one.major === other.major && one.minor < other.minor)
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

async function create(tx: Tx, kind: DatabaseKind, { tables, indexes }: Schema): Promise<void> {
  await run(tx, kind, [...tables, ...indexes])
  await tx
    .insertInto('meta')
    .values([
      { name: 'revision', value: '0' },
      { name: 'instance_id', value: randomUUID() },
      { name: 'schema_version', value: '' },
    ])
    .execute()
}

async function setVersion(tx: Tx, version: Version): Promise<void> {
  await tx
    .updateTable('meta')
    .set({ value: textOf(version) })
    .where('name', '=', 'schema_version')
    .execute()
}
