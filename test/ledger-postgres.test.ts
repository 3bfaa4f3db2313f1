// A node notices when PostgreSQL no longer has what it committed, as after a failover to a replica that lagged behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sql } from 'kysely'

import { systemClock } from '../src/core/clock.ts'
import { openStore } from '../src/store/open.ts'
import { ask, Desk, granted } from './contracts/ledger-desk.ts'
import { freshDatabase } from './support/postgres.ts'

test('commits that the database has lost are reported once the node is connected again', async (context) => {
  const database = await freshDatabase()
  const alarms: string[] = []
  const alarm = (message: string) => void alarms.push(message)
  const desk = new Desk(await openStore(database.url, { clock: systemClock }), { alarm })
  await desk.ready
  context.after(async () => {
    await desk.close()
    await database.drop()
  })
  const reconnect = () =>
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tollgate ledger'`.execute(
      desk.store.db,
    )
  const key = await desk.key(10_000n)
  const { holdId } = granted(await desk.ledger.reserve(ask(key, 100)))
  await reconnect()
  await desk.ledger.dryRun(ask(key, 100))
  assert.deepEqual(alarms, [], 'nothing is lost yet')
  await sql`DELETE FROM holds WHERE id = ${holdId}`.execute(desk.store.db)
  await sql`UPDATE accounts SET held_nanodollars = 0, in_flight = 0`.execute(desk.store.db)
  for (let round = 0; round < 2; round++) {
    await reconnect()
    await desk.ledger.dryRun(ask(key, 100))
  }
  assert.equal(alarms.length, 1)
  assert.match(alarms.join(), /^the database has lost its latest commits/)
})
