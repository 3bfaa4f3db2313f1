// The thread that owns the SQLite connection, and the only caller of node:sqlite: a commit waits for the disk and
// for other processes, and the thread that serves streams must wait for neither.
// Requests are carried out in the order they came. Handlers of other folders run here too, each in one transaction.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import { systemClock } from '../../core/clock.ts'
import { WITHOUT_JOURNALS } from './journal.ts'

export type ThreadOptions = {
  readonly path: string
  /** Modules that export what a WorkerModule has. */
  readonly modules: readonly string[]
  /** Its transactions only read: each sees one moment for as long as it lasts, and keeps no writer waiting. */
  readonly isReader: boolean
}

/** `bell` counts the requests posted so far: the thread sleeps on it. */
export type ThreadData = ThreadOptions & { readonly bell: Int32Array }

/** Runs between BEGIN IMMEDIATE and COMMIT; throwing rolls back. Integers are read as bigint, unless told otherwise. */
export type ThreadHandler = (db: DatabaseSync, argument: never) => unknown
export type ThreadHandlers = Readonly<Record<string, ThreadHandler>>

type WorkerModule = {
  readonly handlers: ThreadHandlers
  /** Something other than its handlers may have written, or what a handler wrote was rolled back. */
  readonly onForeignWrite?: () => void
  /** What a handler wrote is durable. */
  readonly onCommit?: () => void
  /** Names the handler that must run before others read, if one must. */
  readonly isBehind?: (db: DatabaseSync) => string | undefined
}

export type SqlValue = null | number | bigint | string | Uint8Array

type WorkerQuery = {
  readonly type: 'query'
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  readonly isInTransaction: boolean
}

export type ThreadRequest =
  | WorkerQuery
  | { readonly type: 'begin' }
  | { readonly type: 'commit' }
  | { readonly type: 'rollback' }
  | { readonly type: 'call'; readonly name: string; readonly argument: unknown }
  | { readonly type: 'close' }

/** `errcode` is SQLite's extended result code, which cloning an Error would drop. */
export type ThreadReply =
  | { readonly value: unknown }
  | { readonly error: unknown; readonly errcode: number | undefined }

export type QueryReply = {
  readonly rows: readonly Record<string, unknown>[]
  /** Rows written, for statements that return none. */
  readonly changes: bigint | undefined
}

const SETTINGS = [
  // SQLite's own waiting sleeps longer and longer, so a busy process starves every other one for seconds.
  'PRAGMA busy_timeout = 0',
  'PRAGMA foreign_keys = ON',
  'PRAGMA synchronous = FULL',
  'PRAGMA journal_mode = WAL',
  // A long read keeps the log from being reused; the limit gives the disk back afterwards.
  'PRAGMA journal_size_limit = 67108864',
]

const SQLITE_ERROR = 1
const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
const BUSY_RETRY_MS = 0.1
const BUSY_DEADLINE_MS = 10_000
const STATEMENTS_MAX = 500

/** Whether it returns rows is asked once: the answer describes every column. */
type Prepared = { readonly statement: StatementSync; readonly returnsRows: boolean }

let isReader = false
const statements = new Map<string, Prepared>()
const workerModules: WorkerModule[] = []
const sleeper = new Int32Array(new SharedArrayBuffer(4))

function main(): void {
  const port = parentPort
  if (port === null) return
  const { bell, ...options } = workerData as ThreadData
  const opened = open(options)
  opened.then(
    ({ db, handlers }) => {
      port.postMessage({ value: undefined } satisfies ThreadReply)
      answerAll(port, bell, (request) => reply(db, handlers, request))
      port.close()
    },
    (error: unknown) => post(port, failure(error)),
  )
}

/**
 * Until the thread is closed. It sleeps on shared memory, not in an event loop: there, each request took two more polls,
 * an event, and a wait for the lock that the sender still had when it woke this thread.
 */
function answerAll(
  port: MessagePort,
  bell: Int32Array,
  answer: (request: ThreadRequest) => ThreadReply,
): void {
  for (;;) {
    // Read before the requests are: whatever is posted from now on has rung when this thread goes to sleep.
    const rung = Atomics.load(bell, 0)
    for (let next = take(port); next !== undefined; next = take(port)) {
      post(port, answer(next))
      if (next.type === 'close') return
    }
    Atomics.wait(bell, 0, rung)
  }
}

function take(port: MessagePort): ThreadRequest | undefined {
  const received: { readonly message: ThreadRequest } | undefined = receiveMessageOnPort(port)
  return received?.message
}

/** A value that cannot be sent is a mistake of its handler, and no reason to lose the thread. */
function post(port: MessagePort, message: ThreadReply): void {
  try {
    port.postMessage(message)
  } catch (error) {
    const why = `this value cannot leave the SQLite thread: ${String(error)}`
    port.postMessage(failure(new Error(why)))
  }
}

async function open(options: ThreadOptions): Promise<{
  db: DatabaseSync
  handlers: Map<string, ThreadHandler>
}> {
  const handlers = new Map<string, ThreadHandler>()
  for (const url of options.modules) {
    const module = (await import(url)) as WorkerModule
    workerModules.push(module)
    for (const [name, handler] of Object.entries(module.handlers)) handlers.set(name, handler)
  }
  isReader = options.isReader
  const db = new DatabaseSync(options.path, { readBigInts: true })
  for (const setting of SETTINGS) whenFree(() => db.exec(setting))
  return { db, handlers }
}

