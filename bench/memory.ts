// The memory of a process as it grows: at start, after many requests, after twice as many.
import type { Contender } from './contenders/contender.ts'
import { share } from './effort.ts'
import { residentBytes } from './processes.ts'
import { warmUp } from './rounds.ts'
import { SMALL_32 } from './workloads.ts'

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
