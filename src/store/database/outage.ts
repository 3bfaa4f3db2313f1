// Did the database fail, or was the request to it wrong? An outage (no connection, a full disk, a restart) ends by itself
// and is worth another try; a wrong request would fail again. A restart of the database is felt as a delay, and not as an error.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { codeOf } from '../../core/errors.ts'
import { sqliteCodeOf, StoreError } from './errors.ts'

/** SQLite's primary result codes for data at fault, not the disk: TOOBIG, CONSTRAINT, MISMATCH, RANGE. */
const SQLITE_DATA_ERRORS = new Set([18, 19, 20, 25])
/** PostgreSQL's classes for connections, rollbacks, resources, operator intervention, and expired transactions. */
const POSTGRES_OUTAGE = /^(08|40|53|57|25P0[34])/
/** System error codes for a server that cannot be reached. */
const UNREACHED = /^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/
/** Errors of the PostgreSQL client itself, which have no code. */
const DISCONNECTED = /connection (terminated|error)|timeout exceeded|read timeout|timeout expired/i

export function isOutage(thrown: unknown): thrown is Error {
  if (thrown instanceof ThreadLost) return true
  if (thrown instanceof StoreError) return thrown.code === 'unreachable'
  if (!(thrown instanceof Error)) return false
  const sqliteCode = sqliteCodeOf(thrown)
  if (sqliteCode !== undefined) return !SQLITE_DATA_ERRORS.has(sqliteCode)
  const code = codeOf(thrown)
  if (code !== undefined) return POSTGRES_OUTAGE.test(code) || UNREACHED.test(code)
  return DISCONNECTED.test(thrown.message)
}

/** The thread has ended: it is unknown whether the last requests to it were carried out. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
}

/** How long a new request waits for a database that cannot be reached. */
export const OUTAGE_MS_MAX = 5_000
const PAUSE_MS = 100

/** Retries a read for as long as waiting may help; `read` must not change anything. */
export async function retryDuringOutage<Value>(
  clock: Clock,
  read: () => Promise<Value>,
): Promise<Value> {
  const deadlineMs = clock.monotonicMs() + OUTAGE_MS_MAX
  for (;;) {
    try {
      return await answerWithin(deadlineMs - clock.monotonicMs(), read())
    } catch (thrown) {
      // A thread that is lost does not come back: this process ends.
      const isPassing = isOutage(thrown) && !(thrown instanceof ThreadLost)
      if (!isPassing || clock.monotonicMs() >= deadlineMs) throw thrown
    }
    await pause(PAUSE_MS)
  }
}

/** A database that does not answer in time counts as unreachable. */
export async function answerWithin<Value>(
  timeoutMs: number,
  answer: Promise<Value>,
): Promise<Value> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new StoreError('unreachable', 'the database does not answer'))
  }, timeoutMs)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
