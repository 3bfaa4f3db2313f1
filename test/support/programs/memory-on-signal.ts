// Loaded into a gateway by a test (`node --expose-gc --import`): on SIGUSR2 it collects garbage and prints how much
// memory is left in use, with the number of the signal.
import { setImmediate as turn } from 'node:timers/promises'

let signals = 0

process.on('SIGUSR2', () => void tell(++signals))

async function tell(signal: number): Promise<void> {
  // What one collection finds unused may only be freed by the next.
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.()
    await turn()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  console.log(`in use at signal ${signal}: ${heapUsed + arrayBuffers} bytes`)
}
