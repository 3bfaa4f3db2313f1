// How far off a moment is, in the one unit that people would use: "in 3 days", "2 minutes ago".
import { DAY_MS, HOUR_MS } from './durations.ts'

const UNITS = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', 60_000],
] as const

type TimeDistance = {
  readonly unit: (typeof UNITS)[number][0] | 'second'
  /** Negative for the past. */
  readonly count: number
}

/** The future is rounded, so that seven days are still seven a second later; the past is truncated. */
export function timeDistance(differenceMs: number): TimeDistance {
  const [unit, lengthMs] = UNITS.find(([, ms]) => Math.abs(differenceMs) >= ms) ?? ['second', 1_000]
  const count = differenceMs / lengthMs
  return { unit, count: count > 0 ? Math.round(count) : Math.trunc(count) }
}
