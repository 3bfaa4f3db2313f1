// A full database moves from SQLite to PostgreSQL: every figure must arrive, to the nano-dollar.
import assert from 'node:assert/strict'
import { systemClock } from '../../src/core/clock.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { tallyAll, totalRows } from '../../src/store/backup/rows.ts'
import { openStore } from '../../src/store/open.ts'
import { freshDatabase } from '../../test/support/postgres/postgres.ts'
import { freshSqlite } from '../../test/support/store.ts'
import { makeRequests, openBooks } from '../../test/support/traffic.ts'
import type { Drill } from '../drill.ts'
import { timed, tollgate } from './steps/steps.ts'

const KEYS = 100
const REQUESTS = 1_000_000

export const drill: Drill = {
  summary: `moves ${REQUESTS} requests from SQLite to PostgreSQL (or as many as the option says)`,
  run: async ([requests = REQUESTS]) => {
    const [source, target] = [await freshSqlite(), await freshDatabase()]
    try {
      await timed(`${requests} requests of ${KEYS} keys, through the ledger`, async () => {
        await using books = await openBooks(source.url, KEYS)
        await makeRequests(books, (made) => made < Number(requests))
      })
      await timed('tollgate move', () => tollgate(['move', '--to', target.url], source.url))
      const [there, here] = [await figuresOf(target.url), await figuresOf(source.url)]
      assert.deepEqual(there, here)
      assert.deepEqual(there.violations, [])
      console.log(`${totalRows(there.tallies)} rows; every sum is the same, and the books balance`)
    } finally {
      await source.drop()
      await target.drop()
    }
  },
}

async function figuresOf(url: string) {
  const store = await openStore(url, { clock: systemClock, purpose: 'look' })
  const tallies = await tallyAll(store.db)
  const violations = await verifyLedger(store)
  await store.close()
  return { tallies, violations }
}
