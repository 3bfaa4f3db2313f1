// Loaded by `--import` before a contender and in each of its threads: marks when a request passes the seams that Node
// and undici have anyway, in one list for all threads. On SIGUSR2 the list is written to the file in BENCH_MARKS.
import { subscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import workerThreads, {
  getEnvironmentData,
  isMainThread,
  MessagePort,
  setEnvironmentData,
  Worker,
} from 'node:worker_threads'
import { MARKS, STAGE_CHANNEL, type MarkName, type Marked } from './names.ts'

/** As many as are kept: the latest. */
const KEPT = 1 << 20
const BYTES = 8

const memory = isMainThread
  ? { count: new SharedArrayBuffer(BYTES), list: new SharedArrayBuffer(2 * KEPT * BYTES) }
  : (getEnvironmentData('bench marks') as Record<'count' | 'list', SharedArrayBuffer>)
const count = new Int32Array(memory.count)
const list = new Float64Array(memory.list)

function mark(name: MarkName): void {
  const place = 2 * (Atomics.add(count, 0, 1) % KEPT)
  // The same clock in every process of the machine.
  list[place] = Number(process.hrtime.bigint()) / 1e6
  list[place + 1] = MARKS.indexOf(name)
}

if (isMainThread) markServing()
else markDatabaseThread()

function markServing(): void {
  setEnvironmentData('bench marks', memory)
  process.on('SIGUSR2', write)
  subscribe('http.server.request.start', () => mark('request'))
  subscribe('undici:client:sendHeaders', () => mark('sent upstream'))
  subscribe('undici:request:headers', () => mark('head'))
  subscribe('undici:request:trailers', () => mark('answer'))
  subscribe(STAGE_CHANNEL, (name) => mark(name as MarkName))
  watch(Worker.prototype, 'postMessage', { before: () => mark('posted') })
  // Its own method from now on: until here every emitter has the same one.
  Reflect.set(Worker.prototype, 'emit', Reflect.get(EventEmitter.prototype, 'emit'))
  watch(Worker.prototype, 'emit', {
    before: (_worker, event) => {
      if (event === 'message') mark('back')
    },
  })
  const databasePort = Number(process.env['BENCH_DATABASE_PORT'])
  const isDatabase = (socket: unknown): boolean =>
    socket instanceof Socket && socket.remotePort === databasePort
  Reflect.set(Socket.prototype, 'emit', Reflect.get(EventEmitter.prototype, 'emit'))
  watch(Socket.prototype, 'emit', {
    before: (socket, event) => {
      if (event === 'data' && isDatabase(socket)) mark('received')
    },
  })
  watch(Socket.prototype, 'write', {
    before: (socket) => {
      if (isDatabase(socket)) mark('written')
    },
  })
}

function markDatabaseThread(): void {
  watch(workerThreads, 'receiveMessageOnPort', {
    after: (message) => {
      if (message !== undefined) mark('taken')
    },
  })
  syncBuiltinESMExports()
  watch(MessagePort.prototype, 'postMessage', { before: () => mark('replied') })
  watch(DatabaseSync.prototype, 'prepare', {
    after: (statement, sql) => {
      if (sql === 'BEGIN IMMEDIATE')
        watch(statement as object, 'get', { after: () => mark('begun') })
      if (sql === 'COMMIT') {
        const after = (): void => mark('committed')
        watch(statement as object, 'get', { before: () => mark('decided'), after })
      }
    },
  })
}

type Watcher = {
  readonly before?: (self: unknown, argument: unknown) => void
  readonly after?: (result: unknown, argument: unknown) => void
}

/** Puts something before and after each call of a method. */
function watch(owner: object, name: string, { before, after }: Watcher): void {
  const method = Reflect.get(owner, name) as (...words: readonly unknown[]) => unknown
  Reflect.set(owner, name, function (this: unknown, ...words: readonly unknown[]): unknown {
    before?.(this, words[0])
    const result = Reflect.apply(method, this, words)
    after?.(result, words[0])
    return result
  })
}

function write(): void {
  const all = Atomics.load(count, 0)
  const kept = Array.from({ length: Math.min(all, KEPT) }, (_, index): Marked => {
    const place = 2 * ((Math.max(0, all - KEPT) + index) % KEPT)
    return [list[place] ?? 0, list[place + 1] ?? 0]
  })
  const file = process.env['BENCH_MARKS'] ?? ''
  writeFileSync(`${file}.part`, JSON.stringify(kept))
  renameSync(`${file}.part`, file)
}
