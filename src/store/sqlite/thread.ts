// The serving thread's end of the SQLite thread: requests go out, replies come back in the same order. While one caller
// has a transaction open the requests of all others wait here, first come, first served. Below, Kysely's view of it.
import { Worker } from 'node:worker_threads'
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
import { messageOf } from '../../core/errors.ts'
import { moduleBeside } from '../../core/runtime.ts'
import { ThreadLost } from '../database/outage.ts'
import type {
  QueryReply,
  SqlValue,
  ThreadData,
  ThreadOptions,
  ThreadReply,
  ThreadRequest,
} from './connection.ts'

/** An open transaction that is silent for this long waits for something that it blocks itself; readers block nothing. */
const SILENCE_MS_MAX = 10_000

/** The right to send statements inside the open transaction. */
type OpenTransaction = { isOver: boolean; silence?: NodeJS.Timeout }

type PendingRequest = {
  readonly request: ThreadRequest | null
  readonly transaction: OpenTransaction | null
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

export class SqliteThread {
  readonly #worker: Worker
  readonly #isReader: boolean
  /** Rung after each request: the thread sleeps on it. */
  readonly #bell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** Sent, and not yet replied to. */
  readonly #sent: PendingRequest[] = []
  /** Waiting for the open transaction to end. */
  readonly #waiting: PendingRequest[] = []
  #transaction: OpenTransaction | null = null
  #failure: ThreadLost | undefined
  #onLost = (_why: ThreadLost): void => {}

  /** `onLost` is called once when the thread ends without having been closed; from then on every request fails. */
  static async open(
    options: ThreadOptions,
    onLost: (why: ThreadLost) => void,
  ): Promise<SqliteThread> {
    const { promise: opened, resolve, reject } = Promise.withResolvers<unknown>()
    // The thread's first message comes unasked, and says whether it could open the file.
    const opening = { request: null, transaction: null, resolve, reject }
    const thread = new SqliteThread(options, opening)
    try {
      await opened
    } catch (error) {
      await thread.#worker.terminate()
      throw error
    }
    thread.#onLost = onLost
    return thread
  }

  private constructor(options: ThreadOptions, opening: PendingRequest) {
    this.#isReader = options.isReader
    this.#worker = new Worker(moduleBeside(import.meta.url, 'connection'), {
      name: 'sqlite',
      workerData: { ...options, bell: this.#bell } satisfies ThreadData,
      // Node would close what modules have open there when the thread ends, and with one file of the database all locks
      // that this process has on it (`ChangeCounter`).
      trackUnmanagedFds: false,
      // Next to nothing outlives a batch, so frequent collections cost little; V8 would let this heap grow to 48 MB.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
    })
    this.#sent.push(opening)
    this.#worker.on('message', (reply: ThreadReply) => this.#receive(reply))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', (code) => this.#fail(`exit code ${code}`))
  }

  async query(
    sql: string,
    parameters: readonly SqlValue[],
    transaction: OpenTransaction | null,
  ): Promise<QueryReply> {
    const isInTransaction = transaction !== null
    return (await this.#send(
      { type: 'query', sql, parameters, isInTransaction },
      transaction,
    )) as QueryReply
  }

  /** Waits for the open transaction, if any, then for other processes. */
  async begin(): Promise<OpenTransaction> {
    const transaction: OpenTransaction = { isOver: false }
    try {
      await this.#send({ type: 'begin' }, transaction)
    } catch (error) {
      this.#endTransaction(transaction)
      throw error
    }
    return transaction
  }

  async end(transaction: OpenTransaction, how: 'commit' | 'rollback'): Promise<void> {
    // A failed commit has been rolled back by the thread already.
    if (how === 'rollback' && transaction.isOver) return
    const reply = this.#send({ type: how }, transaction)
    // The thread has no transaction open after this message, so the next request may follow it at once.
    this.#endTransaction(transaction)
    await reply
  }

  /** Runs a handler of one of the thread's modules as one transaction. */
  inThread(name: string, argument: unknown): Promise<unknown> {
    return this.#send({ type: 'call', name, argument }, null)
  }

  async close(): Promise<void> {
    if (this.#failure !== undefined) return
    // Node reports the thread's last reply and its end together, before the code that awaits the reply runs on.
    this.#onLost = () => {}
    await this.#send({ type: 'close' }, null)
    this.#failure = new ThreadLost('the SQLite thread has ended: the store was closed')
    await this.#worker.terminate()
  }

  /** For when the file that the thread has open is no longer the database. */
  lose(why: string): void {
    this.#fail(why)
    void this.#worker.terminate()
  }

  #send(request: ThreadRequest, transaction: OpenTransaction | null): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const pending: PendingRequest = { request, transaction, resolve, reject }
    if (this.#failure !== undefined) reject(this.#failure)
    else if (transaction?.isOver)
      reject(new Error('this transaction was rolled back: it said nothing for too long'))
    else if (this.#transaction === null || this.#transaction === transaction) this.#post(pending)
    else this.#waiting.push(pending)
    return promise
  }

  #post(pending: PendingRequest): void {
    try {
      // Before it joins #sent: a request that cannot be sent gets no reply, and must not take another's.
      this.#worker.postMessage(pending.request)
      Atomics.add(this.#bell, 0, 1)
      Atomics.notify(this.#bell, 0)
    } catch (error) {
      pending.reject(error)
      return
    }
    if (pending.request?.type === 'begin') this.#transaction = pending.transaction
    clearTimeout(pending.transaction?.silence)
    // Only an open request keeps the process alive: a command that failed before it could close still ends.
    this.#worker.ref()
    this.#sent.push(pending)
  }

  #endTransaction(transaction: OpenTransaction): void {
    transaction.isOver = true
    clearTimeout(transaction.silence)
    if (this.#transaction !== transaction) return
    this.#transaction = null
    while (this.#transaction === null) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#post(next)
    }
  }

  #receive(reply: ThreadReply): void {
    const pending = this.#sent.shift()
    if (pending === undefined) return
    if (this.#sent.length === 0) this.#worker.unref()
    if (pending.transaction !== null && pending.transaction === this.#transaction)
      this.#awaitMore(pending.transaction)
    if ('value' in reply) pending.resolve(reply.value)
    else if (!(reply.error instanceof Error) || reply.errcode === undefined)
      pending.reject(reply.error)
    else pending.reject(Object.assign(reply.error, { errcode: reply.errcode }))
  }

  #awaitMore(transaction: OpenTransaction): void {
    if (this.#isReader) return
    transaction.silence = setTimeout(() => {
      this.end(transaction, 'rollback').catch((error: unknown) => this.#fail(error))
    }, SILENCE_MS_MAX)
    transaction.silence.unref()
  }

  #fail(cause: unknown): void {
    if (this.#failure !== undefined) return
    const lost = new ThreadLost(`the SQLite thread has ended: ${messageOf(cause)}`, { cause })
    this.#failure = lost
    for (const { reject } of [...this.#sent.splice(0), ...this.#waiting.splice(0)]) reject(lost)
    this.#onLost(lost)
  }
}

/** For Kysely. Its connections only remember a transaction: SqliteThread decides whose statement comes next. */
export function sqliteDialect(thread: SqliteThread): Dialect {
  return {
    createAdapter: () => new ThreadAdapter(),
    createDriver: () => threadDriver(thread),
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

function threadDriver(thread: SqliteThread): Driver {
  const end = async ({ transaction }: ThreadConnection, how: 'commit' | 'rollback') => {
    if (transaction !== null) await thread.end(transaction, how)
  }
  return {
    init: async () => {},
    acquireConnection: async () => new ThreadConnection(thread),
    beginTransaction: async (connection: ThreadConnection) => {
      connection.transaction = await thread.begin()
    },
    commitTransaction: (connection: ThreadConnection) => end(connection, 'commit'),
    rollbackTransaction: (connection: ThreadConnection) => end(connection, 'rollback'),
    releaseConnection: async () => {},
    destroy: () => thread.close(),
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #thread: SqliteThread
  transaction: OpenTransaction | null = null

  constructor(thread: SqliteThread) {
    this.#thread = thread
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const parameters = query.parameters as readonly SqlValue[]
    const { rows, changes } = await this.#thread.query(query.sql, parameters, this.transaction)
    return { rows: rows as Row[], ...(changes !== undefined && { numAffectedRows: changes }) }
  }

  /** An open cursor would keep the log from being reused for as long as its reader takes. */
  streamQuery(): never {
    throw new Error('rows are not streamed from SQLite: read them page by page')
  }
}
