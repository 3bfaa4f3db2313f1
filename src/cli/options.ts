// Readers of option values: each throws a sentence on what to write instead. `none` stays a word here, because the
// option parser treats null as an option without a value.
import { BUDGET_MAX, formatUsd, parseBudget } from '../core/money.ts'
import type { Nanodollars } from '../core/money.ts'
import { momentOf, parseDuration } from '../core/units.ts'

/** `a,b,c`, with or without spaces; a repeated option adds to the list. */
export function readList(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((each) => each.trim())
  return [...before, ...names.filter((each) => each !== '')]
}

export type OrNone<Value> = Value | 'none'

export function fromNone<Value>(value: OrNone<Value> | undefined): Value | null | undefined {
  return value === 'none' ? null : value
}

/** The range of a budget, for the help texts of options. */
export const BUDGET_RANGE = `from 0 to ${formatUsd(BUDGET_MAX)}`

/** An amount of USD, or none. */
export function readBudget(text: string): OrNone<Nanodollars> {
  return text === 'none' ? text : parseBudget(text)
}

/** A whole number from 1 up, or none. */
export function readCount(text: string): OrNone<number> {
  if (text === 'none') return text
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new RangeError('Use a whole number of at least 1, or none.')
  }
  return count
}

/** A date, a date and time with an offset, or none. */
export function readMoment(text: string): OrNone<number> {
  if (text === 'none') return text
  const shape = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/
  const moment = shape.test(text) && isDay(text.slice(0, 10)) ? momentOf(text) : undefined
  if (moment === undefined) {
    throw new RangeError(
      'Use a date such as 2027-01-31 (midnight UTC) or 2027-01-31T09:00:00+01:00, from 1970 to 9999.',
    )
  }
  return moment
}

export function readDuration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new RangeError('Use a duration such as 30m, 24h or 7d.')
  return ms
}

/** A date, or a duration before now. */
export function readPast(text: string): (now: number) => number {
  const ago = parseDuration(text)
  // Not before 1970: there was no usage then, and such dates could not be written.
  if (ago !== undefined) return (now) => Math.max(0, now - ago)
  try {
    const moment = readMoment(text)
    if (moment !== 'none') return () => moment
  } catch {
    // The error below names both forms.
  }
  throw new RangeError(
    'Use a date such as 2027-01-31, from 1970 on, or how long ago, such as 24h or 7d.',
  )
}

/** For options that may be repeated. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text]
}

/** The 30th of February would otherwise count as a day in March. */
function isDay(day: string): boolean {
  const moment = Date.parse(day)
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(day)
}
