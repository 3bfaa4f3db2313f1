// Durations and sizes as people write them.
import { DAY_MS, HOUR_MS } from './durations.ts'

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
