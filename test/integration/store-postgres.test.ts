// Faults of PostgreSQL alone: servers that are down or refuse, connections that break, notifications that get lost.
import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { systemClock } from '../../src/core/clock.ts'
import { ADVISORY_LOCK } from '../../src/store/database/migrate.ts'
import { readRevision, watchChanges } from '../../src/store/database/revision.ts'
import type { PostgresStore } from '../../src/store/database/store.ts'
import { seedFrame, setFrame } from '../../src/store/frame.ts'
import { agreeOnSecret, openStore } from '../../src/store/open.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { findPgbouncer, startPgbouncer } from '../support/postgres/pgbouncer.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres/postgres.ts'
import { openRoad } from '../support/road.ts'
import { refusal } from '../support/store.ts'

const options = { clock: systemClock }
let database: TestDatabase
let store: PostgresStore

before(async () => {
  database = await freshDatabase()
  store = (await openStore(database.url, options)) as PostgresStore
  await seedFrame(store, SAMPLE_FRAME)
})
after(async () => {
  await store.close()
  await database.drop()
})

test('nodes with different secrets cannot serve one database', async () => {
  await agreeOnSecret(store, 'the secret of all nodes')
  await agreeOnSecret(store, 'the secret of all nodes')
  await assert.rejects(
    agreeOnSecret(store, 'the secret of one node'),
    refusal('wrong_secret', /^TOLLGATE_SECRET is not the one .* set the same on every node/),
  )
})

