// The serving thread's end of the SQLite worker: questions go out, answers come back in the same order. While one caller
// has a transaction open the questions of all others wait here, first come, first served. Below, Kysely's view of it.
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
import type { QueryAnswer, SqlValue, WorkerOptions, WorkerReply, WorkerRequest } from './worker.ts'

/** An open transaction that is silent for this long waits for something that it blocks itself. */
const SILENCE_MS_MAX = 10_000

/** The right to send statements inside the open transaction. */
type Turn = { isOver: boolean; silence?: NodeJS.Timeout }

type Question = {
  readonly request: WorkerRequest | null
  readonly turn: Turn | null
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

export class SqliteThread {
  readonly #worker: Worker
  /** Sent and not yet answered. */
  readonly #asked: Question[] = []
  /** Waiting for the open transaction to end. */
  readonly #waiting: Question[] = []
  #turn: Turn | null = null
  #failure: ThreadLost | undefined
  #onLost = (_why: ThreadLost): void => {}

  /** `onLost` is called once when the thread ends without having been closed; from then on every question fails. */
  static async open(
    options: WorkerOptions,
    onLost: (why: ThreadLost) => void,
  ): Promise<SqliteThread> {
    const { promise: opened, resolve, reject } = Promise.withResolvers<unknown>()
    // The worker's first message comes unasked, and says whether it could open the file.
    const opening = { request: null, turn: null, resolve, reject }
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

  private constructor(options: WorkerOptions, opening: Question) {
    this.#worker = new Worker(moduleBeside(import.meta.url, 'worker'), {
      name: 'sqlite',
      workerData: options,
      // Next to nothing outlives a batch, so frequent collections cost little; V8 would let this heap grow to 48 MB.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
    })
    this.#asked.push(opening)
    this.#worker.on('message', (reply: WorkerReply) => this.#answer(reply))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', (code) => this.#fail(`exit code ${code}`))
  }

  async query(
    sql: string,
    parameters: readonly SqlValue[],
    turn: Turn | null,
  ): Promise<QueryAnswer> {
    const isInTransaction = turn !== null
    return (await this.#ask(
      { type: 'query', sql, parameters, isInTransaction },
      turn,
    )) as QueryAnswer
  }

  /** Waits for the open transaction, if any, then for other processes. */
  async begin(): Promise<Turn> {
    const turn: Turn = { isOver: false }
    try {
      await this.#ask({ type: 'begin' }, turn)
    } catch (error) {
      this.#endTurn(turn)
      throw error
    }
    return turn
  }

  async end(turn: Turn, how: 'commit' | 'rollback'): Promise<void> {
    // A failed commit has been rolled back by the worker already.
    if (how === 'rollback' && turn.isOver) return
    const answer = this.#ask({ type: how }, turn)
    // The worker has no transaction open after this message, so the next question may follow it at once.
    this.#endTurn(turn)
    await answer
  }

  /** Runs a handler of one of the worker's modules as one transaction. */
  inWorker(name: string, argument: unknown): Promise<unknown> {
    return this.#ask({ type: 'call', name, argument }, null)
  }

  async close(): Promise<void> {
    if (this.#failure !== undefined) return
    // Node reports the thread's last answer and its end together, before the code that awaits the answer runs on.
    this.#onLost = () => {}
    await this.#ask({ type: 'close' }, null)
    this.#failure = new ThreadLost('the SQLite thread has ended: the store was closed')
    await this.#worker.terminate()
  }

  /** For when the file that the thread has open is no longer the database. */
  lose(why: string): void {
    this.#fail(why)
    void this.#worker.terminate()
  }

  #ask(request: WorkerRequest, turn: Turn | null): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const question: Question = { request, turn, resolve, reject }
    if (this.#failure !== undefined) reject(this.#failure)
    else if (turn?.isOver)
      reject(new Error('this transaction was rolled back: it said nothing for too long'))
    else if (this.#turn === null || this.#turn === turn) this.#post(question)
    else this.#waiting.push(question)
    return promise
  }

  #post(question: Question): void {
    try {
      // Before it joins #asked: a question that cannot be sent gets no answer, and must not take another's.
      this.#worker.postMessage(question.request)
    } catch (error) {
      question.reject(error)
      return
    }
    if (question.request?.type === 'begin') this.#turn = question.turn
    clearTimeout(question.turn?.silence)
    // Only an open question keeps the process alive: a command that failed before it could close still ends.
    this.#worker.ref()
    this.#asked.push(question)
  }

  #endTurn(turn: Turn): void {
    turn.isOver = true
    clearTimeout(turn.silence)
    if (this.#turn !== turn) return
    this.#turn = null
    while (this.#turn === null) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#post(next)
    }
  }

  #answer(reply: WorkerReply): void {
    const question = this.#asked.shift()
    if (question === undefined) return
    if (this.#asked.length === 0) this.#worker.unref()
    if (question.turn !== null && question.turn === this.#turn) this.#awaitMore(question.turn)
    if ('value' in reply) question.resolve(reply.value)
    else if (!(reply.error instanceof Error) || reply.errcode === undefined)
      question.reject(reply.error)
    else question.reject(Object.assign(reply.error, { errcode: reply.errcode }))
  }

  #awaitMore(turn: Turn): void {
    turn.silence = setTimeout(() => {
      this.end(turn, 'rollback').catch((error: unknown) => this.#fail(error))
    }, SILENCE_MS_MAX)
    turn.silence.unref()
  }

  #fail(cause: unknown): void {
    if (this.#failure !== undefined) return
    const lost = new ThreadLost(`the SQLite thread has ended: ${messageOf(cause)}`, { cause })
    this.#failure = lost
    for (const { reject } of [...this.#asked.splice(0), ...this.#waiting.splice(0)]) reject(lost)
    this.#onLost(lost)
  }
}

/**
 * For Kysely. Its connections are only places to remember a transaction: there is one real connection, in the worker,
 * and SqliteThread decides whose statement reaches it.
 */
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
