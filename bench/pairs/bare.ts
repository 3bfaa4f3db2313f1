// The floor: what holds and settlements cost a program that writes the rows Tollgate's ledger writes, into the same
// tables, just as durably and in the same batches, and does nothing else: no limit is checked, nothing is recovered.
import { Worker } from 'node:worker_threads'
import { systemClock } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { runLoops, task } from './loops.ts'

/** A settlement names its hold; a hold does not. */
export type BareItem = readonly [
  id: number,
  keyId: string,
  requestId: string,
  isSettlement: boolean,
]

const thread = new Worker(new URL('./bare-thread.ts', import.meta.url), { workerData: task })
let waiting: { readonly item: BareItem; readonly resolve: () => void }[] = []
let isBusy = false
// Above those of earlier runs, whose usage rows are in the same books.
let lastHold = Date.now() * 1000

await runLoops(async (keyId) => {
  const id = ++lastHold
  const requestId = newId('req', systemClock)
  await write([id, keyId, requestId, false])
  await write([id, keyId, requestId, true])
})
await thread.terminate()

function write(item: BareItem): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.push({ item, resolve })
  if (!isBusy) commit()
  return promise
}

/** One batch in flight; what arrives meanwhile is the next. */
function commit(): void {
  isBusy = true
  setImmediate(() => {
    const batch = waiting
    waiting = []
    thread.once('message', () => {
      isBusy = false
      for (const { resolve } of batch) resolve()
      if (waiting.length > 0 && !isBusy) commit()
    })
    thread.postMessage(JSON.stringify(batch.map(({ item }) => item)))
  })
}
