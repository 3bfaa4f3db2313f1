// Where a database is: reads its address, and describes it to people without what opens it.
import { StoreError } from './errors.ts'

/** The path of a file, or postgres://USER@HOST:PORT/NAME. */
export function describeDatabaseUrl(url: string): string {
  const file = sqlitePath(url)
  if (file !== undefined) return file
  const { host, database, user } = postgresAddress(url)
  return `postgres://${user === '' ? '' : `${user}@`}${host}/${database}`
}

export function isDatabaseUrl(url: string): boolean {
  return sqlitePath(url) !== undefined || readPostgres(url) !== undefined
}

/** The file of a SQLite database, as it was written. */
export function sqlitePath(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
}

type PostgresAddress = {
  readonly host: string
  readonly database: string
  readonly user: string
}

export function postgresAddress(url: string): PostgresAddress {
  const address = readPostgres(url)
  if (address !== undefined) return address
  const message = 'the database must look like postgres://USER@HOST:PORT/NAME'
  throw new StoreError('invalid_url', message)
}

function readPostgres(url: string): PostgresAddress | undefined {
  const parsed = URL.parse(url) ?? URL.parse(url.replace('@/', '@localhost/'))
  if (parsed === null) return undefined
  const { pathname, search, hash, searchParams: given } = parsed
  // A plain /, ? or # in a password ends the host too early: then an @ follows it.
  if (`${pathname}${search}${hash}`.includes('@')) return undefined
  // Parameters after the ? win, as they do in the driver.
  const port = given.get('port') || parsed.port
  const host = given.get('host') || plain(parsed.hostname || 'localhost')
  const address = {
    host: port === '' ? host : `${host}:${port}`,
    database: plain(pathname.slice(1)),
    user: given.get('user') || plain(parsed.username),
  }
  // An = in one of these shows a misplaced setting, which may be a password.
  return Object.values(address).some((part) => part.includes('=')) ? undefined : address
}

/** Like the driver, keeps a % that begins no escape. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
