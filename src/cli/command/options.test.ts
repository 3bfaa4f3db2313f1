// What the options of the command line accept, and what they refuse.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readBudget, readCount, readDuration, readList, readMoment, readPast } from './options.ts'

describe('values of options', () => {
  const good: readonly [string, (text: string) => unknown, string, unknown][] = [
    ['a list', readList, 'a, b,,c', ['a', 'b', 'c']],
    ['an empty list', readList, '', []],
    ['a budget', readBudget, '0.000000001', 1n],
    ['no budget', readBudget, 'none', 'none'],
    ['a count', readCount, '60', 60],
    ['no count', readCount, 'none', 'none'],
    ['a day', readMoment, '2027-01-31', Date.UTC(2027, 0, 31)],
    ['a moment', readMoment, '2027-01-31T09:00:00+01:00', Date.UTC(2027, 0, 31, 8)],
    ['the first moment', readMoment, '1970-01-01', 0],
    ['the last moment', readMoment, '9999-12-31T23:59:59.999Z', 253_402_300_799_999],
    ['no moment', readMoment, 'none', 'none'],
    ['no time', readDuration, '0', 0],
    ['a while', readDuration, '36h', 129_600_000],
  ]
  for (const [name, read, text, value] of good) {
    test(`${name}: ${text}`, () => assert.deepEqual(read(text), value))
  }

  const bad: readonly [string, (text: string) => unknown, string][] = [
    ['a budget', readBudget, '-1'],
    ['a budget', readBudget, '1e3'],
    ['a budget', readBudget, '9000001'],
    ['a count', readCount, '0'],
    ['a count', readCount, '1.5'],
    ['a count', readCount, '99999999999999999999'],
    ['a moment', readMoment, 'tomorrow'],
    ['a moment', readMoment, '2027-02-30'],
    ['a moment', readMoment, '0000-01-01'],
    ['a moment', readMoment, '1969-12-31T23:59:59Z'],
    ['a moment', readMoment, '9999-12-31T23:59:59-00:01'],
    ['a moment', readPast, '1969-12-31'],
    ['a moment without its offset', readMoment, '2027-01-31T09:00:00'],
    ['a duration', readDuration, '24'],
    ['a duration', readDuration, '-1h'],
  ]
  for (const [name, read, text] of bad) {
    test(`not ${name}: ${text}`, () => assert.throws(() => read(text), RangeError))
  }
})

test('a repeated list option adds to the list', () => {
  assert.deepEqual(readList('b,c', readList('a')), ['a', 'b', 'c'])
})

test('a moment in the past is a date or a duration ago', () => {
  assert.equal(readPast('24h')(100_000_000), 13_600_000)
  assert.equal(readPast('2026-11-01')(0), Date.UTC(2026, 10, 1))
  assert.throws(() => readPast('yesterday'), RangeError)
  assert.throws(() => readPast('none'), RangeError)
})

test('a duration ago never reaches before 1970', () => {
  assert.equal(readPast('999999999d')(Date.UTC(2026, 10, 16)), 0)
})
