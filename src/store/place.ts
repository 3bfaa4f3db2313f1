// Where a database is, as people are told: by what finds it, and by nothing that opens it.
import { StoreError } from './errors.ts'

/** The path of a file, or postgres://USER@HOST:PORT/NAME. */
export function describePlace(url: string): string {
  const file = sqlitePath(url)
  if (file !== undefined) return file
  const { host, database, user } = postgresPlace(url)
  return `postgres://${user === '' ? '' : `${user}@`}${host}/${database}`
}

export function isPlace(url: string): boolean {
  return sqlitePath(url) !== undefined || parsed(url) !== undefined
}

/** The file of a SQLite database, as it was written. */
export function sqlitePath(url: string): string | undefined {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
}

export type PostgresPlace = {
  readonly host: string
  readonly database: string
  readonly user: string
}

export function postgresPlace(url: string): PostgresPlace {
  const place = parsed(url)
  if (place === undefined) {
    const message = 'the database must look like postgres://USER@HOST:PORT/NAME'
    throw new StoreError('invalid_url', message)
  }
  // What stands behind the ? wins, as it does for the driver.
  const given = place.searchParams
  const port = given.get('port') ?? place.port
  const host = given.get('host') ?? plain(place.hostname || 'localhost')
  return {
    host: port === '' ? host : `${host}:${port}`,
    database: plain(place.pathname.slice(1)),
    user: given.get('user') ?? plain(place.username),
  }
}

function parsed(url: string): URL | undefined {
  const place = URL.parse(url) ?? URL.parse(url.replace('@/', '@localhost/'))
  // A password with a plain / in it would be taken for the name of the database, and told.
  return place === null || place.pathname.includes('@') ? undefined : place
}

/** The driver takes a % that begins nothing for itself. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
