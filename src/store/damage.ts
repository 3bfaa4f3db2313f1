// Is the database itself damaged, as by a failing disk? SQLite always says, PostgreSQL where its extension amcheck is
// installed. Reads only, alongside running servers.
import { sql } from 'kysely'
import { codeOf, messageOf } from '../core/errors.ts'
import { sqliteCodeOf } from './database/errors.ts'
import type { PostgresStore, SqliteStore, Store } from './database/store.ts'

type Damage = {
  /** What is damaged, a line each. */
  readonly faults: readonly string[]
  /** What this cannot see, or could not look at, a line each. */
  readonly notChecked: readonly string[]
}

const FAULTS_MAX = 100
const NO_CHECKSUMS = 'whether texts say what was written: only a backup can tell'

export function findDamage(store: Store): Promise<Damage> {
  return store.kind === 'sqlite' ? quickCheck(store) : amcheck(store)
}

/** SQLite's result codes for a damaged file: CORRUPT, NOTADB. */
const SQLITE_DAMAGE = new Set([11, 26])

/** Walks over every page, unlike a query, which reads only what it needs. */
async function quickCheck({ db }: SqliteStore): Promise<Damage> {
  const notChecked = [
    'whether each index agrees with its table: `PRAGMA integrity_check` of sqlite3 does that, and takes longer',
    NO_CHECKSUMS,
  ]
  try {
    const check = sql<{ readonly quick_check: string }>`PRAGMA quick_check(${sql.lit(FAULTS_MAX)})`
    const { rows } = await check.execute(db)
    const faults = rows.flatMap(({ quick_check: line }) => (line === 'ok' ? [] : line.split('\n')))
    return { faults, notChecked }
  } catch (error) {
    if (!SQLITE_DAMAGE.has(sqliteCodeOf(error) ?? 0)) throw error
    return { faults: [messageOf(error)], notChecked }
  }
}

type Relation = { readonly oid: number; readonly name: string; readonly kind: 'table' | 'index' }

async function amcheck(store: PostgresStore): Promise<Damage> {
  const schema = await amcheckSchema(store)
  if (schema === undefined) {
    const how = 'a superuser can install amcheck for this user, as docs/operating/back-up.md says'
    return { faults: [], notChecked: [`whether PostgreSQL's files are damaged: ${how}`] }
  }
  const faults: string[] = []
  const notChecked = [NO_CHECKSUMS]
  for (const relation of await relationsOf(store)) {
    const where = `${relation.kind} ${relation.name}`
    try {
      for (const fault of await faultsOf(store, schema, relation)) faults.push(`${where}: ${fault}`)
    } catch (error) {
      const code = codeOf(error) ?? ''
      if (POSTGRES_DAMAGE.test(code)) faults.push(`${where}: ${messageOf(error)}`)
      else if (code === STATEMENT_TIMEOUT) notChecked.push(`${where}: it takes too long`)
      else throw error
    }
  }
  return { faults: faults.slice(0, FAULTS_MAX), notChecked }
}

/** Data and index corrupted. */
const POSTGRES_DAMAGE = /^XX00[12]$/
const STATEMENT_TIMEOUT = '57014'

/** Where the functions are; undefined when they are not installed, or this user may not call both. */
async function amcheckSchema({ db }: PostgresStore): Promise<string | undefined> {
  const { rows } = await sql<{ readonly schema: string; readonly usable: number }>`
    SELECT namespace.nspname AS schema, count(DISTINCT proc.proname)::int AS usable
    FROM pg_proc AS proc JOIN pg_namespace AS namespace ON namespace.oid = proc.pronamespace
    WHERE proc.proname IN ('verify_heapam', 'bt_index_check')
      AND has_function_privilege(proc.oid, 'EXECUTE') AND has_schema_privilege(namespace.oid, 'USAGE')
    GROUP BY namespace.nspname`.execute(db)
  return rows.find(({ usable }) => usable === 2)?.schema
}

async function relationsOf({ db }: PostgresStore): Promise<readonly Relation[]> {
  const { rows } = await sql<Relation>`
    SELECT class.oid::int8 AS oid, class.relname AS name,
      CASE class.relkind WHEN 'r' THEN 'table' ELSE 'index' END AS kind
    FROM pg_class AS class
      JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
      JOIN pg_am AS method ON method.oid = class.relam
      LEFT JOIN pg_index AS index ON index.indexrelid = class.oid
    WHERE namespace.nspname = current_schema() AND (class.relkind = 'r'
      OR class.relkind = 'i' AND method.amname = 'btree' AND index.indisvalid)
    ORDER BY class.relkind, class.relname`.execute(db)
  return rows
}

async function faultsOf(
  { db }: PostgresStore,
  schema: string,
  { oid, kind }: Relation,
): Promise<readonly string[]> {
  const call = (name: string) => sql.ref(`${schema}.${name}`)
  const relation = sql`${sql.lit(String(oid))}::regclass`
  if (kind === 'index') {
    await sql`SELECT ${call('bt_index_check')}(${relation}, true)`.execute(db)
    return []
  }
  const { rows } = await sql<{ readonly msg: string; readonly blkno: number }>`
    SELECT blkno::int8 AS blkno, msg FROM ${call('verify_heapam')}(${relation})
    LIMIT ${sql.lit(FAULTS_MAX)}`.execute(db)
  return rows.map(({ blkno, msg }) => `page ${blkno}: ${msg}`)
}
