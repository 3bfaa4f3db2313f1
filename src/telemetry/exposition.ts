// The one owner of prom-client: its metrics of the process and of Node, the sums over several processes, and the text
// that Prometheus reads. Loaded with the first scrape, because collecting its metrics starts timers.
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'

import { METRICS, type Figure } from './metrics.ts'

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

let ofRuntime: Registry | undefined

/** Memory, processor time, event loop and garbage of this process: all but the first counted since the first call. */
export async function runtimeFigures(): Promise<readonly Figure[]> {
  if (ofRuntime === undefined) {
    ofRuntime = new Registry()
    collectDefaultMetrics({ register: ofRuntime })
  }
  const figures = (await ofRuntime.getMetricsAsJSON()) as unknown as readonly Figure[]
  return figures.map((figure) => ({
    ...figure,
    // Otherwise it is left out of the sums, and for a single process it is the only sign of a restart.
    ...(figure.name === 'process_start_time_seconds' ? { aggregator: 'min' } : {}),
    values: figure.values.filter(({ value }) => !NOTHING_RECORDED.includes(value)),
  }))
}

/** The mean, and the minimum in seconds, that Node reports when no delay was recorded since the last scrape. */
const NOTHING_RECORDED: readonly number[] = [Number.NaN, 2 ** 63 / 1e9]

/** The figures of several processes, joined as if they were one. */
export async function addUp(all: readonly (readonly Figure[])[]): Promise<readonly Figure[]> {
  const summed = AggregatorRegistry.aggregate(all.map((figures) => [...figures]))
  return (await summed.getMetricsAsJSON()) as unknown as readonly Figure[]
}

/** Tollgate's own first, in the order of their table. */
export function textOf(figures: readonly Figure[]): Promise<string> {
  const sorted = figures.toSorted((one, other) => orderOf(one) - orderOf(other))
  return AggregatorRegistry.aggregate([sorted]).metrics()
}

const NAMES: readonly string[] = Object.values(METRICS).map(({ name }) => name)

function orderOf({ name }: Figure): number {
  const index = NAMES.indexOf(name)
  return index < 0 ? NAMES.length : index
}