describe('opening a database', () => {
  test('fails if no server listens', async () => {
    await assert.rejects(
      openStore('postgres://me:hunter2@127.0.0.1:1/books', options),
      (error: Error) => {
        assert.doesNotMatch(error.message, /hunter2/)
        return refusal(
          'unreachable',
          /PostgreSQL at 127\.0\.0\.1:1 cannot be reached \(connect ECONNREFUSED/,
        )(error)
      },
    )
  })

  test('fails if the address is malformed', async () => {
    const isRefused = refusal('invalid_url', /postgres:\/\/USER@HOST:PORT\/NAME/)
    await assert.rejects(openStore('postgres://host:port/books', options), isRefused)
  })

  test('fails if the database does not exist', async () => {
    const isRefused = refusal('unreachable', /has no database "nowhere": create it first/)
    await assert.rejects(
      openStore(changed(database.url, { pathname: '/nowhere' }), options),
      isRefused,
    )
  })

  test('fails if the user does not exist', async () => {
    const isRefused = refusal(
      'unreachable',
      /refuses user "nobody" \(role "nobody" does not exist\)/,
    )
    await assert.rejects(
      openStore(changed(database.url, { username: 'nobody' }), options),
      isRefused,
    )
  })

  test('fails if no connection is left', async () => {
    await using fresh = await disposable()
    await using guest = await newGuest(fresh.url, 'CONNECTION LIMIT 0')
    const isRefused = refusal('unreachable', /cannot serve now: too many connections for role/)
    await assert.rejects(openStore(guest.url, options), isRefused)
  })

  test('fails if no schema of the search path exists', async () => {
    await using fresh = await disposable()
    const url = changed(fresh.url, { search: '?options=-c%20search_path%3Dnowhere' })
    const isRefused = refusal('unreachable', /has no schema to create tables in.*search_path/)
    await assert.rejects(openStore(url, options), isRefused)
  })

  test('fails if the encoding lacks letters', async () => {
    const made = "TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING"
    for (const encoding of ['LATIN1', 'EUC_JP']) {
      await using fresh = await disposable(`${made} '${encoding}'`)
      const isRefused = refusal('unreachable', new RegExp(`${encoding}.*ENCODING 'UTF8'`))
      await assert.rejects(openStore(fresh.url, options), isRefused)
    }
    // SQL_ASCII keeps every byte as it is.
    await using fresh = await disposable(`${made} 'SQL_ASCII'`)
    await (await openStore(fresh.url, options)).close()
  })

  test('fails if a file named in the address is missing', async () => {
    const url = changed(database.url, { search: '?sslrootcert=/nowhere/ca.pem' })
    await assert.rejects(openStore(url, options), refusal('unreachable', /\/nowhere\/ca\.pem/))
  })

  test('fails if the user may not create tables', async () => {
    await using fresh = await disposable()
    await using guest = await newGuest(fresh.url)
    // Servers before 15 let everyone create tables.
    const owner = new Client(fresh.url)
    await owner.connect()
    await owner.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    await owner.end()
    const isRefused = refusal('read_only', /may not create tables .*denied for schema public/)
    await assert.rejects(openStore(guest.url, options), isRefused)
  })

  test('fails if the user may not call what the ledger calls', async () => {
    await using fresh = await disposable()
    await using guest = await newGuest(fresh.url)
    const owner = new Client(fresh.url)
    await owner.connect()
    const { rows } = await owner.query<{ name: string }>(
      "SELECT oid::regprocedure::text AS name FROM pg_proc WHERE proname = 'pg_logical_emit_message'",
    )
    for (const { name } of rows) await owner.query(`REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`)
    await owner.end()
    const isRefused = refusal('unreachable', /may not call pg_logical_emit_message.* GRANT EXECUTE/)
    await assert.rejects(openStore(guest.url, options), isRefused)
  })

  test('fails if the tables belong to another user', async () => {
    await using guest = await newGuest(database.url)
    const isRefused = refusal('read_only', /nor change .*denied for table meta.* their owner/)
    await assert.rejects(openStore(guest.url, options), isRefused)
  })

  test('keeps the settings of the address, and applies our own', async () => {
    const search = '?options=-c%20synchronous_commit%3Doff%20-c%20jit%3Don%20-c%20geqo%3Doff'
    const opened = await openStore(changed(database.url, { search }), options)
    const { rows } = await sql`
      SELECT current_setting('synchronous_commit') AS durable, current_setting('jit') AS jit,
             current_setting('geqo') AS geqo
    `.execute(opened.db)
    await opened.close()
    assert.deepEqual(rows, [{ durable: 'on', jit: 'off', geqo: 'off' }])
  })

  test('makes nodes that start at once wait for each other, whatever the database’s settings', async () => {
    await using fresh = await disposable()
    const other = new Client(fresh.url)
    await other.connect()
    const name = new URL(fresh.url).pathname.slice(1)
    await other.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
    await other.query(`ALTER DATABASE ${name} SET lock_timeout = '1ms'`)
    await other.query('BEGIN')
    await other.query(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`)
    const opening = Promise.all([openStore(fresh.url, options), openStore(fresh.url, options)])
    await Promise.race([opening, waiting(other, 2)])
    await other.end()
    for (const opened of await opening) await opened.close()
  })

  test('fails if the server is read-only, with or without the schema', async () => {
    await using fresh = await disposable()
    const url = changed(fresh.url, { search: '?options=-c%20default_transaction_read_only%3Don' })
    const isRefused = refusal('read_only', /is read-only: use the primary server/)
    await assert.rejects(openStore(url, options), isRefused)
    await (await openStore(fresh.url, options)).close()
    await assert.rejects(openStore(url, options), isRefused)
  })
})

describe('behind PgBouncer', () => {
  const program = findPgbouncer()
  const skip = program === undefined && 'PgBouncer is not installed, and could not be'
  for (const pool_mode of ['session', 'transaction', 'statement'])
    for (const ignored of ['', 'options', 'options, statement_timeout'])
      test(
        `opening fails if it pools by ${pool_mode} and ignores "${ignored}"`,
        { skip },
        async () => {
          const settings = { pool_mode, ignore_startup_parameters: ignored }
          await using pooler = await startPgbouncer(program ?? '', database.url, settings)
          const isRefused = refusal('unreachable', /pooler, such as PgBouncer.*the server itself/)
          await assert.rejects(openStore(pooler.url, options), isRefused)
        },
      )
})

test('a migration has no time limit', async () => {
  await using fresh = await disposable()
  const other = new Client(fresh.url)
  await other.connect()
  // Every migration takes this lock first, and waits for it as silently as it works through millions of rows.
  await other.query('BEGIN')
  await other.query(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`)
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const opening = openStore(fresh.url, options)
    await Promise.race([opening, waiting(other, 1)])
    mock.timers.tick(24 * 3_600_000)
    await other.query('COMMIT')
    await (await opening).close()
  } finally {
    mock.timers.reset()
    await other.end()
  }
})

/** Returns when this many connections wait for the migration lock. */
async function waiting(client: Client, count: number): Promise<void> {
  const waiters = `
    SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`
  while ((await client.query(waiters)).rowCount !== count);
}

describe('a server that ends our connections', () => {
  test('the next query gets a new connection', async () => {
    await readRevision(store)
    await endConnections()
    await assert.doesNotReject(readRevision(store))
  })

  test('changes are still noticed, by polling and soon by notification', async () => {
    const revisions: number[] = []
    let noticed = Promise.withResolvers<void>()
    const stop = await watchChanges(store, {
      onChange: async (revision) => {
        revisions.push(revision)
        noticed.resolve()
      },
      onError: noticed.reject,
    })
    for (let round = 0; round < 3; round++) {
      noticed = Promise.withResolvers()
      await endConnections()
      await setFrame(store, {})
      await noticed.promise
    }
    await stop()
    assert.equal(revisions.length, 3)
    assert.equal(revisions.at(-1), await readRevision(store))
  })

  test('a change is noticed although the connections of before have fallen silent', async () => {
    await using road = await openRoad(database.url)
    const node = await openStore(road.url, options)
    const noticed = Promise.withResolvers<void>()
    const stop = await watchChanges(node, {
      // Needs a connection of the pool, too.
      onChange: () => readRevision(node).then(() => noticed.resolve()),
      onError: () => {},
    })
    // Several connections, idle afterwards.
    await Promise.all([1, 2, 3].map(() => readRevision(node)))
    road.silence()
    const startedMs = systemClock.monotonicMs()
    await setFrame(store, {})
    await noticed.promise
    assert.ok(systemClock.monotonicMs() - startedMs < QUERY_MS_MAX, 'no query was waited for')
    await stop()
    await node.close()
  })
})

/** How long a query may take. */
const QUERY_MS_MAX = 30_000

/** Ends every other connection to the database, as a restart of the server would. */
async function endConnections(): Promise<void> {
  await sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`.execute(store.db)
}

function changed(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href
}

async function disposable(made = '') {
  const { url, drop } = await freshDatabase(made)
  return { url, [Symbol.asyncDispose]: drop }
}

/** A role that may only log in. */
async function newGuest(url: string, limits = '') {
  const name = `guest_${new URL(url).pathname.slice(-8)}`
  await sql.raw(`CREATE ROLE ${name} LOGIN PASSWORD 'guest' ${limits}`).execute(store.db)
  return {
    url: changed(url, { username: name, password: 'guest' }),
    [Symbol.asyncDispose]: async () => {
      await sql.raw(`DROP ROLE ${name}`).execute(store.db)
    },
  }
}
