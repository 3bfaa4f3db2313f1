// Loaded into a gateway (NODE_OPTIONS=--import): its SQLite thread dies as soon as the file that DIE_WHEN names exists.
// The thread has no event loop while it waits for work, so it is its waiting that looks for the file.
import { existsSync } from 'node:fs'
import { threadName } from 'node:worker_threads'

const LOOK_EVERY_MS = 10

/** What Atomics.wait is called with. */
type Waiting = [bell: Int32Array, index: number, value: number, timeoutMs?: number]

if (threadName === 'sqlite') {
  const { wait } = Atomics
  const waitOrDie = (...[bell, index, value, timeoutMs]: Waiting) => {
    for (;;) {
      if (existsSync(process.env['DIE_WHEN'] ?? '')) process.exit(3)
      const woken = wait(bell, index, value, Math.min(timeoutMs ?? Infinity, LOOK_EVERY_MS))
      if (woken !== 'timed-out' || timeoutMs !== undefined) return woken
    }
  }
  Object.assign(Atomics, { wait: waitOrDie })
}
