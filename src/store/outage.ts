// Did the database fail, or was the request to it wrong? An outage ends by itself and is worth another try; a wrong
// request would fail again.
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
  const code = 'code' in thrown ? thrown.code : undefined
  if (typeof code === 'string') return POSTGRES_OUTAGE.test(code) || UNREACHED.test(code)
  return DISCONNECTED.test(thrown.message)
}

/** The thread has ended: it is unknown whether the last requests to it were carried out. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
}
