// The JSON forms of amounts and moments: USD as a decimal text, because money is never a float, and ISO 8601 in UTC.
// Null stays null: there is no such amount, no such moment.
import { formatUsd, type Nanodollars } from './money.ts'

export function usd(amount: Nanodollars): string
export function usd(amount: Nanodollars | null): string | null
export function usd(amount: Nanodollars | null): string | null {
  return amount === null ? null : formatUsd(amount)
}

const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z')

/** The moment that an ISO 8601 text names; undefined outside 1970 to 9999, where databases and other tools disagree. */
export function momentOf(text: string): number | undefined {
  const moment = Date.parse(text)
  return moment >= 0 && moment <= LAST_MOMENT ? moment : undefined
}

export function iso(moment: number): string
export function iso(moment: number | null): string | null
export function iso(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
