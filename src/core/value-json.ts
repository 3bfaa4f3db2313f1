// The JSON forms of amounts and moments: USD as a decimal text, because money is never a float, and ISO 8601 in UTC.
// Null stays null: there is no such amount, no such moment.
import { formatUsd, type Nanodollars } from './money.ts'

export function usd(amount: Nanodollars): string
export function usd(amount: Nanodollars | null): string | null
export function usd(amount: Nanodollars | null): string | null {
  return amount === null ? null : formatUsd(amount)
}

export function iso(moment: number): string
export function iso(moment: number | null): string | null
export function iso(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
