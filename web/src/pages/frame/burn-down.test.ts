// The line of what is left begins with the limit, follows the days, and ends with what the books say.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forecastEnd, leftSoFar } from './burn-down.ts'

const DAY_MS = 86_400_000
const start = Date.UTC(2026, 10, 1)
const budget = {
  limit: '100',
  spent: '45',
  period_starts_at: new Date(start).toISOString(),
  resets_at: new Date(start + 30 * DAY_MS).toISOString(),
  forecast: { spent_at_reset: '90', exhausted_at: null },
}
const now = { now: start + 3.5 * DAY_MS, stepMs: DAY_MS }

test('each day takes its cost off, in whatever order days come', () => {
  const steps = [
    { at: start + 2 * DAY_MS, cost: '20' },
    { at: start, cost: '10' },
    { at: start + 3 * DAY_MS, cost: '10' },
  ]
  const points = leftSoFar(budget, steps, now).map(({ at, left }) => [(at - start) / DAY_MS, left])
  assert.deepEqual(points, [
    [0, 100],
    [1, 90],
    [3, 70],
    [3.5, 55],
  ])
})

test('what was spent beyond the limit leaves nothing', () => {
  const over = { ...budget, spent: '120' }
  assert.equal(leftSoFar(over, [], now).at(-1)?.left, 0)
})

test('the forecast ends with the period, or where nothing is left', () => {
  const end = start + 30 * DAY_MS
  assert.deepEqual(forecastEnd(budget), { at: end, left: 10 })
  const exhausted_at = new Date(start + 9 * DAY_MS).toISOString()
  const spent = { ...budget, forecast: { spent_at_reset: '300', exhausted_at } }
  assert.deepEqual(forecastEnd(spent), { at: start + 9 * DAY_MS, left: 0 })
  assert.equal(forecastEnd({ ...budget, forecast: null }), undefined)
  assert.equal(forecastEnd({ ...budget, resets_at: null }), undefined)
})
