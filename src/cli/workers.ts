// Several serving processes that share one address: the first shows that serving works, the others follow. One that
// dies is replaced, with the configuration that the others have; a signal is passed on, and the process ends when all
// have ended.
import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import { once } from 'node:events'

import type { Config } from '../config/load.ts'
import { watchConfig } from '../config/watch.ts'
import type { ConfigSource } from '../config/written.ts'
import type { Figure } from '../telemetry/metrics.ts'
import { printError } from './output.ts'
import { onEndSignal } from './signals.ts'
import { WorkerFigures } from './worker-figures.ts'

/** A worker that cannot live is not to be started in a loop. */
const REPLACE_AFTER_MS = 1_000

export const isWorker = cluster.isWorker

type Supervision = {
  readonly config: Config
  readonly source: ConfigSource
  /** Called once, when the first worker serves. */
  readonly onServing: (url: string) => void
}

type Figures = readonly Figure[]

/** What a worker says. */
type WorkerMessage =
  | { readonly type: 'starting' }
  | { readonly type: 'serving'; readonly url: string }
  | { readonly type: 'figures asked'; readonly question: number }
  | { readonly type: 'figures'; readonly round: number; readonly figures: Figures }

/** What it is told: its configuration first of all. */
type SupervisorMessage =
  | { readonly type: 'configuration'; readonly config: Config }
  | { readonly type: 'figures wanted'; readonly round: number }
  | { readonly type: 'all figures'; readonly question: number; readonly all: readonly Figures[] }

/** From here on the process does nothing else, and ends with its workers. */
export function superviseWorkers({ config, source, onServing }: Supervision): void {
  let hasServed = false
  let isEnding = false
  let latest = config
  const serving = new Set<Worker>()
  const figures = new WorkerFigures()
  // The workers read it too, and say in the log what is wrong with it.
  watchConfig({ source, config, onChange: (changed) => (latest = changed), onError: () => {} })

  cluster.setupPrimary({ serialization: 'advanced' })
  cluster.on('message', (worker, message: WorkerMessage) => {
    switch (message.type) {
      case 'starting':
        return tell(worker, { type: 'configuration', config: latest })
      case 'serving':
        serving.add(worker)
        if (hasServed) return
        hasServed = true
        for (let more = 1; more < config.server.workers; more++) cluster.fork()
        return onServing(message.url)
      case 'figures':
        return figures.take(worker, message.round, message.figures)
      case 'figures asked':
        void figures
          .gather([...serving], (each, round) => tell(each, { type: 'figures wanted', round }))
          .then((all) => tell(worker, { type: 'all figures', question: message.question, all }))
    }
  })
  cluster.on('exit', (worker, code, signal) => {
    serving.delete(worker)
    figures.ended(worker)
    if (isEnding || !hasServed) return endWhenAlone(code)
    printError(`worker ${worker.process.pid} ended (${signal ?? code}) and is being replaced`)
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
  const [message] = (await answered) as [SupervisorMessage]
  if (message.type !== 'configuration') throw new Error(`the first message is ${message.type}`)
  return message.config
}

/** In a worker that serves: tells what it has counted whenever the first process asks. */
export function tellFigures(own: () => Promise<Figures>): void {
  process.on('message', (message: SupervisorMessage) => {
    if (message.type !== 'figures wanted') return
    void own().then((figures) => tellSupervisor({ type: 'figures', round: message.round, figures }))
  })
}

let questions = 0

/** In a worker: what all of them have counted. */
export function figuresOfWorkers(): Promise<readonly Figures[]> {
  const { promise, resolve } = Promise.withResolvers<readonly Figures[]>()
  const question = ++questions
  const onMessage = (message: SupervisorMessage): void => {
    if (message.type !== 'all figures' || message.question !== question) return
    process.off('message', onMessage)
    resolve(message.all)
  }
  process.on('message', onMessage)
  tellSupervisor({ type: 'figures asked', question })
  return promise
}

export function tellSupervisor(message: WorkerMessage): void {
  process.send?.(message)
}

/** One that is ending hears nothing any more, and need not. */
function tell(worker: Worker, message: SupervisorMessage): void {
  worker.send(message, () => {})
}

/** A worker that a signal killed has no code. */
function endWhenAlone(code: number | null): void {
  if (code !== 0) process.exitCode = code ?? 1
  if (workers().length === 0) process.exit()
}

function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
