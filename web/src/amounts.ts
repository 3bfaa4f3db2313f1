// Arithmetic on amounts as the gateway writes them, decimal strings in USD: in whole nanodollars, never as floats.
import { formatUsd, parseUsd } from '../../src/core/money.ts'

/** `amount` less `other`, never below zero. */
export function minus(amount: string, other: string): string {
  const left = parseUsd(amount) - parseUsd(other)
  return formatUsd(left < 0n ? 0n : left)
}

export function sumOf(amounts: readonly string[]): string {
  return formatUsd(amounts.reduce((sum, amount) => sum + parseUsd(amount), 0n))
}

export function isMore(amount: string, other: string): boolean {
  return parseUsd(amount) > parseUsd(other)
}

/** Whether two strings write the same amount, such as 5 and 5.00. */
export function isSame(amount: string | null, other: string | null): boolean {
  if (amount === null || other === null) return amount === other
  return parseUsd(amount) === parseUsd(other)
}
