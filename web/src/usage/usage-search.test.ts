// The time span that the address stands for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spanOf } from './usage-search.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const dayMs = 86_400_000

for (const { what, search, period = null, days, step } of [
  { what: 'no range', search: {}, days: 30, step: 'day' },
  { what: 'a day', search: { range: '24h' }, days: 1, step: 'hour' },
  { what: '90 days', search: { range: '90d' }, days: 90, step: 'day' },
  {
    what: 'a young period',
    search: { range: 'period' },
    period: '2026-11-14T00:00:00Z',
    days: 1.5,
    step: 'hour',
  },
  { what: 'a period without end', search: { range: 'period' }, days: 90, step: 'day' },
  {
    // No zone changes its clocks on these days, so each has 24 hours.
    what: 'chosen days',
    search: { range: 'days', from: '2026-11-03', to: '2026-11-12' },
    days: 10,
    step: 'day',
  },
  {
    what: 'one chosen day',
    search: { range: 'days', from: '2026-11-10', to: '2026-11-10' },
    days: 1,
    step: 'hour',
  },
  {
    what: 'days in the wrong order',
    search: { range: 'days', from: '2026-11-10', to: '2026-11-01' },
    days: 30,
    step: 'day',
  },
] as const)
  test(`${what}: ${days} days by the ${step}`, () => {
    const span = spanOf(search, now, period)
    assert.equal((Date.parse(span.until) - Date.parse(span.since)) / dayMs, days)
    assert.equal(span.step, step)
  })
