// Requests in the books, made by the ledger itself and without a gateway: as many as a test or a drill wants.
import { openLedger } from '../../src/ledger/nodes/open.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { Unavailable } from '../../src/ledger/writer/writer.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Store } from '../../src/store/database/store.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, settlement, USD } from '../contract/ledger-fixture.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'

export type Books = AsyncDisposable & {
  readonly store: Store
  readonly ledger: Ledger
  readonly keyIds: readonly string[]
}

/** A serving node with some keys. */
export async function openBooks(url: string, keys: number): Promise<Books> {
  const threadModules = [LEDGER_THREAD_MODULE]
  const store = await openStore(url, { clock: systemClock, threadModules })
  await seedFrame(store, { ...SAMPLE_FRAME, limitNanodollars: 1_000_000n * USD })
  const keyIds: string[] = []
  for (let index = 0; index < keys; index++) {
    const name = `application ${index}`
    const limitNanodollars = 100_000n * USD
    const { key } = await createKey(store, { name, models: ['m'], limitNanodollars })
    keyIds.push(key.id)
  }
  const ledger = await openLedger({ ...SAMPLE_PACE, beatMs: 500, store })
  return {
    ...{ store, ledger, keyIds },
    [Symbol.asyncDispose]: async () => {
      await ledger.close()
      await store.close()
    },
  }
}

const AT_A_TIME = 64

/** Requests of odd costs for as long as `more` says so; how long each took, in ms. */
export async function makeRequests(
  { ledger, keyIds }: Books,
  more: (made: number) => boolean,
): Promise<readonly number[]> {
  const durationsMs: number[] = []
  let begun = 0
  const loop = async (): Promise<void> => {
    while (more(begun)) {
      const number = begun++
      const fromMs = performance.now()
      const asked = ask(keyIds[number % keyIds.length] ?? '', 1_000_003)
      const reserved = await ledger.reserve(asked).catch(orUnavailable)
      // As a client does that is told to come back.
      if (reserved === undefined) continue
      if (!reserved.reserved) throw new Error(`refused: ${reserved.reason}`)
      const costNanodollars = BigInt((number * 7_919) % 1_000_003)
      await ledger.settle(settlement(asked, reserved, { costNanodollars }))
      durationsMs.push(performance.now() - fromMs)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, loop))
  return durationsMs
}

function orUnavailable(thrown: unknown): undefined {
  if (!(thrown instanceof Unavailable)) throw thrown
}
