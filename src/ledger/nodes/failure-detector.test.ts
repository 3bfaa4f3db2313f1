// When a silent node is dead, and when it is only the database that is silent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FailureDetector } from './failure-detector.ts'

/** Looks once per second at a node whose beats follow this list. */
function deaths(beats: readonly number[], deadAfterMs = 4000): readonly number[] {
  const detector = new FailureDetector(deadAfterMs)
  return beats.flatMap((count, second) =>
    detector.look(second * 1000, [{ nodeId: 7, beats: count }]).length > 0 ? [second] : [],
  )
}

test('a node that beats is alive', () => assert.deepEqual(deaths([1, 2, 3, 4, 5, 6, 7, 8]), []))

test('a node is dead once it has been seen silent for long enough', () =>
  assert.deepEqual(deaths([1, 1, 1, 1, 1, 1]), [4]))

test('one beat restarts the wait', () => assert.deepEqual(deaths([1, 1, 1, 1, 2, 2, 2, 2, 2]), [8]))

test('a count of beats that goes back is a beat too', () =>
  assert.deepEqual(deaths([5, 5, 5, 1, 1, 1, 1]), []))

test('an outage of the database makes no node dead', () => {
  const detector = new FailureDetector(4000)
  const silent = [{ nodeId: 7, beats: 1 }]
  assert.deepEqual(detector.look(0, silent), [])
  assert.deepEqual(detector.look(60_000, silent), [])
  assert.deepEqual(detector.look(61_000, silent), [])
  assert.deepEqual(detector.look(62_000, silent), [])
  assert.deepEqual(detector.look(63_000, silent), [])
  assert.deepEqual(detector.look(64_000, silent), [7])
})
