// The one owner of prom-client: what it knows of the process and of Node, the sums over several processes, and the text
// that Prometheus reads. Loaded with the first scrape, because most of what it does then starts timers.
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'

import type { Figure } from './metrics.ts'
import { METRICS } from './metrics.ts'

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

let ofRuntime: Registry | undefined

/** Memory, processor time, event loop and garbage of this process: all but the first since this was first asked. */
export async function runtimeFigures(): Promise<readonly Figure[]> {
  if (ofRuntime === undefined) {
    ofRuntime = new Registry()
    collectDefaultMetrics({ register: ofRuntime })
  }
  const figures = (await ofRuntime.getMetricsAsJSON()) as unknown as readonly Figure[]
  return figures.map((figure) => ({
    ...figure,
    // Left out of sums otherwise, and of one process it is the only sign of a restart.
    ...(figure.name === 'process_start_time_seconds' ? { aggregator: 'min' } : {}),
    values: figure.values.filter(({ value }) => !NOTHING_RECORDED.includes(value)),
  }))
}

/** What is read of delays of which none was recorded since the last time: their mean, and their minimum in seconds. */
const NOTHING_RECORDED: readonly number[] = [Number.NaN, 2 ** 63 / 1e9]

/** The figures of several processes as those of one. */
export async function addUp(all: readonly (readonly Figure[])[]): Promise<readonly Figure[]> {
  const summed = AggregatorRegistry.aggregate(all.map((figures) => [...figures]))
  return (await summed.getMetricsAsJSON()) as unknown as readonly Figure[]
}

/** Ours first, in the order of their table. */
export function textOf(figures: readonly Figure[]): Promise<string> {
  const sorted = figures.toSorted((one, other) => placeOf(one) - placeOf(other))
  return AggregatorRegistry.aggregate([sorted]).metrics()
}

const NAMES: readonly string[] = Object.values(METRICS).map(({ name }) => name)

function placeOf({ name }: Figure): number {
  const place = NAMES.indexOf(name)
  return place < 0 ? NAMES.length : place
}
