// What every measurement needs: its effort (full, or BENCH_EFFORT=0.1 to try out the benchmark itself), the median and
// the spread of its rounds, and a folder.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const effort = Number(process.env['BENCH_EFFORT'] ?? 1)
if (!(effort > 0 && effort <= 1)) {
  throw new Error('BENCH_EFFORT is the share of a whole run: above 0, at most 1')
}

/** The share of a count, as a whole number of at least 1. */
export function share(whole: number): number {
  return Math.max(1, Math.round(whole * effort))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * share)] ?? 0
}

/** Of figures beside others of the same rounds: the median of the ratios within each round. */
export function medianRatio(values: readonly number[], others: readonly number[]): number {
  return median(values.map((value, round) => value / (others[round] ?? NaN)))
}

/** Half the distance between the smallest and the largest, as a share of the median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values)
}

/** On the checkout's own disk: a temporary folder may be in memory, where a commit costs nothing. */
const CACHE = fileURLToPath(new URL('../.cache', import.meta.url))

/** A new folder for databases and logs, removed when this process ends. */
export function runFolder(): string {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}
