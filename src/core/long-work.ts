// Work on large bodies, done in steps: between two of them the event loop turns, so that whoever else waits is served.
// A step is one pass over a body, and the limits on bodies keep each within some tens of milliseconds.
import { setImmediate } from 'node:timers/promises'

/** All steps with a smaller body together take a few milliseconds, so it never waits. */
const LARGE_BYTES = 256 * 1024

const DONE = Promise.resolve()
let last = DONE

/** Waits for the turn of the next step with a body of this size. Of all large bodies, one has its turn at a time. */
export function nextStep(bytes: number): Promise<void> {
  if (bytes <= LARGE_BYTES) return DONE
  last = last.then(turnOver)
  return last
}

/** Two turns: in one a connection is accepted, in the next its request is read. */
async function turnOver(): Promise<void> {
  await setImmediate()
  await setImmediate()
}
