// A node stalls inside every batch, longer than PostgreSQL at first lets a session block the others: it loses one
// session for that, and then gets the time it needs instead of losing every batch.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import pg from 'pg'

import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { SAMPLE_PACE } from '../../src/ledger/sample-pace.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { SAMPLE_FRAME } from '../../src/store/sample-frame.ts'
import { createKey } from '../../src/store/key-changes.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, spend, USD } from '../contracts/ledger-desk.ts'
import { freshDatabase } from '../support/postgres.ts'

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
