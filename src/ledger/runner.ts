// Chooses how batches run, by the database of the open store.
import type { Store } from '../store/open.ts'
import type { Batch, BatchResult } from './batch.ts'
import { postgresRunner, runOnPool } from './postgres-runner.ts'
import { sqliteRunner } from './sqlite-runner.ts'
import type { BatchRunner } from './writer.ts'

/** On SQLite the store must have been opened with LEDGER_WORKER_MODULE among its worker modules. */
export function runnerFor(store: Store, onLost: () => void): BatchRunner {
  return store.kind === 'sqlite' ? sqliteRunner(store) : postgresRunner(store, onLost)
}

/** For a caller that writes only this one batch. */
export function runOnce(store: Store, batch: Batch): Promise<BatchResult> {
  return store.kind === 'sqlite' ? sqliteRunner(store).run(batch) : runOnPool(store, batch)
}
