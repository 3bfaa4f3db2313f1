// Opens the database that a URL names and brings it to this release's schema: SQLite in its own thread, or a pool of
// connections to PostgreSQL. Whatever keeps it from opening becomes one line that says what to do, without passwords.
import { createHmac } from 'node:crypto'
import { closeSync, existsSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { StoreError } from './database/errors.ts'
import { migrate, schemaState } from './database/migrate.ts'
import type { Author, PostgresStore, SqliteStore, Store } from './database/store.ts'
import { IntegerPlugin } from './database/tables.ts'
import type { Tables } from './database/tables.ts'
import { describeDatabaseUrl, sqlitePath } from './database/url.ts'
import { connectPool, inspectServer, postgresError, withoutTimeout } from './postgres/pool.ts'
import { makeFolder, sqliteError, watchFiles } from './sqlite/files.ts'
import { sqliteDialect, SqliteThread } from './sqlite/thread.ts'

export type StoreOptions = {
  readonly clock: Clock
  /** In whose name changes are recorded. */
  readonly author?: Author
  readonly purpose?: Purpose
  /** Modules whose `handlers` the SQLite thread loads (ThreadHandlers); PostgreSQL has no such thread. */
  readonly threadModules?: readonly URL[]
  /** The SQLite thread has ended, or its file is no longer the database: it will not be reached again. */
  readonly onLost?: (why: Error) => void
}

/**
 * To create it where there is none, to change it, or to look, which leaves an older schema as it is. To inspect or to
 * replace it: whatever its schema, if it has one; the latter also where there is no database.
 */
export type Purpose = 'create' | 'change' | 'look' | 'inspect' | 'replace'

const CREATING: readonly Purpose[] = ['create', 'replace']
const WITH_ANY_SCHEMA: readonly Purpose[] = ['inspect', 'replace']

const DEFAULTS: Required<Omit<StoreOptions, 'clock'>> = {
  author: { actor: 'tollgate', source: 'cli', address: null, requestId: null },
  purpose: 'create',
  threadModules: [],
  onLost: () => {},
}

/** `sqlite:PATH` or `postgres://…`. */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  const path = sqlitePath(url)
  const full = { ...DEFAULTS, ...options }
  if (path !== undefined) return openSqlite(path, full)
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, full)
  throw new StoreError(
    'invalid_url',
    'the database must be sqlite:PATH or postgres://USER@HOST/NAME (TOLLGATE_DATABASE or `database` in tollgate.yaml)',
  )
}

async function openSqlite(
  path: string,
  { clock, author, purpose, threadModules, onLost }: Required<StoreOptions>,
): Promise<SqliteStore> {
  if (path === '')
    throw new StoreError('invalid_url', 'sqlite: needs a path, as in sqlite:data/tollgate.db')
  const file = resolve(path)
  if (!CREATING.includes(purpose) && !existsSync(file)) throw noDatabase(file)
  try {
    makeFolder(dirname(file))
    // SQLite would let everyone read a new file; its log gets the mode of the database. Only a new one: closing a file
    // gives up all locks that this process has on it, including those of a store that has it open.
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
    const modules = threadModules.map((url) => url.href)
    const isReader = purpose === 'look'
    const thread = await SqliteThread.open({ path: file, modules, isReader }, onLost)
    const db = new Kysely<Tables>({
      dialect: sqliteDialect(thread),
      plugins: [new IntegerPlugin()],
    })
    let stopWatching = (): void => {}
    const store: SqliteStore = {
      kind: 'sqlite',
      file,
      author,
      scope: 'everywhere',
      db,
      clock,
      inThread: thread.inThread.bind(thread),
      close: () => {
        stopWatching()
        return db.destroy()
      },
    }
    await ready(store, { database: file, purpose })
    // Only now: the files beside a new database come with its first write, which one without a schema has not had.
    if (!WITH_ANY_SCHEMA.includes(purpose))
      stopWatching = watchFiles(file, (why) => thread.lose(why))
    return store
  } catch (error) {
    throw sqliteError(file, error)
  }
}

