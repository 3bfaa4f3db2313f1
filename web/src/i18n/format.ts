// Formats money, numbers and times for a locale. Pure, apart from the hook for the time itself.
import { useEffect, useState } from 'react'
import { timeDistance } from '../../../src/core/units.ts'

/** Formats for one locale. */
export type Format = ReturnType<typeof makeFormat>

export type Separators = {
  readonly decimal: string
  readonly group: string
  /** How many digits a group has, unless it is the last: two in India. */
  readonly groupDigits: number
}

/** The separators used for money: Austria groups other numbers differently. */
export function separatorsOf(locale: string): Separators {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' })
  const parts = format.formatToParts(1_234_567.5)
  const partOf = (type: string): string => parts.find((part) => part.type === type)?.value ?? ''
  const [, middle = ''] = parts.filter(({ type }) => type === 'integer').map(({ value }) => value)
  return { decimal: partOf('decimal'), group: partOf('group'), groupDigits: middle.length }
}

/** A share above zero never shows as 0%; below this it shows as "<0.1%". */
const leastPercent = 0.001

const formats = new Map<string, Format>()

/** Made once per locale, and each only when it is needed: making one takes longer than drawing a table row with it. */
export function formatFor(locale: string): Format {
  const format = formats.get(locale) ?? makeFormat(locale)
  formats.set(locale, format)
  return format
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}

function makeFormat(locale: string) {
  const amount = (options?: Intl.NumberFormatOptions) => {
    const format = once(() => new Intl.NumberFormat(locale, options))
    return (value: number) => format().format(value)
  }
  const time = (options: Intl.DateTimeFormatOptions) => {
    const format = once(() => new Intl.DateTimeFormat(locale, options))
    return (moment: string) => format().format(new Date(moment))
  }
  const percent = amount({ style: 'percent', maximumFractionDigits: 0 })
  const smallPercent = amount({ style: 'percent', maximumFractionDigits: 1 })
  const dateTime = time({ dateStyle: 'medium', timeStyle: 'short' })
  const zone = once(() => new Intl.DateTimeFormat(locale, { timeZoneName: 'short' }))
  const list = once(() => new Intl.ListFormat(locale, { type: 'conjunction' }))
  const separators = once(() => separatorsOf(locale))
  const dayAndMonth = { day: 'numeric', month: 'short' } as const
  // As in dates with times: 01:20, but 1:20 AM.
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  const clock = { hour: hour12 === true ? 'numeric' : '2-digit', minute: '2-digit' } as const
  return {
    /** The separators people type in this language. */
    get separators() {
      return separators()
    },
    /** An amount in USD, given as the decimal string of the admin API; small amounts keep their digits. */
    money: moneyFormat(locale, 'halfExpand'),
    /** Amounts that are compared, as beside a chart: all with as many decimals as the one that needs most. */
    moneyRow: (amounts: readonly string[]) => moneyRow(locale, amounts),
    /** Like money, but never rounded up: a remaining amount must not look larger than it is. */
    moneyLeft: moneyFormat(locale, 'trunc'),
    number: amount(),
    /** 12345 as "12K"; German does not abbreviate thousands, and groups them as everywhere else: 4.096. */
    compact: amount({ notation: 'compact', maximumFractionDigits: 1, useGrouping: 'always' }),
    /** 0.415 as "42 %" or "42%". */
    percent: (ratio: number) => {
      if (ratio > 0 && ratio < leastPercent) return `<${smallPercent(leastPercent)}`
      return ratio > 0 && ratio < 0.1 ? smallPercent(ratio) : percent(ratio)
    },
    /** 0.12 as "+12 %", a change relative to before. */
    change: amount({ style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' }),
    date: time({ dateStyle: 'medium' }),
    /** The day on which a moment falls in the given zone. */
    dateIn: (moment: string, timeZone: string) => time({ dateStyle: 'medium', timeZone })(moment),
    /** A calendar day, `2026-11-15`, which is the same day in every zone. */
    day: time({ ...dayAndMonth, timeZone: 'UTC' }),
    /** In the reader's zone, which it names. */
    dateTime: (moment: string) => `${dateTime(moment)} ${zoneAt(zone(), moment)}`,
    /** An hour as the gateway counts it, in UTC, for a series of hours. */
    hour: time({ ...dayAndMonth, ...clock, timeZone: 'UTC' }),
    /** To the second, without year and zone, for a column of times. */
    rowTime: time({ ...dayAndMonth, ...clock, second: '2-digit' }),
    /** To the second and with the zone, for comparing with other records. */
    exactTime: time({ dateStyle: 'medium', timeStyle: 'long' }),
    /** Like dateTime, but in the given zone, which it names. */
    dateTimeIn: (moment: string, timeZone: string) => dateTimeIn(locale, moment, timeZone),
    /** Like dateTimeIn, followed by the time in UTC if the zone is another. */
    reset: (moment: string, timeZone: string) => {
      const local = dateTimeIn(locale, moment, timeZone)
      return timeZone === 'UTC' ? local : `${local} (${dateTimeIn(locale, moment, 'UTC')})`
    },
    /** "in 3 days", "2 minutes ago", "yesterday". Pages do not tick every second: under a minute is "now". */
    relative: distanceFormat(locale, 'long'),
    /** The same for a narrow column: "2 min. ago". */
    relativeShort: distanceFormat(locale, 'short'),
    list: (items: readonly string[]) => list().format(items),
  }
}

function distanceFormat(locale: string, style: 'long' | 'short') {
  const format = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style }))
  return (moment: string, now: number): string => {
    const { unit, count } = timeDistance(new Date(moment).getTime() - now)
    return format().format(unit === 'second' ? 0 : count, unit)
  }
}

