// Durations of LiteLLM's budgets, and the periods of the calendar that they come closest to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodOf } from './units.ts'

test('a duration is the closest period, and one that is far from any says so', () => {
  const cases = [
    ['24h', 'day', true],
    ['1d', 'day', true],
    ['daily', 'day', true],
    ['7d', 'week', true],
    ['1w', 'week', true],
    ['30d', 'month', true],
    ['31d', 'month', true],
    ['1mo', 'month', true],
    ['365d', 'year', true],
    ['30m', 'day', false],
    ['14d', 'week', false],
    ['90d', 'month', false],
    ['soon', 'never', false],
    ['0d', 'never', false],
    [null, 'never', true],
  ] as const
  for (const [duration, period, isClose] of cases) {
    const found = periodOf(duration)
    assert.deepEqual([found.period, found.isClose], [period, isClose], String(duration))
  }
})
