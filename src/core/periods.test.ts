// The calendar, against cases from real time zones, against Temporal, and by the one property that budgets need.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isTimezone, periodAt, timezoneOf, type PeriodRule } from './periods.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString().slice(0, 16))

describe('periodAt', () => {
  const cases: readonly [string, PeriodRule['period'], string, string, string, string][] = [
    ['a day in UTC', 'day', 'UTC', '2026-11-15T00:00', '2026-11-15T00:00', '2026-11-16T00:00'],
    [
      'a 23-hour day',
      'day',
      'Europe/Berlin',
      '2026-03-29T12:00',
      '2026-03-28T23:00',
      '2026-03-29T22:00',
    ],
    [
      'a 25-hour day',
      'day',
      'Europe/Berlin',
      '2026-10-25T12:00',
      '2026-10-24T22:00',
      '2026-10-25T23:00',
    ],
    [
      'a day whose midnight does not exist',
      'day',
      'Asia/Beirut',
      '2026-03-29T10:00',
      '2026-03-28T22:00',
      '2026-03-29T21:00',
    ],
    [
      'a day that begins at half past midnight',
      'day',
      'America/Toronto',
      '1919-03-31T12:00',
      '1919-03-31T04:30',
      '1919-04-01T04:00',
    ],
    [
      'a day whose midnight comes twice',
      'day',
      'America/Havana',
      '2026-11-01T05:30',
      '2026-11-01T04:00',
      '2026-11-02T05:00',
    ],
    [
      'a day whose clock is set back into the day before',
      'day',
      'America/St_Johns',
      '2010-11-07T02:45',
      '2010-11-07T02:30',
      '2010-11-08T03:30',
    ],
    [
      'a half-hour zone',
      'day',
      'Asia/Kolkata',
      '2026-11-15T18:30',
      '2026-11-15T18:30',
      '2026-11-16T18:30',
    ],
    [
      'a day that its country skipped',
      'day',
      'Pacific/Apia',
      '2011-12-30T09:00',
      '2011-12-29T10:00',
      '2011-12-30T10:00',
    ],
    [
      'February of a leap year',
      'month',
      'UTC',
      '2028-02-29T23:59',
      '2028-02-01T00:00',
      '2028-03-01T00:00',
    ],
    [
      'December ends the year',
      'month',
      'America/New_York',
      '2027-01-01T04:59',
      '2026-12-01T05:00',
      '2027-01-01T05:00',
    ],
    ['a year', 'year', 'UTC', '2026-06-01T00:00', '2026-01-01T00:00', '2027-01-01T00:00'],
  ]
  for (const [name, period, timezone, at, startsAt, endsAt] of cases) {
    test(name, () => {
      const bounds = periodAt({ period, timezone, weekStart: 'mon' }, utc(at))
      assert.deepEqual([iso(bounds.startsAt), iso(bounds.endsAt)], [startsAt, endsAt])
    })
  }

  test('a week begins on the chosen day', () => {
    const sunday = utc('2026-11-15T12:00')
    const rule = { period: 'week', timezone: 'UTC' } as const
    assert.equal(iso(periodAt({ ...rule, weekStart: 'mon' }, sunday).startsAt), '2026-11-09T00:00')
    assert.equal(iso(periodAt({ ...rule, weekStart: 'sun' }, sunday).startsAt), '2026-11-15T00:00')
  })

  test('a period of "never" has no end', () => {
    const rule = { period: 'never', timezone: 'UTC', weekStart: 'mon' } as const
    assert.deepEqual(periodAt(rule, utc('2026-11-15T00:00')), { startsAt: 0, endsAt: null })
  })
})

const anyRule = fc.record({
  period: fc.constantFrom('day', 'week', 'month', 'year', 'never'),
  timezone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  weekStart: fc.constantFrom('mon' as const, 'sun' as const),
})
const anyInstant = fc.integer({
  min: Date.UTC(1975, 0, 1),
  max: Date.UTC(2040, 0, 1),
})

test('every instant lies in its period, and periods follow each other without a gap', () => {
  fc.assert(
    fc.property(anyRule, anyInstant, (rule, at) => {
      const { startsAt, endsAt } = periodAt(rule, at)
      assert.ok(startsAt <= at)
      if (endsAt === null) return
      assert.ok(at < endsAt)
      assert.equal(periodAt(rule, endsAt - 1).startsAt, startsAt)
      const next = periodAt(rule, endsAt)
      assert.ok(next.startsAt === endsAt)
    }),
    { numRuns: 500 },
  )
})

test(
  'agrees with Temporal',
  { skip: typeof globalThis.Temporal === 'undefined' && 'this runtime has no Temporal' },
  () => {
    fc.assert(
      fc.property(anyRule, anyInstant, (rule, at) => {
        if (rule.period === 'never') return
        const date = Temporal.Instant.fromEpochMilliseconds(at)
          .toZonedDateTimeISO(rule.timezone)
          .toPlainDate()
        const first = {
          day: () => date,
          week: () =>
            date.subtract({
              days: rule.weekStart === 'mon' ? date.dayOfWeek - 1 : date.dayOfWeek % 7,
            }),
          month: () => date.with({ day: 1 }),
          year: () => date.with({ day: 1, month: 1 }),
        }[rule.period]()
        const next = first.add({ [`${rule.period}s`]: 1 })
        const instant = (day: Temporal.PlainDate) =>
          day.toZonedDateTime({ timeZone: rule.timezone }).epochMilliseconds
        if (at >= instant(next)) return // a clock set back across midnight: tested by the property above
        assert.deepEqual(periodAt(rule, at), {
          startsAt: instant(first),
          endsAt: instant(next),
        })
      }),
      { numRuns: 500 },
    )
  },
)

// Names of time zones are distinguished from everything else.

for (const [name, expected] of [
  ['Europe/Berlin', true],
  ['UTC', true],
  ['America/Argentina/Buenos_Aires', true],
  ['', false],
  ['Mars/Olympus', false],
  ['+02:00', false],
  ['Europe/Berlin\0', false],
  ['../etc/passwd', false],
] as const) {
  test(`${JSON.stringify(name)} is ${expected ? 'a' : 'no'} time zone`, () =>
    assert.equal(isTimezone(name), expected))
}

for (const [name, spelled] of [
  ['europe/berlin', 'Europe/Berlin'],
  ['utc', 'UTC'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['Mars/Olympus', undefined],
] as const) {
  test(`${name} is spelled ${spelled}`, () => assert.equal(timezoneOf(name), spelled))
}
