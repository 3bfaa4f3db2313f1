// Several serving processes that share one address: the first shows that serving works, the others follow. One that
// dies is replaced, with the configuration that the others have; a signal is passed on, and the process ends when all
// have ended.
import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import { once } from 'node:events'

import type { Config } from '../config/load.ts'
import { watchConfig } from '../config/watch.ts'
import type { ConfigSource } from '../config/written.ts'
import { printError } from './output.ts'
import { onEndSignal } from './signals.ts'

/** A worker that cannot live is not to be started in a loop. */
const REPLACE_AFTER_MS = 1_000

export const isWorker = cluster.isWorker

export type Supervision = {
  readonly config: Config
  readonly source: ConfigSource
  /** Called once, when the first worker serves. */
  readonly onServing: (url: string) => void
}

/** What a worker says; the answer to the first is the configuration. */
type WorkerMessage =
  | { readonly type: 'starting' }
  | { readonly type: 'serving'; readonly url: string }

/** From here on the process does nothing else, and ends with its workers. */
export function superviseWorkers({ config, source, onServing }: Supervision): void {
  let isServing = false
  let isEnding = false
  let latest = config
  // The workers read it too, and say in the log what is wrong with it.
  watchConfig({ source, config, onChange: (changed) => (latest = changed), onError: () => {} })

  cluster.setupPrimary({ serialization: 'advanced' })
  cluster.on('message', (worker, message: WorkerMessage) => {
    if (message.type === 'starting') worker.send(latest)
    else if (!isServing) {
      isServing = true
      for (let more = 1; more < config.server.workers; more++) cluster.fork()
      onServing(message.url)
    }
  })
  cluster.on('exit', (worker, code, signal) => {
    if (isEnding || !isServing) return endWhenAlone(code)
    printError(`worker ${worker.process.pid} ended (${signal ?? code}) and is replaced`)
    setTimeout(() => isEnding || cluster.fork(), REPLACE_AFTER_MS)
  })
  onEndSignal(() => {
    isEnding = true
    // The second time, workers end at once, as a single process does.
    for (const worker of workers()) worker.process.kill('SIGTERM')
  })
  cluster.fork()
}

/** In a worker: what it is to serve. A file that has become wrong, or names another database, must not divide them. */
export async function supervisedConfig(): Promise<Config> {
  const answered = once(process, 'message')
  tellSupervisor({ type: 'starting' })
  const [config] = (await answered) as [Config]
  return config
}

export function tellSupervisor(message: WorkerMessage): void {
  process.send?.(message)
}

/** A worker that a signal killed has no code. */
function endWhenAlone(code: number | null): void {
  if (code !== 0) process.exitCode = code ?? 1
  if (workers().length === 0) process.exit()
}

function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
