// LiteLLM's budgets last for a duration from whenever they began; Tollgate's for a period of the calendar.
import type { PeriodRule } from '../core/periods.ts'

type Period = PeriodRule['period']

const DAYS: Readonly<Record<string, number>> = {
  s: 1 / 86_400,
  m: 1 / 1_440,
  h: 1 / 24,
  d: 1,
  w: 7,
  mo: 30,
  y: 365,
}
const PERIODS: readonly (readonly [Period, number])[] = [
  ['day', 1],
  ['week', 7],
  ['month', 30],
  ['year', 365],
]

type PeriodOf = {
  readonly period: Period
  /** What was decided; null = nothing but the calendar. */
  readonly remark: string | null
  /** Whether a period of the calendar has about this length. */
  readonly isClose: boolean
}

/** The period that a duration such as `30d` comes closest to. Null = the budget never resets. */
export function periodOf(duration: string | null): PeriodOf {
  if (duration === null || duration === '') {
    return { period: 'never', remark: 'it never resets there', isClose: true }
  }
  const word = { daily: '1d', weekly: '7d', monthly: '1mo', yearly: '1y' }[duration] ?? duration
  const match = /^(\d+)(s|mo|m|h|d|w|y)$/.exec(word)
  const days = match === null ? NaN : Number(match[1]) * (DAYS[match[2] ?? ''] ?? NaN)
  if (!(days > 0)) {
    const remark = `its duration there, ${duration}, is not understood: it never resets here`
    return { period: 'never', remark, isClose: false }
  }
  const [period, length] = PERIODS.toSorted(
    ([, one], [, other]) => Math.abs(Math.log(one / days)) - Math.abs(Math.log(other / days)),
  )[0] ?? ['month', 30]
  const isClose = Math.abs(length - days) <= length / 10
  const remark = isClose
    ? `${duration} there, a ${period} of the calendar here`
    : `${duration} there: the closest period of the calendar is a ${period}, so check the amount`
  return { period, remark, isClose }
}
