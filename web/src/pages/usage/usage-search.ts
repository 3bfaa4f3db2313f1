// The state of the usage page as it stands in the address, and the time it covers. Pure.
import { z } from 'zod'
import { day, endOfDay, startOfDay } from '../../days.ts'
import { METRICS } from '../../usage/usage-figures.ts'
import type { Span } from '../../usage/usage-figures.ts'

export const RANGES = ['24h', '7d', '30d', '90d', 'days'] as const
export const GROUPS = ['key', 'model'] as const
export type Group = (typeof GROUPS)[number]

export const usageSearch = z.object({
  range: z.enum(RANGES).optional().catch(undefined),
  from: day,
  to: day,
  metric: z.enum(METRICS).optional().catch(undefined),
  by: z.enum(GROUPS).optional().catch(undefined),
})
export type UsageSearch = z.output<typeof usageSearch>

const dayMs = 86_400_000
const lengths = { '7d': 7, '30d': 30, '90d': 90 } as const

/** `now` to the minute, so that the same question is asked under the same name. */
export function spanOf({ range = '30d', from, to }: UsageSearch, now: number): Span {
  const until = new Date(now).toISOString()
  const since = (days: number): string => new Date(now - days * dayMs).toISOString()
  if (range === '24h') return { since: since(1), until, step: 'hour' }
  if (range !== 'days') return { since: since(lengths[range]), until, step: 'day' }
  const chosen = { since: startOfDay(from) ?? since(30), until: endOfDay(to) ?? until }
  // A time that ends before it begins is what nobody means.
  return chosen.since < chosen.until
    ? { ...chosen, step: 'day' }
    : { since: since(30), until, step: 'day' }
}
