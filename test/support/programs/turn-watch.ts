// Loaded into a gateway by a test (`node --import`): measures the longest work of its serving thread between two turns of
// the event loop, in processor time, which other processes do not lengthen. SIGUSR2 prints it and begins anew.
import { setImmediate } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { processorMs } from '../../samples/processor-time.ts'

if (isMainThread) {
  let longestMs = 0
  let beforeMs = processorMs()
  let signals = 0

  setInterval(() => {
    const nowMs = processorMs()
    longestMs = Math.max(longestMs, nowMs - beforeMs)
    beforeMs = nowMs
  }, 1).unref()

  const tell = async (): Promise<void> => {
    const measuredMs = longestMs
    let referenceMs = Infinity
    for (let times = 0; times < 5; times++) {
      referenceMs = Math.min(referenceMs, reference())
      // What is asked meanwhile must not wait for the measuring.
      await setImmediate()
      await setImmediate()
    }
    const figures = `${measuredMs.toFixed(1)} ms, reference ${referenceMs.toFixed(1)} ms`
    console.log(`longest turn until signal ${++signals}: ${figures}`)
    beforeMs = processorMs()
    longestMs = 0
  }
  process.on('SIGUSR2', () => void tell())
}

/** How long this machine takes for a fixed piece of work of the same kind, to judge the rest by. */
function reference(): number {
  const text = JSON.stringify(Array.from({ length: 50_000 }, (_, index) => ({ index, text: 'x' })))
  const startedMs = processorMs()
  for (let times = 0; times < 4; times++) JSON.parse(text)
  return processorMs() - startedMs
}
