// A bound that fell short is raised by what it lacked, and only once for requests that run at the same time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RaisedBounds } from './reservation.ts'

const target = { name: 'one/m' }

test('a bound is raised by the factor by which it fell short', () => {
  const bounds = new RaisedBounds()
  assert.equal(bounds.factorOf(target, 'bytes'), 1)
  bounds.raise(target, { basis: 'bytes', from: 1, times: 2 })
  bounds.raise(target, { basis: 'bytes', from: bounds.factorOf(target, 'bytes'), times: 1.5 })
  assert.equal(bounds.factorOf(target, 'bytes'), 3)
  assert.equal(bounds.factorOf({ name: 'two/m' }, 'bytes'), 1)
})

test('concurrent requests raise a bound once', () => {
  const bounds = new RaisedBounds()
  for (const times of [2, 3, 2, 0.5]) bounds.raise(target, { basis: 'bytes', from: 1, times })
  assert.equal(bounds.factorOf(target, 'bytes'), 3)
})

test('a recount that fell short raises recounts alone', () => {
  const bounds = new RaisedBounds()
  bounds.raise(target, { basis: 'count', from: 1, times: 9 })
  assert.deepEqual([bounds.factorOf(target, 'count'), bounds.factorOf(target, 'bytes')], [9, 1])
})
