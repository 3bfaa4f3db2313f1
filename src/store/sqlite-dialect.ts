// Kysely's view of the SQLite thread. Connections are only places to remember a transaction: there is one real
// connection, in the worker, and SqliteThread decides whose statement reaches it.
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'

import type { SqliteThread, Turn } from './sqlite-thread.ts'
import type { SqlValue } from './sqlite-worker.ts'

export function sqliteDialect(thread: SqliteThread): Dialect {
  return {
    createAdapter: () => new ThreadAdapter(),
    createDriver: () => new ThreadDriver(thread),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class ThreadAdapter extends SqliteAdapter {
  /** Otherwise Kysely would make a query wait for every other query, not only for transactions. */
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class ThreadDriver implements Driver {
  readonly #thread: SqliteThread

  constructor(thread: SqliteThread) {
    this.#thread = thread
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new ThreadConnection(this.#thread)
  }

  async beginTransaction(connection: ThreadConnection): Promise<void> {
    await connection.begin()
  }

  async commitTransaction(connection: ThreadConnection): Promise<void> {
    await connection.end('commit')
  }

  async rollbackTransaction(connection: ThreadConnection): Promise<void> {
    await connection.end('rollback')
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#thread.close()
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #thread: SqliteThread
  #turn: Turn | null = null

  constructor(thread: SqliteThread) {
    this.#thread = thread
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const parameters = query.parameters as readonly SqlValue[]
    const { rows, changes } = await this.#thread.query(query.sql, parameters, this.#turn)
    return { rows: rows as Row[], ...(changes !== undefined && { numAffectedRows: changes }) }
  }

  // An open cursor would keep the log from being reused for as long as its reader takes; long reads go page by page.
  // oxlint-disable-next-line require-yield -- Kysely wants a generator, and this one has nothing to give
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('rows are not streamed from SQLite: read them page by page')
  }

  async begin(): Promise<void> {
    this.#turn = await this.#thread.begin()
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    if (this.#turn !== null) await this.#thread.end(this.#turn, how)
  }
}