function reply(
  db: DatabaseSync,
  handlers: Map<string, ThreadHandler>,
  request: ThreadRequest,
): ThreadReply {
  try {
    switch (request.type) {
      case 'query':
        if (!request.isInTransaction && !request.sql.startsWith(WITHOUT_JOURNALS))
          catchUp(db, handlers)
        if (!READ.test(request.sql)) announceForeignWrite()
        return { value: whenFree(() => query(db, request)) }
      case 'begin':
        catchUp(db, handlers)
        return { value: begin(db) }
      case 'commit':
        return { value: commit(db) }
      case 'rollback':
        return { value: rollback(db) }
      case 'call':
        return { value: call(db, handlers.get(request.name), request) }
      case 'close':
        return { value: db.close() }
    }
  } catch (error) {
    return failure(error)
  }
}

/**
 * Where this fails, as on a full disk, a node goes on with what may be a moment old, and finds out with its next batch.
 * Whoever only looks would never find out, and would report, check or back up books that lack what is in the journal.
 */
function catchUp(db: DatabaseSync, handlers: Map<string, ThreadHandler>): void {
  for (const module of workerModules) {
    const name = behind(module, db)
    if (name === undefined) continue
    try {
      call(db, handlers.get(name), { name, argument: null })
    } catch (error) {
      if (isReader) throw error
    }
  }
}

function behind({ isBehind }: WorkerModule, db: DatabaseSync): string | undefined {
  try {
    return isBehind?.(db)
  } catch (error) {
    // A database without tables is not behind either.
    if (!isReader || errcodeOf(error) === SQLITE_ERROR) return undefined
    throw error
  }
}

function query(db: DatabaseSync, { sql, parameters, isInTransaction }: WorkerQuery): QueryReply {
  // Some errors, such as a full disk, roll back the transaction; its later statements must not be committed alone.
  if (isInTransaction && !db.isTransaction) throw new Error('this transaction was rolled back')
  const { statement, returnsRows } = prepare(db, sql)
  if (returnsRows) return { rows: statement.all(...parameters), changes: undefined }
  return { rows: [], changes: BigInt(statement.run(...parameters).changes) }
}

/** Cached, because parsing costs as much as running a small statement; when there are too many, the oldest goes. */
function prepare(db: DatabaseSync, sql: string): Prepared {
  const known = statements.get(sql)
  if (known !== undefined) return known
  const statement = db.prepare(sql)
  const prepared = { statement, returnsRows: statement.columns().length > 0 }
  const [oldest] = statements.keys()
  if (oldest !== undefined && statements.size >= STATEMENTS_MAX) statements.delete(oldest)
  statements.set(sql, prepared)
  return prepared
}

function call(
  db: DatabaseSync,
  handler: ThreadHandler | undefined,
  request: { readonly name: string; readonly argument: unknown },
): unknown {
  if (handler === undefined) throw new Error(`no thread module has a handler "${request.name}"`)
  begin(db, 'BEGIN IMMEDIATE')
  try {
    const value = handler(db, request.argument as never)
    commit(db)
    for (const { onCommit } of workerModules) onCommit?.()
    return value
  } catch (error) {
    rollback(db)
    announceForeignWrite()
    throw error
  }
}

const READ = /^(?:\/\*.*?\*\/)?\s*(?:select|pragma)\b/i

function announceForeignWrite(): void {
  for (const { onForeignWrite } of workerModules) onForeignWrite?.()
}

/** IMMEDIATE takes the write lock at once: a transaction that read first could not wait for it later. */
function begin(db: DatabaseSync, how = isReader ? 'BEGIN' : 'BEGIN IMMEDIATE'): void {
  whenFree(() => prepare(db, how).statement.get())
}

/** Whether it succeeds or fails, no transaction is open afterwards. */
function commit(db: DatabaseSync): void {
  try {
    whenFree(() => prepare(db, 'COMMIT').statement.get())
  } catch (error) {
    rollback(db)
    throw error
  }
}

/** Nothing to do where an error has rolled back already. */
function rollback(db: DatabaseSync): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}

/** Tries until no other process has the lock. */
function whenFree<Result>(action: () => Result): Result {
  let deadline: number | undefined
  for (;;) {
    try {
      return action()
    } catch (error) {
      const isBusy = ((errcodeOf(error) ?? 0) & 0xff) === SQLITE_BUSY
      const now = systemClock.monotonicMs()
      deadline ??= now + BUSY_DEADLINE_MS
      if (!isBusy || now >= deadline) throw error
      Atomics.wait(sleeper, 0, 0, BUSY_RETRY_MS)
    }
  }
}

/** A file beside the database that cannot be read or written is as bad as the database's own: it is tried again. */
function failure(error: unknown): ThreadReply {
  const isOfFile = error instanceof Error && 'syscall' in error
  return { error, errcode: errcodeOf(error) ?? (isOfFile ? SQLITE_IOERR : undefined) }
}

function errcodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

main()
