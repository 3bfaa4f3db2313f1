// Durations, sizes, moments and amounts as people and JSON write them.
import { formatUsd, type Nanodollars } from './money.ts'

/** Fixed lengths of time: a calendar day may be longer or shorter (periods.ts). */
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

const MS_PER_UNIT = { ms: 1, s: 1_000, m: 60_000, h: HOUR_MS, d: DAY_MS } as const
const BYTES_PER_UNIT = { B: 1, KB: 1_024, MB: 1_048_576, GB: 1_073_741_824 } as const

/** `3s`, `0.2s`, `24h`, `7d`: milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text.trim())
  if (match === null) return text.trim() === '0' ? 0 : undefined
  return Math.round(Number(match[1]) * MS_PER_UNIT[match[2] as keyof typeof MS_PER_UNIT])
}

/** `32MB`: bytes. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d{1,6})\s?(B|KB|MB|GB)$/i.exec(text.trim())
  if (match === null) return undefined
  const unit = (match[2] ?? '').toUpperCase() as keyof typeof BYTES_PER_UNIT
  return Number(match[1]) * BYTES_PER_UNIT[unit]
}

/** `32 MB`: in the largest unit that needs no fraction. */
export function formatSize(bytes: number): string {
  const [unit, each] = Object.entries(BYTES_PER_UNIT).findLast(
    ([, size]) => bytes % size === 0,
  ) ?? ['B', 1]
  return `${bytes / each} ${unit}`
}

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

/**
 * How far off a moment is, in the one unit that people would use: "in 3 days", "2 minutes ago". The future is rounded, so
 * that seven days are still seven a second later; the past is truncated.
 */
export function timeDistance(differenceMs: number): TimeDistance {
  const [unit, lengthMs] = UNITS.find(([, ms]) => Math.abs(differenceMs) >= ms) ?? ['second', 1_000]
  const count = differenceMs / lengthMs
  return { unit, count: count > 0 ? Math.round(count) : Math.trunc(count) }
}

/** USD as a decimal text, because money is never a float. Null stays null: there is no such amount. */
export function usd(amount: Nanodollars): string
export function usd(amount: Nanodollars | null): string | null
export function usd(amount: Nanodollars | null): string | null {
  return amount === null ? null : formatUsd(amount)
}

const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z')

/** The moment that an ISO 8601 text names; undefined outside 1970 to 9999, where databases and other tools disagree. */
export function momentOf(text: string): number | undefined {
  const moment = Date.parse(text)
  return moment >= 0 && moment <= LAST_MOMENT ? moment : undefined
}

/** ISO 8601 in UTC. */
export function iso(moment: number): string
export function iso(moment: number | null): string | null
export function iso(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
