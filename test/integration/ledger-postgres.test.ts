// A node after PostgreSQL was replaced, as in a failover: it notices when the new server lacks what it committed, and it
// is not taken for dead because it still waits for the old one. And what `ledger verify` can tell about its files.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { examineLedger } from '../../src/ledger/reports/verify.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, LedgerFixture, granted, spend } from '../contract/ledger-fixture.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { openRoad } from '../support/road.ts'
import { until } from '../support/until.ts'

test('commits that the database has lost are reported once the node is connected again', async (context) => {
  const database = await freshDatabase()
  const alarms: string[] = []
  const alarm = (message: string) => void alarms.push(message)
  let aheadMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
  const fixture = new LedgerFixture(await openStore(database.url, { clock }), { alarm })
  await fixture.ready
  context.after(async () => {
    await fixture.close()
    await database.drop()
  })
  const reconnect = () =>
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tollgate ledger'`.execute(
      fixture.store.db,
    )
  const key = await fixture.key(10_000n)
  const { holdId } = granted(await fixture.ledger.reserve(ask(key, 100)))
  await reconnect()
  await fixture.ledger.dryRun(ask(key, 100))
  assert.deepEqual(alarms, [], 'nothing is lost yet')
  await sql`DELETE FROM holds WHERE id = ${holdId}`.execute(fixture.store.db)
  await sql`UPDATE accounts SET held_nanodollars = 0, in_flight = 0`.execute(fixture.store.db)
  aheadMs = 660_000
  await reconnect()
  await fixture.ledger.dryRun(ask(key, 100))
  assert.deepEqual(alarms, [], 'retention may have deleted the row of a hold that old')
  aheadMs = 0
  for (let round = 0; round < 2; round++) {
    await reconnect()
    await fixture.ledger.dryRun(ask(key, 100))
  }
  assert.equal(alarms.length, 1)
  assert.match(alarms.join(), /^the database has lost its latest commits/)
})

test('a node goes on beating although the connections of before have fallen silent', async () => {
  const database = await freshDatabase()
  const road = await openRoad(database.url)
  const store = await openStore(road.url, { clock: systemClock })
  const node = await openLedger({ ...SAMPLE_PACE, store, beatMs: 100 })
  const other = await openStore(database.url, { clock: systemClock })
  const beats = async () =>
    (await other.db.selectFrom('node_beats').select('beats').executeTakeFirstOrThrow()).beats
  await until(async () => (await beats()) > 0)
  road.silence()
  const startedMs = systemClock.monotonicMs()
  const before = await beats()
  await until(async () => (await beats()) > before + 1)
  assert.ok(systemClock.monotonicMs() - startedMs < QUERY_MS_MAX, 'no query was waited for')
  // First, because closing would wait for duties that still use a silent connection.
  await road[Symbol.asyncDispose]()
  await node.close()
  await store.close()
  await other.close()
  await database.drop()
})

/** How long a query may take. */
const QUERY_MS_MAX = 30_000

test('a damaged index is found where amcheck is installed, and elsewhere it is said that nobody looked', async (context) => {
  const database = await freshDatabase()
  const fixture = new LedgerFixture(await openStore(database.url, { clock: systemClock }))
  await fixture.ready
  context.after(async () => {
    await fixture.close()
    await database.drop()
  })
  await spend(fixture.ledger, ask(await fixture.key(10_000n), 100))
  const { db } = fixture.store
  const unaided = await examineLedger(fixture.store, {})
  assert.deepEqual(unaided.violations, [])
  assert.match(unaided.notChecked.join('\n'), /^whether PostgreSQL's files are damaged: .*amcheck/)

  await sql`CREATE EXTENSION amcheck`.execute(db)
  const aided = await examineLedger(fixture.store, {})
  assert.deepEqual(aided.violations, [])
  assert.doesNotMatch(aided.notChecked.join('\n'), /amcheck/)

  // An index whose order no longer follows from its table, as after a write that was lost.
  const order = (by: number) => sql`CREATE OR REPLACE FUNCTION placed(id bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS ${sql.lit(`SELECT id + ${by}`)}`
  await order(0).execute(db)
  await sql`CREATE INDEX usage_placed ON usage (placed(id))`.execute(db)
  await order(1).execute(db)
  const { violations, notChecked } = await examineLedger(fixture.store, {})
  assert.deepEqual(
    violations.map(({ check }) => check),
    ['damage'],
  )
  assert.match(violations[0]?.found ?? '', /^index usage_placed: .* lacks matching index tuple/)
  assert.match(notChecked[0] ?? '', /^whether the books balance/)
})

test('`ledger verify` takes the time it needs', async (context) => {
  const database = await freshDatabase()
  const store = await openStore(database.url, { clock: systemClock })
  const other = new Client(database.url)
  await other.connect()
  context.after(async () => {
    await other.end()
    await store.close()
    await database.drop()
  })
  assert.ok(store.kind === 'postgres')
  // Connections from now on end a statement this soon. A lock keeps it waiting, as many rows would keep it at work.
  store.pool.options.statement_timeout = 1_000
  await other.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await until(() => store.kind === 'postgres' && store.pool.totalCount === 0)
  await other.query('BEGIN')
  await other.query('LOCK TABLE usage')
  const examined = examineLedger(store, {})
  await until(async () => {
    const { rows } = await other.query(
      `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'usage'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    return rows.length > 0
  })
  await other.query('SELECT pg_sleep(1.2)')
  await other.query('COMMIT')
  assert.deepEqual((await examined).violations, [])
})
