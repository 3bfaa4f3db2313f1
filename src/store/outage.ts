// Is it the database that failed, or what it was asked? The first ends by itself and is worth another try; the second
// would fail again.
import { StoreError } from './errors.ts'
import { ThreadLost } from './sqlite-thread.ts'

/** SQLite's primary result codes for data at fault, not the disk: TOOBIG, CONSTRAINT, MISMATCH, RANGE. */
const SQLITE_DATA_ERRORS = new Set([18, 19, 20, 25])
/** PostgreSQL's classes for a connection, resources, an operator who intervenes, and what it ended by itself. */
const POSTGRES_OUTAGE = /^(08|40|53|57|25P0[34])/
/** The system's words for a server that is not there. */
const UNREACHED = /^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/
/** What the PostgreSQL client says of itself, without a code. */
const DISCONNECTED = /connection (terminated|error)|timeout exceeded|read timeout|timeout expired/i

export function isOutage(thrown: unknown): thrown is Error {
  if (thrown instanceof ThreadLost) return true
  if (thrown instanceof StoreError) return thrown.code === 'unreachable'
  if (!(thrown instanceof Error)) return false
  if ('errcode' in thrown) {
    return typeof thrown.errcode === 'number' && !SQLITE_DATA_ERRORS.has(thrown.errcode & 0xff)
  }
  const code = 'code' in thrown ? thrown.code : undefined
  if (typeof code === 'string') return POSTGRES_OUTAGE.test(code) || UNREACHED.test(code)
  return DISCONNECTED.test(thrown.message)
}
