// The memory of a process as it grows (at start, after many requests, after twice as many), and what an open stream
// costs: thousands of them, each with an event every ten seconds.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Contender } from './contenders/contender.ts'
import { share } from './measuring.ts'
import { LOAD_CORE, residentBytes, start } from './processes.ts'
import { warmUp } from './rounds.ts'
import { requestsOf, SLOW_STREAM, SMALL_32, STREAM } from './workloads.ts'

export const MEMORY_REQUESTS = share(100_000)

export type Memory = {
  readonly idleBytes: number
  readonly afterBytes: number
  readonly afterTwiceBytes: number
}

/** Expects a contender that has served nothing yet, and leaves it well warmed up. */
export async function memoryOf(contender: Contender, folder: string): Promise<Memory> {
  const idleBytes = residentBytes(contender.pid)
  const load = { folder, requests: MEMORY_REQUESTS, secondsMax: Infinity }
  await warmUp(contender, SMALL_32, load)
  const afterBytes = residentBytes(contender.pid)
  await warmUp(contender, SMALL_32, load)
  return { idleBytes, afterBytes, afterTwiceBytes: residentBytes(contender.pid) }
}

export const OPEN_STREAMS = share(5_000)

const HOLD = fileURLToPath(new URL('./load/hold.ts', import.meta.url))
/** A pause for the garbage collector, before and after. */
const REST_MS = 3_000

export async function bytesPerStream(contender: Contender, folder: string): Promise<number> {
  const way = contender.wayOf(SLOW_STREAM)
  if (way === undefined) throw new Error('has no streams')
  await warmUp(contender, STREAM, { folder, requests: share(2_000), secondsMax: share(5) })
  await sleep(REST_MS)
  const before = residentBytes(contender.pid)
  const file = join(folder, 'slow-request')
  writeFileSync(file, requestsOf(SLOW_STREAM, way)[0] ?? '')
  const holder = await start({
    name: 'streams',
    command: [process.execPath, HOLD, way.url, String(OPEN_STREAMS)],
    core: LOAD_CORE,
    env: { BENCH_REQUESTS: file },
    logFile: join(folder, 'hold.log'),
    ready: /held/,
  })
  await sleep(REST_MS)
  const after = residentBytes(contender.pid)
  await holder.stop()
  return (after - before) / OPEN_STREAMS
}
