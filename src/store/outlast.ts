// Waits for a database that is away for a moment, so that its restart is felt as a delay and not as an error.
import { setTimeout as pause } from 'node:timers/promises'

import type { Clock } from '../core/clock.ts'
import { StoreError } from './errors.ts'
import { isOutage, ThreadLost } from './outage.ts'

/** How long a new request waits for a database that cannot be reached. */
export const OUTAGE_MS_MAX = 5_000
const PAUSE_MS = 100

/** Retries a read for as long as waiting may help; `read` must not change anything. */
export async function outlast<Value>(clock: Clock, read: () => Promise<Value>): Promise<Value> {
  const deadlineMs = clock.monotonicMs() + OUTAGE_MS_MAX
  for (;;) {
    try {
      return await answerWithin(deadlineMs - clock.monotonicMs(), read())
    } catch (thrown) {
      // A thread that is lost does not come back: this process ends.
      const isPassing = isOutage(thrown) && !(thrown instanceof ThreadLost)
      if (!isPassing || clock.monotonicMs() >= deadlineMs) throw thrown
    }
    await pause(PAUSE_MS)
  }
}

/** A database that does not answer in time counts as unreachable. */
export async function answerWithin<Value>(
  timeoutMs: number,
  answer: Promise<Value>,
): Promise<Value> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new StoreError('unreachable', 'the database does not answer'))
  }, timeoutMs)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
