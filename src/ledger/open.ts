// Makes a Ledger from an open store: the database under its writer, and the node that writes.
import type { Store } from '../store/open.ts'
import { databaseNow, readBalances } from './balances.ts'
import { BookLedger } from './book-ledger.ts'
import type { Ledger } from './ledger.ts'
import { joinNodes } from './nodes.ts'
import { runnerFor } from './runner.ts'
import { Writer } from './writer.ts'

export type LedgerOptions = {
  /** On SQLite opened with LEDGER_WORKER_MODULE among its worker modules. */
  readonly store: Store
}

export async function openLedger({ store }: LedgerOptions): Promise<Ledger> {
  const { clock } = store
  const runner = runnerFor(store)
  const writer = await Writer.start({
    runner,
    clock,
    join: () => joinNodes(store),
    onFreed: () => ledger.freed(),
  })
  const ledger = new BookLedger({
    clock,
    writer,
    readBalances: async (keyId) => readBalances(store.db, keyId, await databaseNow(store)),
    stop: () => runner.close(),
  })
  return ledger
}
