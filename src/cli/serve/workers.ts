// Several serving processes that share one address: the first shows that serving works, the others follow. A worker
// that dies or stops is replaced by one with the same configuration as the others. Signals are passed on, and the
// supervisor ends when all workers have ended.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Config } from '../../config/load.ts'
import type { ConfigSource } from '../../config/source.ts'
import { watchConfig } from '../../config/watch.ts'
import { systemClock } from '../../core/clock.ts'
import { FailureDetector } from '../../ledger/nodes/failure-detector.ts'
import type { Figure } from '../../telemetry/metrics.ts'
import { printError } from '../terminal/output.ts'

/** A worker that dies at once must not be restarted in a tight loop. */
const REPLACE_AFTER_MS = 1_000

export const isWorker = cluster.isWorker

type Supervision = {
  readonly config: Config
  readonly source: ConfigSource
  /** Called once, when the first worker serves. */
  readonly onServing: (url: string) => void
}

type Figures = readonly Figure[]

/** Messages from a worker. */
type WorkerMessage =
  | { readonly type: 'starting' }
  | { readonly type: 'beat' }
  | { readonly type: 'serving'; readonly url: string }
  | { readonly type: 'figures asked'; readonly question: number }
  | { readonly type: 'figures'; readonly round: number; readonly figures: Figures }

/** Messages to a worker: the first is its configuration. */
type SupervisorMessage =
  | { readonly type: 'configuration'; readonly config: Config }
  | { readonly type: 'figures wanted'; readonly round: number }
  | { readonly type: 'all figures'; readonly question: number; readonly all: readonly Figures[] }

/** From here on the process only supervises, and ends with its workers. */
export function superviseWorkers({ config, source, onServing }: Supervision): void {
  let hasServed = false
  let isEnding = false
  let latest = config
  const serving = new Set<Worker>()
  const figures = new WorkerFigures()
  /** How often each worker was heard. */
  const beats = new Map<number, number>()
  // The workers watch the file too, and log what is wrong with it.
  watchConfig({ source, config, onChange: (changed) => (latest = changed), onError: () => {} })

  cluster.setupPrimary({ serialization: 'advanced' })
  cluster.on('message', (worker, message: WorkerMessage) => {
    switch (message.type) {
      case 'beat':
        beats.set(worker.id, (beats.get(worker.id) ?? 0) + 1)
        return
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
    beats.delete(worker.id)
    figures.ended(worker)
    if (isEnding || !hasServed) {
      // A worker killed by a signal has no exit code.
      if (code !== 0) process.exitCode = code ?? 1
      return workers().length === 0 ? process.exit() : undefined
    }
    printError(`worker ${worker.process.pid} ended (${signal ?? code}) and is being replaced`)
    setTimeout(() => isEnding || cluster.fork(), REPLACE_AFTER_MS)
  })
  replaceSilent(beats, config.ledger)
  onEndSignal(() => {
    isEnding = true
    // On the second signal, workers end at once, as a single process does.
    for (const worker of workers()) worker.process.kill('SIGTERM')
  })
  cluster.fork()
}

/** A worker that stands still, as after SIGSTOP, serves nobody, and only its end brings the next one: it is killed. */
function replaceSilent(
  beats: ReadonlyMap<number, number>,
  { beatMs, deadAfterMs }: Config['ledger'],
): void {
  const detector = new FailureDetector(deadAfterMs)
  const timer = setInterval(() => {
    const heard = [...beats].map(([nodeId, count]) => ({ nodeId, beats: count }))
    for (const id of detector.look(systemClock.monotonicMs(), heard)) {
      const worker = cluster.workers?.[id]
      printError(`worker ${worker?.process.pid} does not answer and is killed`)
      worker?.process.kill('SIGKILL')
    }
  }, beatMs)
  timer.unref()
}

/** In a worker: its configuration. Not from the file, which may be broken or name another database by now. */
export async function supervisedConfig(): Promise<Config> {
  const answered = once(process, 'message')
  // bin/runtime.mjs lets no process live for its channel alone, but here there is nothing else to wait for yet.
  process.channel?.ref()
  tellSupervisor({ type: 'starting' })
  const [message] = (await answered) as [SupervisorMessage]
  if (message.type !== 'configuration') throw new Error(`the first message is ${message.type}`)
  setInterval(() => tellSupervisor({ type: 'beat' }), message.config.ledger.beatMs).unref()
  return message.config
}

/** In a serving worker: sends its figures whenever the supervisor asks. */
export function tellFigures(own: () => Promise<Figures>): void {
  process.on('message', (message: SupervisorMessage) => {
    if (message.type !== 'figures wanted') return
    void own().then((figures) => tellSupervisor({ type: 'figures', round: message.round, figures }))
  })
}

let questions = 0

/** In a worker: the figures of all workers. */
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

/** Ignores errors: a worker that is ending cannot receive messages, and need not. */
function tell(worker: Worker, message: SupervisorMessage): void {
  worker.send(message, () => {})
}

function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

/** Workers that are busy for longer are not waited for. */
const ANSWER_MS_MAX = 1_000

/** Keeps those of ended and silent workers: a sum that falls would look like a restart to a monitor. */
class WorkerFigures {
  readonly #latest = new Map<number, Figures>()
  #ofEnded: Promise<Figures> = Promise.resolve([])
  readonly #rounds = new Map<number, Round>()
  #roundCount = 0

  /** Asks each worker for its figures. The round's number comes back with each answer, in `take`. */
  async gather(
    workers: readonly Worker[],
    ask: (worker: Worker, round: number) => void,
  ): Promise<readonly Figures[]> {
    const number = ++this.#roundCount
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>()
    const late = setTimeout(over, ANSWER_MS_MAX)
    this.#rounds.set(number, { awaited: new Set(workers.map(({ id }) => id)), over })
    for (const worker of workers) ask(worker, number)
    await isOver
    clearTimeout(late)
    this.#rounds.delete(number)
    return [await this.#ofEnded, ...this.#latest.values()]
  }

  take({ id }: Worker, round: number, figures: Figures): void {
    this.#latest.set(id, figures)
    this.#miss(id, round)
  }

  ended({ id }: Worker): void {
    const last = this.#latest.get(id)
    this.#latest.delete(id)
    for (const round of this.#rounds.keys()) this.#miss(id, round)
    if (last !== undefined) this.#ofEnded = this.#ofEnded.then((before) => withEnded(before, last))
  }

  #miss(id: number, round: number): void {
    const { awaited, over } = this.#rounds.get(round) ?? {}
    awaited?.delete(id)
    if (awaited?.size === 0) over?.()
  }
}

type Round = { readonly awaited: Set<number>; readonly over: () => void }

/** Gauges end with their process; counts stay. */
async function withEnded(before: Figures, last: Figures): Promise<Figures> {
  const { addUp } = await import('../../telemetry/exposition.ts')
  return addUp([before, last.filter(({ type }) => type !== 'gauge')])
}

/** SIGHUP counts only at a terminal that was closed; elsewhere it asks for a reload, which happens by itself. */
export function onEndSignal(end: () => void): void {
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('SIGHUP', () => {
    if (process.stdout.isTTY) end()
  })
}
