// In the supervisor: the figures of its workers. Those of ended workers are kept, and a worker that does not answer
// counts with its last figures: a sum that falls would look like a restart to a monitor.
import type { Worker } from 'node:cluster'

import type { Figure } from '../telemetry/metrics.ts'

type Figures = readonly Figure[]

/** Workers that are busy for longer are not waited for. */
const ANSWER_MS_MAX = 1_000

export class WorkerFigures {
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
  const { addUp } = await import('../telemetry/exposition.ts')
  return addUp([before, last.filter(({ type }) => type !== 'gauge')])
}
