// The serving thread's end of a batch on SQLite: sends it to the database's thread and tells outages from other errors.
import { moduleBeside } from '../../core/runtime.ts'
import { isOutage } from '../../store/database/outage.ts'
import type { SqliteStore } from '../../store/database/store.ts'
import type { Batch, BatchResult } from '../rules/batch.ts'
import { type BatchRunner, Unavailable } from '../writer/writer.ts'
import { packBatch, type PackedResult, unpackResult } from './batch-codec.ts'

/** To be loaded by the SQLite thread: `openStore(url, { threadModules: [LEDGER_THREAD_MODULE] })`. */
export const LEDGER_THREAD_MODULE = moduleBeside(import.meta.url, 'batch-thread')

export function sqliteRunner(store: SqliteStore): BatchRunner {
  return {
    run: async (batch: Batch): Promise<BatchResult> => {
      try {
        const packed = await store.inThread('ledger.batch', packBatch(batch))
        return unpackResult(packed as PackedResult)
      } catch (error) {
        // This includes errors of the handler itself: retrying those would hold up all other batches forever.
        if (!isOutage(error)) throw error
        throw new Unavailable(`SQLite could not commit: ${error.message}`, { cause: error })
      }
    },
    close: async () => {},
  }
}
