// How often a page asks for new figures.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyQuery, limitsQuery } from './queries.ts'

const ofAKey = [keyQuery('key_1'), limitsQuery('key_1', undefined)].map(
  ({ refetchInterval }) =>
    (data?: object) =>
      typeof refetchInterval === 'function' && refetchInterval({ state: { data } } as never),
)

test('the page of a key shows the cost of a call within three seconds', () => {
  for (const intervalWith of ofAKey) {
    const intervalMs = intervalWith({})
    assert.ok(intervalMs && intervalMs <= 3_000, String(intervalMs))
  }
})

test('what could not be loaded is not asked for again and again', () => {
  for (const intervalWith of ofAKey) assert.equal(intervalWith(undefined), false)
})
