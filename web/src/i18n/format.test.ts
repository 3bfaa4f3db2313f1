// Money and times as each language writes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFor } from './format.ts'

const now = Date.UTC(2026, 10, 15, 12)
const ago = (ms: number): string => new Date(now - ms).toISOString()

for (const [locale, amount, text] of [
  ['en', '42.1', '$42.10'],
  ['en', '0', '$0.00'],
  ['en', '0.000123456', '$0.000123'],
  ['en', '0.000012', '$0.000012'],
  ['en', '0.00009', '$0.00009'],
  // The sum of the two before.
  ['en', '0.000102', '$0.000102'],
  ['en', '0.000000123', '$0.00000012'],
  ['en', '0.05', '$0.05'],
  ['en', '0.0125', '$0.0125'],
  ['en', '0.465', '$0.4650'],
  ['en', '0.46500', '$0.4650'],
  ['en', '0.500000000', '$0.50'],
  ['en', '1.0125', '$1.01'],
  ['de', '1234.5', '1.234,50\u00a0$'],
  // More digits than a float can hold.
  ['en', '9000000.129999999', '$9,000,000.13'],
] as const)
  test(`${amount} USD in ${locale}`, () => assert.equal(formatFor(locale).money(amount), text))

for (const [locale, moment, text] of [
  ['en', ago(20_000), 'now'],
  ['en', ago(125_000), '2 minutes ago'],
  ['en', ago(86_400_000), 'yesterday'],
  ['en', ago(-16 * 86_400_000), 'in 16 days'],
  ['de', ago(3 * 3_600_000), 'vor 3 Stunden'],
] as const)
  test(`${moment} in ${locale}`, () => assert.equal(formatFor(locale).relative(moment, now), text))

test('a time in a given zone names the zone', () => {
  const text = formatFor('en').dateTimeIn('2026-11-30T23:00:00Z', 'Europe/Berlin')
  assert.match(text, /Dec 1, 2026.*12:00.AM Europe\/Berlin/)
})

test('the formats of a language are made once, because that takes long', () => {
  assert.equal(formatFor('en-GB'), formatFor('en-GB'))
  assert.notEqual(formatFor('en-GB'), formatFor('en-US'))
})

test('a time names the zone of the reader', () => {
  for (const locale of ['en', 'de']) {
    const { dateTime, exactTime } = formatFor(locale)
    const moment = '2026-11-15T09:08:07Z'
    const [zone = ''] = dateTime(moment).match(/ \S+$/) ?? []
    assert.match(zone, /[A-Z]/)
    assert.ok(exactTime(moment).endsWith(zone))
  }
})

test('an hour of usage is shown in UTC, wherever the reader is', () => {
  assert.match(formatFor('en').hour('2026-11-15T21:00:00Z'), /^Nov 15, 9:00\sPM$/)
  assert.equal(formatFor('de').hour('2026-11-15T21:00:00Z'), '15. Nov., 21:00')
  assert.equal(formatFor('de').hour('2026-11-15T01:00:00Z'), '15. Nov., 01:00')
})

test('the time of a row shows seconds, and no year or zone', () => {
  assert.match(formatFor('en').rowTime('2026-11-15T09:08:07Z'), /^Nov 1\d, \d+:\d\d:07\s[AP]M$/)
  assert.match(formatFor('de').rowTime('2026-11-15T09:08:07Z'), /^1\d\. Nov\., \d+:\d\d:07$/)
})

test('a time to compare with other records shows seconds and zone', () => {
  // Zones differ in minutes too: Kathmandu is 5:45 ahead.
  for (const locale of ['en', 'de'])
    assert.match(formatFor(locale).exactTime('2026-11-15T09:08:07Z'), /:\d\d:07 .*[A-Z]/)
})

test('a reset is shown in UTC too if the zone differs', () => {
  const { reset } = formatFor('en')
  assert.match(reset('2026-11-30T23:00:00Z', 'Europe/Berlin'), /Berlin \(Nov 30, .* UTC\)$/)
  assert.doesNotMatch(reset('2026-11-30T23:00:00Z', 'UTC'), /\(/)
})

test('small shares keep one decimal', () => {
  assert.equal(formatFor('en').percent(0.052), '5.2%')
  assert.equal(formatFor('en').percent(0.415), '42%')
  assert.equal(formatFor('en').percent(0), '0%')
  assert.equal(formatFor('de').percent(0.000_02), '<0,1\u00a0%')
})

test('amounts in a row have the same decimals', () => {
  const { moneyRow } = formatFor('en')
  assert.deepEqual(moneyRow(['0', '0.005000', '0.01', '0.015']), [
    ...['$0.000', '$0.005', '$0.010', '$0.015'],
  ])
  assert.deepEqual(moneyRow(['0', '500', '1000']), ['$0.00', '$500.00', '$1,000.00'])
})

test('a remaining amount is never rounded up', () => {
  assert.equal(formatFor('en').moneyLeft('0.99997'), '$0.9999')
  assert.equal(formatFor('en').moneyLeft('9.999988'), '$9.99')
  assert.equal(formatFor('en').moneyLeft('10'), '$10.00')
})

test('thousands are grouped in short numbers too', () => {
  assert.equal(formatFor('de').compact(4096), '4.096')
  assert.equal(formatFor('en').compact(4096), '4.1K')
})
