// How time passes in the sandbox: silences as long as the script says, cut short by the caller or by a timeout as on a
// connection to a real provider.
import { setTimeout } from 'node:timers/promises'

import type { Timeouts } from '../../catalog/models.ts'
import { GatewayError } from '../../core/errors.ts'

type Silence = {
  /** Infinity = until a timeout or the caller ends it. */
  readonly milliseconds: number
  readonly until: 'first byte' | 'next byte'
}
export type Pace = (silence: Silence) => Promise<void>

const TIMER_MILLISECONDS_MAX = 2 ** 31 - 1

/** The pace of one call. */
export function paceOf({ firstByteMs, idleMs, totalMs }: Timeouts, signal: AbortSignal): Pace {
  let leftMs = totalMs
  return async ({ milliseconds, until }) => {
    if (milliseconds === 0) return
    const patienceMs = Math.min(until === 'first byte' ? firstByteMs : idleMs, leftMs)
    const waitedMs = Math.min(milliseconds, patienceMs, TIMER_MILLISECONDS_MAX)
    // On abort the timer rejects with a generic error; the signal's reason says more.
    await setTimeout(waitedMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    leftMs -= waitedMs
    if (milliseconds > waitedMs) {
      throw new GatewayError('provider_timeout', 'the sandbox did not answer in time')
    }
  }
}
