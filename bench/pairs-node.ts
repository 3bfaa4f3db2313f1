// One node that calls the ledger directly: as many reservations, each settled at once, as the books accept. Its
// database, keys, loops and seconds come from the environment; prints the result as one line of JSON.
import { systemClock } from '../src/core/clock.ts'
import { NO_USAGE } from '../src/core/events.ts'
import { newId } from '../src/core/ids.ts'
import type { Ask, Ledger, Settlement } from '../src/ledger/ledger.ts'
import { openLedger } from '../src/ledger/open.ts'
import { SAMPLE_PACE } from '../src/ledger/sample-pace.ts'
import { LEDGER_WORKER_MODULE } from '../src/ledger/sqlite-runner.ts'
import { openStore } from '../src/store/open.ts'

export type PairsTask = {
  readonly database: string
  readonly keyIds: readonly string[]
  /** Requests in flight at any time. */
  readonly loops: number
  readonly seconds: number
}

export type PairsResult = {
  readonly pairs: number
  readonly seconds: number
  readonly cpuUs: number
  /** The longest time of any pair. */
  readonly slowestMs: number
}

const task = JSON.parse(process.env['PAIRS_TASK'] ?? '') as PairsTask
const store = await openStore(task.database, {
  clock: systemClock,
  workerModules: [LEDGER_WORKER_MODULE],
})
const ledger = await openLedger({ store, ...SAMPLE_PACE })
console.log('ready')
let slowestMs = 0
const warmUntil = performance.now() + (task.seconds * 1000) / 3
await Promise.all(Array.from({ length: task.loops }, (_, loop) => run(loop, warmUntil)))
slowestMs = 0
const cpu = process.cpuUsage()
const from = performance.now()
const until = from + task.seconds * 1000
const counts = await Promise.all(Array.from({ length: task.loops }, (_, loop) => run(loop, until)))
const pairs = counts.reduce((sum, count) => sum + count, 0)
const used = process.cpuUsage(cpu)
const result: PairsResult = {
  pairs,
  seconds: (performance.now() - from) / 1000,
  cpuUs: (used.user + used.system) / pairs,
  slowestMs,
}
console.log(JSON.stringify(result))
await ledger.close()
await store.close()

async function run(loop: number, untilMs: number): Promise<number> {
  let count = 0
  for (let atMs = performance.now(); atMs < untilMs; count++) {
    const keyId = task.keyIds[(loop + count) % task.keyIds.length] ?? ''
    await pair(ledger, keyId)
    const nowMs = performance.now()
    slowestMs = Math.max(slowestMs, nowMs - atMs)
    atMs = nowMs
  }
  return count
}

async function pair(books: Ledger, keyId: string): Promise<void> {
  const requestId = newId('req', systemClock)
  const reserved = await books.reserve(askOf(requestId, keyId))
  if (!reserved.reserved) throw new Error(`refused: ${reserved.reason}`)
  await books.settle(settlementOf(requestId, keyId, reserved.holdId))
}

function askOf(requestId: string, keyId: string): Ask {
  return {
    requestId,
    keyId,
    allowVersion: 1,
    endpoint: 'chat',
    modelAsked: 'bench-chat',
    worstCase: {
      fixedPicodollars: 60_000_000n,
      outputTokenPicodollars: 400_000n,
      outputTokens: 256,
      outputTokensFrom: 'client',
      outputTokensMinimum: 256,
    },
    whenTight: 'cap',
    estimatedTokens: 1_200,
    recounted: false,
  }
}

function settlementOf(requestId: string, keyId: string, holdId: number): Settlement {
  return {
    holdId,
    requestId,
    keyId,
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
    endUser: null,
    tags: {},
    attempts: [
      { target: 'local/constant', why: 'first choice', outcome: 'answered', durationMs: 10 },
    ],
  }
}
