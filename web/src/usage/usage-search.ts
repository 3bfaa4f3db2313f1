// The usage filters as kept in the address, for all keys and for one, and the time span they select. Pure.
import { z } from 'zod'
import { DAY_MS } from '../../../src/core/units.ts'
import { day, endOfDay, startOfDay } from '../days.ts'

export const METRICS = [
  'cost',
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'cache_write_tokens',
] as const
export type Metric = (typeof METRICS)[number]

/** `period`: for one key, since its budget period started. */
export const RANGES = ['24h', '7d', '30d', '90d', 'period', 'days'] as const

export const GROUPS = ['key', 'model', 'provider', 'endpoint', 'day'] as const
export type Group = (typeof GROUPS)[number]

export const usageFields = {
  range: z.enum(RANGES).optional().catch(undefined),
  from: day,
  to: day,
  metric: z.enum(METRICS).optional().catch(undefined),
  by: z.enum(GROUPS).optional().catch(undefined),
  /** Compare with the preceding span of the same length. */
  compare: z.literal(true).optional().catch(undefined),
}

export const usageSearch = z.object(usageFields)
export type UsageSearch = z.output<typeof usageSearch>

export type Span = {
  readonly since: string
  readonly until: string
  readonly step: 'day' | 'hour'
}

const lengths = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const
/** A period that started longer ago, or has no start, shows its last 90 days. */
const longestMs = 90 * DAY_MS

/** Callers round `now` to the minute, so that the same span keeps the same cache key. */
export function spanOf(
  { range = '30d', from, to }: Pick<UsageSearch, 'range' | 'from' | 'to'>,
  now: number,
  periodStartsAt: string | null = null,
): Span {
  const ago = (ms: number): Span => spanBetween(now - ms, now)
  if (range === 'days') {
    const since = Date.parse(startOfDay(from) ?? '') || now - lengths['30d'] * DAY_MS
    const until = Date.parse(endOfDay(to) ?? '') || now
    // A span that ends before it begins is a mistake; show the default span.
    return since < until ? spanBetween(since, until) : ago(lengths['30d'] * DAY_MS)
  }
  if (range !== 'period') return ago(lengths[range] * DAY_MS)
  const start = periodStartsAt === null ? 0 : Date.parse(periodStartsAt)
  return spanBetween(Math.max(start, now - longestMs), now)
}

/** Up to two days are shown by the hour. */
function spanBetween(sinceMs: number, untilMs: number): Span {
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    step: untilMs - sinceMs <= 2 * DAY_MS ? 'hour' : 'day',
  }
}
