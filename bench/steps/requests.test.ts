// Marks become steps: each request's own, in whole.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MARKS, type Marked, type MarkName } from './names.ts'
import { middleOf, requestsOf, type Sent } from './requests.ts'

describe('the steps of a request', () => {
  const on = (...marks: readonly (readonly [number, MarkName])[]): readonly Marked[] =>
    marks.map(([atMs, name]) => [atMs, MARKS.indexOf(name)])

  test('add up to its whole time, each ending at its mark', () => {
    const marks = on([1, 'request'], [2, 'hold asked'], [4, 'posted'], [7, 'back'], [8, 'held'])
    const [request] = requestsOf([[0, 10]], marks)
    assert.deepEqual(
      [...(request ?? [])],
      [
        ...[['request', 1000] as const, ['hold asked', 1000] as const],
        ...[['hold posted', 2000] as const, ['hold back', 3000] as const],
        ...[['held', 1000] as const, ['last byte', 2000] as const],
      ],
    )
  })

  test('of PostgreSQL are told apart by trip, however many packets one has', () => {
    const first = on([1, 'settlement asked'], [2, 'written'], [3, 'written'], [4, 'received'])
    const second = on([5, 'written'], [6, 'received'], [7, 'received'], [8, 'settled'])
    const [request] = requestsOf([[0, 9]], [...first, ...second])
    assert.equal(request?.get('settlement written 1'), 2000)
    assert.equal(request?.get('settlement written 2'), 1000)
    assert.equal(request?.get('settlement received 2'), 2000)
  })

  test('leave out what is done between requests, and for nobody', () => {
    const marks = on([1, 'request'], [3, 'posted'], [3.5, 'back'], [4, 'request'], [4.5, 'taken'])
    const requests = requestsOf(
      [
        [0, 2],
        [3.7, 5],
      ],
      marks,
    )
    assert.deepEqual(
      requests.map((request) => [...request.keys()]),
      [
        ['request', 'last byte'],
        ['request', 'last byte'],
      ],
    )
  })

  test('are the mean of the requests around the median, without those that differ', () => {
    const sent = [100, 1, 2, 3, 9].map((ms, index): Sent => [index * 1000, index * 1000 + ms])
    const { microseconds, wholeUs, requests } = middleOf(requestsOf(sent, on([50, 'request'])))
    assert.deepEqual([...microseconds.keys()], ['last byte'])
    assert.equal(wholeUs, 2500)
    assert.equal(requests, 0.8)
  })
})
