// A node that PostgreSQL or its own machine makes slow. One that stalls inside every batch, longer than PostgreSQL at
// first lets a session block the others, loses one session for that, and then gets the time it needs instead of losing
// every batch. One whose background work waits for a lock is not taken for dead.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, spend, USD } from '../contract/ledger-fixture.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { until } from '../support/until.ts'

const STALL_MS = 400

test('a node that stalls inside every batch still commits them', async (t) => {
  const database = await freshDatabase()
  const store = await openStore(database.url, { clock: systemClock })
  await seedFrame(store, { ...SAMPLE_FRAME, limitNanodollars: 1000n * USD })
  const settings = { name: 'slow', models: ['m'], limitNanodollars: 100n * USD }
  const { key } = await createKey(store, settings)
  const ledger = await openLedger({ store, ...SAMPLE_PACE })
  const stalled: pg.Client[] = []
  const { query } = pg.Client.prototype
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]) {
    if (given[0] === 'COMMIT') {
      stalled.push(this)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS)
    }
    return Reflect.apply(query, this, given)
  })
  try {
    await spend(ledger, ask(key.id, 1))
    assert.ok(new Set(stalled).size > 1, 'no session was lost, so it was not slow')
  } finally {
    t.mock.restoreAll()
    await ledger.close()
  }
  assert.deepEqual(await verifyLedger(store, { quiescent: true }), [])
  await store.close()
  await database.drop()
})

test('a node beats while its other duties wait for a lock', async () => {
  const database = await freshDatabase()
  const store = await openStore(database.url, { clock: systemClock })
  await seedFrame(store, SAMPLE_FRAME)
  const ledger = await openLedger({ store, ...SAMPLE_PACE, beatMs: 20, sweepMs: 20 })
  const [locks, looks] = [connection(database.url), connection(database.url)]
  await Promise.all([locks.connect(), looks.connect()])
  try {
    await locks.query('BEGIN; LOCK TABLE usage')
    const waiting = await until(() => waitingQuery(looks))
    const { beats } = await beatsOf(looks)
    await until(async () => (await beatsOf(looks)).beats > beats + 20)
    assert.deepEqual(await waitingQuery(looks), waiting, 'the same one, all the time')
  } finally {
    await Promise.all([locks.end(), looks.end()])
    await ledger.close()
  }
  await store.close()
  await database.drop()
})

const connection = (url: string): pg.Client => new pg.Client({ connectionString: url })

async function waitingQuery(client: pg.Client): Promise<unknown> {
  const { rows } = await client.query(
    "SELECT query, query_start FROM pg_stat_activity WHERE wait_event = 'relation' AND datname = current_database()",
  )
  return rows[0]
}

async function beatsOf(client: pg.Client): Promise<{ readonly beats: number }> {
  const { rows } = await client.query<{ beats: number }>(
    'SELECT beats::int AS beats FROM node_beats',
  )
  return rows[0] ?? { beats: 0 }
}
