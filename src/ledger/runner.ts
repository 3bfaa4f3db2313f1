// The database under the books, chosen by the store that is open.
import type { Store } from '../store/open.ts'
import { postgresRunner } from './postgres-runner.ts'
import { sqliteRunner } from './sqlite-runner.ts'
import type { BatchRunner } from './writer.ts'

/** On SQLite the store must have been opened with LEDGER_WORKER_MODULE among its worker modules. */
export function runnerFor(store: Store): BatchRunner {
  return store.kind === 'sqlite' ? sqliteRunner(store) : postgresRunner(store)
}
