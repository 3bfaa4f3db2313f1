// The ledger's contract, on both databases.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../src/core/clock.ts'
import { periodAt } from '../src/ledger/periods.ts'
import { LEDGER_WORKER_MODULE } from '../src/ledger/sqlite-runner.ts'
import { openStore } from '../src/store/open.ts'
import { ledgerContract, type Database } from './contracts/ledger.ts'
import { freshDatabase } from './support/postgres.ts'

const options = { clock: systemClock, periodAt, workerModules: [LEDGER_WORKER_MODULE] }

ledgerContract('SQLite', async (): Promise<Database> => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'))
  const store = await openStore(`sqlite:${join(folder, 'test.db')}`, options)
  return { store, drop: async () => rmSync(folder, { recursive: true }) }
})

ledgerContract('PostgreSQL', async (): Promise<Database> => {
  const database = await freshDatabase()
  return { store: await openStore(database.url, options), drop: database.drop }
})
