// Amounts as the gateway writes them, decimal strings in USD: calculated in whole nanodollars, never as floats.
import type { FrameAnswer } from '../../../src/admin/contract/groups.ts'
import { formatUsd, parseUsd } from '../../../src/core/money.ts'
import type { Words } from '../i18n/i18n.ts'

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

/** Warnings about a budget that is allowed but surprising. */
export function budgetWarning(
  amount: string,
  { t, format }: Pick<Words, 't' | 'format'>,
  frame?: Pick<FrameAnswer, 'limit' | 'remaining'>,
): string | undefined {
  if (!isMore(amount, '0')) return t('keyForm.hint.zero')
  if (!frame || !isMore(amount, frame.remaining)) return undefined
  return isMore(amount, frame.limit)
    ? t('keyForm.hint.overFrame', { limit: format.money(frame.limit) })
    : t('keyForm.hint.overFrameLeft', { left: format.moneyLeft(frame.remaining) })
}

/** Only these are sent, so that two people's changes meet. Order in a list and ways to write a budget are equal. */
export function differing<Wanted extends object>(
  before: { readonly [Name in keyof Wanted]?: unknown },
  wanted: Wanted,
): Partial<Wanted> {
  const isKept = ([name, value]: [string, unknown]): boolean => {
    const old = before[name as keyof Wanted]
    if (name === 'budget' && typeof value === 'string' && typeof old === 'string')
      return isSame(old, value)
    return JSON.stringify(comparable(old)) === JSON.stringify(comparable(value))
  }
  const changed = Object.entries(wanted).filter((entry) => !isKept(entry))
  return Object.fromEntries(changed) as Partial<Wanted>
}

function comparable(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value
    .map((item) => (typeof item === 'object' ? JSON.stringify(item) : String(item)))
    .toSorted()
}
