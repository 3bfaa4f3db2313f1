// Several serving processes that share one address: the first shows that serving works, the others follow. One that
// dies is replaced; a signal is passed on, and the process ends when all have ended.
import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'

import { urlOf } from '../core/url-of.ts'
import { printError } from './output.ts'

/** A worker that cannot live is not to be started in a loop. */
const REPLACE_AFTER_MS = 1_000

export const isWorker = cluster.isWorker

/** Never comes back: the process ends with its workers. */
export function superviseWorkers(count: number, onListening: (url: string) => void): void {
  let isServing = false
  let isEnding = false

  cluster.on('listening', (_worker, { address, port }) => {
    if (isServing) return
    isServing = true
    for (let more = 1; more < count; more++) cluster.fork()
    onListening(urlOf({ host: address, port }))
  })
  cluster.on('exit', (worker, code, signal) => {
    if (isEnding || !isServing) return endWhenAlone(code)
    printError(`worker ${worker.process.pid} ended (${signal ?? code}) and is replaced`)
    setTimeout(() => isEnding || cluster.fork(), REPLACE_AFTER_MS)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      isEnding = true
      // The second time, workers end at once, as a single process does.
      for (const worker of workers()) worker.process.kill('SIGTERM')
    })
  }
  cluster.fork()
}

/** A worker that a signal killed has no code. */
function endWhenAlone(code: number | null): void {
  if (code !== 0) process.exitCode = code ?? 1
  if (workers().length === 0) process.exit()
}

function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
