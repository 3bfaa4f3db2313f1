// The serving thread's end of the SQLite worker: questions go out, answers come back in the same order.
// While one caller has a transaction open the questions of all others wait here, first come, first served.
import { Worker } from 'node:worker_threads'

import type {
  QueryAnswer,
  SqlValue,
  WorkerOptions,
  WorkerReply,
  WorkerRequest,
} from './sqlite-worker.ts'

/** A transaction is a few statements; one that is open this long waits for something it keeps from running. */
const TRANSACTION_MS_MAX = 10_000

/** The right to speak inside the open transaction. */
export type Turn = { isOver: boolean; deadline?: NodeJS.Timeout }

type Caller = {
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

type Question = Caller & { readonly request: WorkerRequest; readonly turn: Turn | null }

export class SqliteThread {
  readonly #worker: Worker
  /** Asked and not yet answered. */
  readonly #asked: Caller[] = []
  /** Waiting for the open transaction to end. */
  readonly #waiting: Question[] = []
  #turn: Turn | null = null
  #failure: unknown

  static async open(options: WorkerOptions): Promise<SqliteThread> {
    const { promise: opened, resolve, reject } = Promise.withResolvers<unknown>()
    const thread = new SqliteThread(options, { resolve, reject })
    try {
      await opened
    } catch (error) {
      await thread.#worker.terminate()
      throw error
    }
    return thread
  }

  private constructor(options: WorkerOptions, opening: Caller) {
    // The worker lies beside this file and has its ending: .ts in a checkout, .js in the package.
    const file = import.meta.url.replace(/sqlite-thread(\.[jt]s)$/, 'sqlite-worker$1')
    this.#worker = new Worker(new URL(file), { name: 'sqlite', workerData: options })
    // The worker's first message says whether it could open the file, without being asked.
    this.#asked.push(opening)
    this.#worker.on('message', (reply: WorkerReply) => this.#answer(reply))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('the SQLite thread has ended')))
  }

  async query(
    sql: string,
    parameters: readonly SqlValue[],
    turn: Turn | null,
  ): Promise<QueryAnswer> {
    return (await this.#ask({ type: 'query', sql, parameters }, turn)) as QueryAnswer
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
    turn.deadline = setTimeout(() => {
      this.end(turn, 'rollback').catch((error: unknown) => this.#fail(error))
    }, TRANSACTION_MS_MAX)
    turn.deadline.unref()
    return turn
  }

  async end(turn: Turn, how: 'commit' | 'rollback'): Promise<void> {
    // A failed commit has been rolled back by the worker already.
    if (how === 'rollback' && turn.isOver) return
    const answer = this.#ask({ type: how }, turn)
    // The worker leaves no transaction open behind this message, so the next question may follow it at once.
    this.#endTurn(turn)
    await answer
  }

  /** Runs a handler of one of the worker's modules as one transaction. */
  inWorker(name: string, argument: unknown): Promise<unknown> {
    return this.#ask({ type: 'call', name, argument }, null)
  }

  async close(): Promise<void> {
    await this.#ask({ type: 'close' }, null)
    await this.#worker.terminate()
  }

  #ask(request: WorkerRequest, turn: Turn | null): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const question: Question = { request, turn, resolve, reject }
    if (this.#failure !== undefined) reject(this.#failure)
    else if (turn?.isOver)
      reject(new Error('this transaction was rolled back: it was open too long'))
    else if (this.#turn === null || this.#turn === turn) this.#post(question)
    else this.#waiting.push(question)
    return promise
  }

  #post(question: Question): void {
    if (question.request.type === 'begin') this.#turn = question.turn
    // Only an open question keeps the process alive: a command that failed before it could close still ends.
    this.#worker.ref()
    this.#asked.push(question)
    this.#worker.postMessage(question.request)
  }

  #endTurn(turn: Turn): void {
    turn.isOver = true
    clearTimeout(turn.deadline)
    if (this.#turn !== turn) return
    this.#turn = null
    while (this.#turn === null) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#post(next)
    }
  }

  #answer(reply: WorkerReply): void {
    const caller = this.#asked.shift()
    if (this.#asked.length === 0) this.#worker.unref()
    if ('value' in reply) caller?.resolve(reply.value)
    else if (!(reply.error instanceof Error) || reply.errcode === undefined)
      caller?.reject(reply.error)
    else caller?.reject(Object.assign(reply.error, { errcode: reply.errcode }))
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    for (const caller of [...this.#asked.splice(0), ...this.#waiting.splice(0)])
      caller.reject(error)
  }
}