/** Intl's time styles name the zone only together with the seconds, so the name is taken from here. */
function zoneAt(zone: Intl.DateTimeFormat, moment: string): string {
  const parts = zone.formatToParts(new Date(moment))
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** A page shows one or two such moments, so their format is made each time. */
function dateTimeIn(locale: string, moment: string, timeZone: string): string {
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone } as const
  return `${new Intl.DateTimeFormat(locale, style).format(new Date(moment))} ${timeZone}`
}

const usd = { style: 'currency', currency: 'USD' } as const

/**
 * Cents. Below a dollar four decimals if cents do not tell it, so that amounts can be compared. Below a cent up to six,
 * so that a column adds up as shown; below a thousandth of a cent, two significant digits.
 */
function moneyFormat(
  locale: string,
  roundingMode: 'halfExpand' | 'trunc',
): (amount: string) => string {
  const withDigits = (digits: Intl.NumberFormatOptions) =>
    once(() => new Intl.NumberFormat(locale, { ...usd, roundingMode, ...digits }))
  const cents = withDigits({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const belowDollar = withDigits({ minimumFractionDigits: 4, maximumFractionDigits: 4 })
  const belowCent = withDigits({ minimumFractionDigits: 2, maximumFractionDigits: 6 })
  const tiny = withDigits({ maximumSignificantDigits: 2 })
  const formatOf = (amount: string): Intl.NumberFormat => {
    if (/^-?\d+(\.\d{1,2})?0*$/.test(amount)) return cents()
    const size = Math.abs(Number(amount))
    if (size < 0.000_01) return tiny()
    if (size < 0.01) return belowCent()
    return size < 1 ? belowDollar() : cents()
  }
  // Intl formats a decimal string exactly; a number would lose digits above 2^53 nanodollars.
  return (amount) => formatOf(amount).format(amount as Intl.StringNumericLiteral)
}

function moneyRow(locale: string, amounts: readonly string[]): readonly string[] {
  const decimals = Math.max(
    2,
    ...amounts.map((amount) => /\.(\d*?)0*$/.exec(amount)?.[1]?.length ?? 0),
  )
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const format = new Intl.NumberFormat(locale, { ...usd, ...digits })
  return amounts.map((amount) => format.format(amount as Intl.StringNumericLiteral))
}

const renewMs = 30_000

/** The current time, updated every half minute so that "2 minutes ago" stays true. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), renewMs)
    return () => clearInterval(timer)
  }, [])
  return now
}
