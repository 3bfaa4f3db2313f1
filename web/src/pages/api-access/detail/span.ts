// The time a range of the usage tab covers. Pure.
import type { Span } from '../../../usage/usage-figures.ts'
import type { Range } from './detail-search.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A period that began long ago, or never, is looked at from its last 90 days on. */
const longestMs = 90 * dayMs

export function spanOf(range: Range, periodStartsAt: string | null, now: number): Span {
  const from = (ms: number, step: Span['step']): Span => ({
    since: new Date(ms).toISOString(),
    until: new Date(now).toISOString(),
    step,
  })
  switch (range) {
    case '24h':
      return from(now - dayMs, 'hour')
    case '7d':
      return from(now - 7 * dayMs, 'day')
    case '30d':
      return from(now - 30 * dayMs, 'day')
    case 'period': {
      const start = periodStartsAt === null ? 0 : Date.parse(periodStartsAt)
      const since = Math.max(start, now - longestMs)
      return from(since, now - since <= 2 * dayMs ? 'hour' : 'day')
    }
  }
}
