// From an instant and a rule to the budget period that contains it, and which texts name a time zone. Pure: the instant
// comes from the database's clock.
// Intl and not Temporal, because the oldest supported runtime (Node 24) has no Temporal.
import { DAY_MS } from './units.ts'

export const PERIODS = ['day', 'week', 'month', 'year', 'never'] as const
export type Period = (typeof PERIODS)[number]

export const WEEK_STARTS = ['mon', 'sun'] as const
type WeekStart = (typeof WEEK_STARTS)[number]

export type PeriodRule = {
  readonly period: Period
  /** An IANA name such as Europe/Berlin. */
  readonly timezone: string
  readonly weekStart: WeekStart
}

type PeriodBounds = {
  readonly startsAt: number
  /** The first moment after it; null for a period that never ends. */
  readonly endsAt: number | null
}

/** The period that contains this instant: startsAt <= at < endsAt, in every zone, across every change of its clocks. */
export function periodAt(rule: PeriodRule, at: number): PeriodBounds {
  if (rule.period === 'never') return { startsAt: 0, endsAt: null }
  let first = firstDay(rule, localDay(rule.timezone, at))
  let next = nextFirstDay(rule.period, first)
  let endsAt = startOfDay(rule.timezone, next)
  // Where a clock is set back across midnight, the old date returns for a while after its period has ended.
  while (endsAt <= at) {
    first = next
    next = nextFirstDay(rule.period, first)
    endsAt = startOfDay(rule.timezone, next)
  }
  return { startsAt: startOfDay(rule.timezone, first), endsAt }
}

const WEEKDAY_OF_1970_01_01 = 4

/** A calendar day as the number of days since 1970-01-01, in no zone in particular. */
type CalendarDay = number

function localDay(timezone: string, at: number): CalendarDay {
  return Math.floor((at + offsetMs(timezone, at)) / DAY_MS)
}

function firstDay(rule: PeriodRule, day: CalendarDay): CalendarDay {
  const date = new Date(day * DAY_MS)
  switch (rule.period) {
    case 'day':
    case 'never':
      return day
    case 'week': {
      const weekday = modulo(day + WEEKDAY_OF_1970_01_01, 7)
      return day - modulo(weekday - (rule.weekStart === 'mon' ? 1 : 0), 7)
    }
    case 'month':
      return calendarDay(date.getUTCFullYear(), date.getUTCMonth())
    case 'year':
      return calendarDay(date.getUTCFullYear(), 0)
  }
}

function nextFirstDay(period: Exclude<Period, 'never'>, first: CalendarDay): CalendarDay {
  const date = new Date(first * DAY_MS)
  switch (period) {
    case 'day':
      return first + 1
    case 'week':
      return first + 7
    case 'month':
      return calendarDay(date.getUTCFullYear(), date.getUTCMonth() + 1)
    case 'year':
      return calendarDay(date.getUTCFullYear() + 1, 0)
  }
}

function calendarDay(year: number, month: number): CalendarDay {
  return Date.UTC(year, month, 1) / DAY_MS
}

/** The first instant of a calendar day: its first midnight, or the moment the clock jumps over that midnight. */
function startOfDay(timezone: string, day: CalendarDay): number {
  const midnight = day * DAY_MS
  const before = offsetMs(timezone, midnight - DAY_MS)
  const after = offsetMs(timezone, midnight + DAY_MS)
  const candidates = [midnight - before, midnight - after].filter(
    (at) => at + offsetMs(timezone, at) === midnight,
  )
  if (candidates.length > 0) return Math.min(...candidates)
  return clockChange(timezone, midnight - Math.max(before, after), midnight - before)
}

/** The instant between two others at which the zone's offset changes. */
function clockChange(timezone: string, from: number, to: number): number {
  const offset = offsetMs(timezone, from)
  let low = from
  let high = to
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetMs(timezone, middle) === offset) low = middle
    else high = middle
  }
  return high
}

/** Wall-clock time minus UTC in this zone at this instant. */
function offsetMs(timezone: string, at: number): number {
  // Most accounts use UTC, and making the first formatter of a process takes longer than changing a key.
  if (timezone === 'UTC') return 0
  const fields: Record<string, number> = {}
  for (const { type, value } of wallClock(timezone).formatToParts(at)) fields[type] = Number(value)
  const wall = Date.UTC(
    fields['year'] ?? NaN,
    (fields['month'] ?? NaN) - 1,
    fields['day'] ?? NaN,
    fields['hour'] ?? NaN,
    fields['minute'] ?? NaN,
    fields['second'] ?? NaN,
  )
  return wall - Math.floor(at / 1000) * 1000
}

/** Making a formatter takes far longer than using it, and there are few zones. */
const wallClocks = new Map<string, Intl.DateTimeFormat>()

function wallClock(timezone: string): Intl.DateTimeFormat {
  let format = wallClocks.get(timezone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    wallClocks.set(timezone, format)
  }
  return format
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
}

/** An IANA name such as Europe/Berlin. Offsets such as +02:00 do not count: they ignore summer time. */
export function isTimezone(name: string): boolean {
  return timezoneOf(name) !== undefined
}

/** The same name as the time zone database spells it, so that `europe/berlin` and `Europe/Berlin` are one. */
export function timezoneOf(name: string): string | undefined {
  if (!/^[A-Z]/i.test(name)) return undefined
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    // An alias resolves to another name, often an older one: people who wrote Asia/Kolkata want to read that.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch {
    return undefined
  }
}
