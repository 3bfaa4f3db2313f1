// One node that calls Tollgate's ledger directly: no HTTP, no upstream, only the books.
import { systemClock } from '../../src/core/clock.ts'
import { NO_USAGE } from '../../src/core/events.ts'
import { newId } from '../../src/core/ids.ts'
import type { Ask, Settlement } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { findKeys, type Key } from '../../src/store/keys/keys.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_PACE } from '../../test/samples/ledger-pace.ts'
import { runLoops, task } from './loops.ts'

const store = await openStore(task.database, {
  clock: systemClock,
  threadModules: [LEDGER_THREAD_MODULE],
})
const ledger = await openLedger({ store, ...SAMPLE_PACE })
const keys = new Map((await findKeys(store, task.keyIds)).map((key) => [key.id, key]))
await runLoops(async (keyId) => {
  const key = keys.get(keyId)
  if (key === undefined) throw new Error(`no key ${keyId}`)
  const requestId = newId('req', systemClock)
  const reserved = await ledger.reserve(askOf(requestId, key))
  if (!reserved.reserved) throw new Error(`refused: ${reserved.reason}`)
  await ledger.settle(settlementOf(requestId, key, reserved.holdId))
})
await ledger.close()
await store.close()

function askOf(requestId: string, { id, groupId, groupVersion, allowVersion }: Key): Ask {
  return {
    requestId,
    keyId: id,
    groupId,
    groupVersion,
    allowVersion,
    endpoint: 'chat',
    modelAsked: 'bench-chat',
    candidates: [
      {
        fixedPicodollars: 60_000_000n,
        outputTokenPicodollars: 400_000n,
        outputTokens: 256,
        outputTokensFrom: 'client',
        outputTokensMinimum: 256,
      },
    ],
    whenTight: 'cap',
    estimatedTokens: 1_200,
    recounted: false,
  }
}

function settlementOf(requestId: string, { id, groupId }: Key, holdId: number): Settlement {
  return {
    holdId,
    requestId,
    keyId: id,
    groupId,
    endpoint: 'chat',
    modelAsked: 'bench-chat',
    modelServed: 'constant',
    provider: 'local',
    status: 200,
    errorCode: null,
    tokens: { ...NO_USAGE, inputTokens: 60, outputTokens: 100 },
    costNanodollars: 43_000n,
    price: null,
    estimated: false,
    latencyMs: 12,
    firstTokenMs: 11,
    traceId: null,
    endUser: null,
    tags: {},
    attempts: [
      { target: 'local/constant', why: 'first choice', outcome: 'answered', durationMs: 10 },
    ],
  }
}
