// Why a database could not be opened, in one line for the person who has to fix it. Passwords stay out of it.
import { codeOf, messageOf } from '../core/errors.ts'
import { sqliteCodeOf, StoreError } from './errors.ts'
import { isOutage } from './outage.ts'
import { postgresPlace } from './place.ts'

/** SQLite's primary result codes. */
const SQLITE = { BUSY: 5, READONLY: 8, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 } as const

export function sqliteError(file: string, error: unknown): unknown {
  if (error instanceof StoreError) return error
  const refuse = (code: StoreError['code'], message: string) =>
    new StoreError(code, `${file} ${message}`, { cause: error })
  switch (sqliteCodeOf(error) ?? codeOf(error)) {
    case SQLITE.NOTADB:
    case SQLITE.CORRUPT:
      return refuse(
        'not_a_database',
        'is not a usable SQLite database: name another file, or restore this one',
      )
    case SQLITE.READONLY:
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return refuse(
        'read_only',
        'cannot be written: Tollgate must be able to write this file and its folder',
      )
    case SQLITE.BUSY:
      return refuse('unreachable', 'is locked by another process: end that process and try again')
    case SQLITE.FULL:
    case 'ENOSPC':
      return refuse('unreachable', 'cannot be opened: the disk is full')
    case SQLITE.CANTOPEN:
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
      return refuse(
        'unreachable',
        'cannot be opened: Tollgate must be able to read and write this file and its folder',
      )
    default:
      return error
  }
}

export function postgresError(url: string, error: unknown): unknown {
  if (error instanceof StoreError) return error
  const { host, database, user } = postgresPlace(url)
  const refuse = (code: StoreError['code'], message: string) =>
    new StoreError(code, message, { cause: error })
  const code = codeOf(error)
  const said = messageOf(error)
  switch (code) {
    case '28P01':
    case '28000':
      return refuse(
        'unreachable',
        `PostgreSQL at ${host} refuses user "${user}" (${said}): check user and password, and sslmode if it wants encryption`,
      )
    case '3D000':
      return refuse(
        'unreachable',
        `PostgreSQL at ${host} has no database "${database}": create it first`,
      )
    case '3F000':
      return refuse(
        'unreachable',
        `"${database}" at ${host} has no schema to create tables in: create the one that search_path names`,
      )
    case '42501':
      return refuse(
        'read_only',
        `user "${user}" may not create tables in "${database}" at ${host}, nor change those of others (${said}): grant it CREATE, or make it their owner`,
      )
    case '25006':
      return refuse('read_only', `"${database}" at ${host} is read-only: use the primary server`)
    default:
      break
  }
  // PgBouncer and its kin use one code for all their errors.
  if (said.includes('startup parameter')) return pooled()
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) {
    // Any other error about our own statements is a fault of ours, and keeps its details.
    if (!isOutage(error)) return error
    return refuse('unreachable', `PostgreSQL at ${host} cannot serve now: ${said}`)
  }
  // Where several addresses were tried, the error has only a code.
  const reason = said === '' ? String(code) : said
  return refuse(
    'unreachable',
    `PostgreSQL at ${host} cannot be reached (${reason}): is it running, and is the address right?`,
  )
}

/** For callers that must not create a database just because the address is wrong. */
export function noDatabase(place: string): StoreError {
  const message = `there is no database at ${place}: ${NAME_ANOTHER}, or create it with ${CREATORS}`
  return new StoreError('no_database', message)
}

export function noTables(place: string): StoreError {
  const message = `the database at ${place} has no tables of Tollgate: ${NAME_ANOTHER}, or create them with ${CREATORS}`
  return new StoreError('no_tables', message)
}

const NAME_ANOTHER = 'name another with --config, TOLLGATE_DATABASE or `database` in tollgate.yaml'
const CREATORS = '`tollgate serve` or `tollgate keys create`'

export function olderSchema(
  place: string,
  { version, newest }: { readonly version: string; readonly newest: string },
): StoreError {
  const message = `the database at ${place} has schema ${version}, but this Tollgate needs ${newest}: start this version to migrate it, or use the version that serves it now`
  return new StoreError('older_schema', message)
}

/** A pooler shares its connections: settings made on one would be lost, or apply to somebody else. */
export function pooled(): StoreError {
  const message =
    'the database is behind a pooler, such as PgBouncer, that drops the settings of a connection: use the address of the server itself'
  return new StoreError('unreachable', message)
}

/** If a client named its user in such letters, the cost of its answer could not be recorded. */
export function lettersMissing(encoding: string): StoreError {
  const message = `the database has the encoding ${encoding}, which cannot store every character: create it with TEMPLATE template0 ENCODING 'UTF8'`
  return new StoreError('unreachable', message)
}
