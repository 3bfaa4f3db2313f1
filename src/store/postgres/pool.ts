// Connections to PostgreSQL: how they are opened, which servers are refused, and why one could not be reached.
import { Kysely, PostgresDialect } from 'kysely'
import { Pool, type PoolConfig, types } from 'pg'
import { codeOf, messageOf } from '../../core/errors.ts'
import { StoreError } from '../database/errors.ts'
import { isOutage } from '../database/outage.ts'
import { IntegerPlugin } from '../database/tables.ts'
import type { Tables } from '../database/tables.ts'
import { postgresAddress } from '../database/url.ts'

/** How long a transaction may be idle. */
const CHANGE_PAUSE_MAX = '2s'

const SETTINGS = [
  // A server may be configured to answer before a commit is on disk, which the ledger does not allow.
  'synchronous_commit=on',
  // A statement that has waited for a lock must see what its last holder wrote.
  'default_transaction_isolation=read\\ committed',
  // Servers compile large statements by default: reports and lists are over before that pays.
  'jit=off',
  // How long to wait for a lock depends on the statement: each has its own timeout.
  'lock_timeout=0',
  // Requests wait for the locks of a process that stops in the middle of a change.
  `idle_in_transaction_session_timeout=${CHANGE_PAUSE_MAX}`,
]

type Connected = { readonly pool: Pool; readonly db: Kysely<Tables> }

export function connectPool(url: string): Connected {
  return connect({
    ...withSettings(url),
    application_name: 'tollgate',
    max: 10,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    // The server ends a slow statement itself; this is for a server that has fallen silent.
    query_timeout: 35_000,
    keepAlive: true,
    // Statements that need no answer in between are sent together.
    pipeline: true,
    // Like the SQLite thread, idle connections do not keep the process alive.
    allowExitOnIdle: true,
    types: { getTypeParser },
  })
}

/** Another connection to the same server, whose statements may take any length of time. */
export function withoutTimeout({ options }: Pool): Kysely<Tables> {
  return connect({ ...options, max: 1, query_timeout: undefined }).db
}

function connect(config: PoolConfig): Connected {
  const pool = new Pool(config)
  // A connection that breaks while idle would otherwise end the process; the next query reports it anyway.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const dialect = new PostgresDialect({ pool })
  return { pool, db: new Kysely<Tables>({ dialect, plugins: [new IntegerPlugin()] }) }
}

/** Puts the options of the URL before SETTINGS, which they would otherwise replace. */
function withSettings(url: string): {
  readonly connectionString: string
  readonly options: string
} {
  const ours = SETTINGS.map((setting) => `-c ${setting}`).join(' ')
  const given = URL.canParse(url) ? new URL(url).searchParams.get('options') : null
  if (given === null) return { connectionString: url, options: ours }
  const bare = new URL(url)
  bare.searchParams.delete('options')
  return { connectionString: bare.href, options: `${given} ${ours}` }
}

/** SQL_ASCII stores any text byte by byte; all encodings but these two refuse letters that somebody may write. */
const ENCODINGS = ['UTF8', 'SQL_ASCII']

/** What the ledger calls to wait for the disk. Every user may, unless an administrator took that right away. */
export const EMIT_MESSAGE = 'pg_logical_emit_message'

/** Refuses a server that drops the settings, whose encoding cannot store every text, or that lacks a right. */
export async function inspectServer(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ pause: string; encoding: string; messages: boolean | null }>(
    `SELECT current_setting('idle_in_transaction_session_timeout') AS pause,
      current_setting('server_encoding') AS encoding,
      (SELECT bool_and(has_function_privilege(oid, 'EXECUTE')) FROM pg_proc
        WHERE proname = '${EMIT_MESSAGE}') AS messages`,
  )
  const [{ pause, encoding, messages } = { pause: '', encoding: '', messages: null }] = rows
  // A pooler may be configured to drop settings that it does not know.
  if (pause !== CHANGE_PAUSE_MAX) throw pooled()
  if (!ENCODINGS.includes(encoding)) throw lettersMissing(encoding)
  if (messages !== true) throw rightMissing()
}

/** int8, and numeric because it is the type of a sum of int8, become bigint as SQLite's integers do. */
const getTypeParser: typeof types.getTypeParser = (oid, format) => {
  if (oid !== types.builtins.INT8 && oid !== types.builtins.NUMERIC) {
    return types.getTypeParser(oid, format)
  }
  return (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text))
}

/** Why it could not be reached, in one line for the person who has to fix it. Passwords stay out of it. */
export function postgresError(url: string, error: unknown): unknown {
  if (error instanceof StoreError) return error
  const { host, database, user } = postgresAddress(url)
  const refuse = (code: StoreError['code'], message: string) =>
    new StoreError(code, message, { cause: error })
  const code = codeOf(error) ?? ''
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
  if (/^[0-9A-Z]{5}$/.test(code)) {
    // Any other error about our own statements is a fault of ours, and keeps its details.
    if (!isOutage(error)) return error
    return refuse('unreachable', `PostgreSQL at ${host} cannot serve now: ${said}`)
  }
  // Where several addresses were tried, the error has only a code.
  const reason = said === '' ? code : said
  return refuse(
    'unreachable',
    `PostgreSQL at ${host} cannot be reached (${reason}): is it running, and is the address right?`,
  )
}

/** A pooler shares its connections: settings made on one would be lost, or apply to somebody else. */
function pooled(): StoreError {
  const message =
    'the database is behind a pooler, such as PgBouncer, that drops the settings of a connection: use the address of the server itself'
  return new StoreError('unreachable', message)
}

/** Without it, no batch of the ledger would ever be answered. */
function rightMissing(): StoreError {
  const message = `this user of the database may not call ${EMIT_MESSAGE}: let an administrator GRANT EXECUTE on it`
  return new StoreError('unreachable', message)
}

/** If a client named its user in such letters, the cost of its answer could not be recorded. */
function lettersMissing(encoding: string): StoreError {
  const message = `the database has the encoding ${encoding}, which cannot store every character: create it with TEMPLATE template0 ENCODING 'UTF8'`
  return new StoreError('unreachable', message)
}