async function openPostgres(
  url: string,
  { clock, author, purpose }: Required<StoreOptions>,
): Promise<PostgresStore> {
  const { pool, db } = connectPool(url)
  try {
    const close = (): Promise<void> => db.destroy()
    const store: PostgresStore = {
      ...{ kind: 'postgres', author, scope: 'everywhere', db, pool, clock, close },
    }
    return await ready(store, { database: describeDatabaseUrl(url), purpose })
  } catch (error) {
    throw postgresError(url, error)
  }
}

async function ready<Opened extends Store>(
  store: Opened,
  { database, purpose }: { readonly database: string; readonly purpose: Purpose },
): Promise<Opened> {
  try {
    if (store.kind === 'postgres') await inspectServer(store.pool)
    if (WITH_ANY_SCHEMA.includes(purpose)) return store
    const schema = await schemaState(store.db, store.kind)
    if (schema.state === 'none' && purpose !== 'create') throw noTables(database)
    if (schema.state === 'older' && purpose === 'look') throw olderSchema(database, schema)
    if (schema.state !== 'current') await migrateStore(store)
    // Changes no row, but fails here and not at the first request if the database cannot be written.
    await store.db.updateTable('meta').set({ value: '' }).where('name', '=', '').execute()
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

async function migrateStore(store: Store): Promise<void> {
  if (store.kind === 'sqlite') return migrate(store.db, store.kind)
  // A step over millions of rows, or the wait for another node's migration, may be silent for any length of time.
  const db = withoutTimeout(store.pool)
  try {
    await migrate(db, store.kind)
  } finally {
    await db.destroy()
  }
}

/** For callers that must not create a database just because the address is wrong. */
function noDatabase(database: string): StoreError {
  const message = `there is no database at ${database}: ${NAME_ANOTHER}, or create it with ${CREATORS}`
  return new StoreError('no_database', message)
}

function noTables(database: string): StoreError {
  const message = `the database at ${database} has no tables of Tollgate: ${NAME_ANOTHER}, or create them with ${CREATORS}`
  return new StoreError('no_tables', message)
}

const NAME_ANOTHER = 'name another with --config, TOLLGATE_DATABASE or `database` in tollgate.yaml'
const CREATORS = '`tollgate serve` or `tollgate keys create`'

function olderSchema(
  database: string,
  { version, newest }: { readonly version: string; readonly newest: string },
): StoreError {
  const message = `the database at ${database} has schema ${version}, but this Tollgate needs ${newest}: start this version to migrate it, or use the version that serves it now`
  return new StoreError('older_schema', message)
}

/** In `meta`: a mark of the secret, from which the secret cannot be derived. */
const SECRET_MARK = 'secret_mark'

/** Another secret opens nothing that was sealed. False on SQLite, whose one node may change it; others must agree. */
export async function agreeOnSecret(store: Store, secret: string): Promise<boolean> {
  const mark = markOf(secret)
  await store.db
    .insertInto('meta')
    .values({ name: SECRET_MARK, value: mark })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { value } = await store.db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', SECRET_MARK)
    .executeTakeFirstOrThrow()
  if (value === mark) return true
  if (store.kind === 'sqlite') {
    await store.db
      .updateTable('meta')
      .set({ value: mark })
      .where('name', '=', SECRET_MARK)
      .execute()
    return false
  }
  const message = `TOLLGATE_SECRET is not the one that this database was served with before: set the same on every node (to change it for good, stop them all and run: DELETE FROM meta WHERE name = '${SECRET_MARK}')`
  throw new StoreError('wrong_secret', message)
}

/** The same question for those who only look: undefined if no secret has served this database yet. */
export async function isSecretOf(store: Store, secret: string): Promise<boolean | undefined> {
  const found = await store.db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', SECRET_MARK)
    .executeTakeFirst()
  return found && found.value === markOf(secret)
}

function markOf(secret: string): string {
  return createHmac('sha256', secret).update('tollgate secret').digest('hex').slice(0, 16)
}
