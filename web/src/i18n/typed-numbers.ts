// Parses typed numbers by the separators of the language, for every field that takes an amount or a count. Input that
// the language does not write this way is refused, never guessed: "1,00" is no amount in English.
import {
  RATE_MAX,
  REMINDER_DAYS_MAX,
  REMINDERS_MAX,
  THRESHOLD_MAX,
  THRESHOLDS_MAX,
} from '../../../src/core/limits.ts'
import { BUDGET_MAX, formatUsd, parseUsd } from '../../../src/core/money.ts'
import type { Separators } from './format.ts'
import type { Words } from './i18n.ts'

/** In the gateway's notation; undefined if it is not a valid amount. */
export function readAmount(typed: string, separators: Separators): string | undefined {
  const number = readNumber(typed, separators)
  if (number === undefined || !/^\d{1,16}(\.\d{1,9})?$/.test(number)) return undefined
  return parseUsd(number) > BUDGET_MAX ? undefined : number
}

/** The initial value of a field that edits an amount. */
export function typedAmount(amount: string, { decimal }: Separators): string {
  return amount.replace('.', decimal)
}

/** The message beside the field; undefined if the input is a valid amount. */
export function amountProblem(
  typed: string,
  { t, format }: Pick<Words, 't' | 'format'>,
): string | undefined {
  const { separators } = format
  if (readAmount(typed, separators) !== undefined) return undefined
  return t(`form.amount.${kindOfProblem(typed.trim(), separators)}`, {
    example: typedAmount('12.50', separators),
    grouped: `1${separators.group}000`,
    most: format.money(formatUsd(BUDGET_MAX)),
  })
}

/** A whole number within the range of a rate limit; undefined if it is not one. */
export function readCount(typed: string, separators: Separators): number | undefined {
  const number = readNumber(typed, separators)
  if (number === undefined || !/^\d{1,16}$/.test(number)) return undefined
  return Number(number) >= 1 && Number(number) <= RATE_MAX ? Number(number) : undefined
}

export type ListLimits = { readonly most: number; readonly count: number }
export const thresholdLimits: ListLimits = { most: THRESHOLD_MAX, count: THRESHOLDS_MAX }
export const reminderLimits: ListLimits = { most: REMINDER_DAYS_MAX, count: REMINDERS_MAX }

/** A list of whole numbers, each typed separately; undefined if one is invalid or there are too many. */
export function readList(
  typed: readonly string[],
  { most, count }: ListLimits,
): number[] | undefined {
  const isGood = typed.every((text) => /^[1-9]\d*$/.test(text) && Number(text) <= most)
  return isGood && typed.length <= count ? typed.map(Number) : undefined
}

function kindOfProblem(
  typed: string,
  separators: Separators,
): 'empty' | 'negative' | 'tooLarge' | 'shape' {
  if (typed === '') return 'empty'
  if (/^[-−]/.test(typed)) return 'negative'
  const number = readNumber(typed, separators)
  return number !== undefined && /^\d+(\.\d{1,9})?$/.test(number) ? 'tooLarge' : 'shape'
}

/**
 * The number with a decimal point and without groups. Groups have three digits, or as many as the language's, separated
 * by its separator or by spaces or apostrophes, which no language uses for decimals.
 */
export function readNumber(
  typed: string,
  { decimal, group, groupDigits }: Separators,
): string | undefined {
  const text = typed
    .trim()
    .replaceAll(/[\u00a0\u202f]/g, ' ')
    .replaceAll('’', "'")
  const [whole = '', ...fraction] = text.split(decimal)
  const separator = [group, ' ', "'"].find((each) => whole.includes(each))
  const groups = separator === undefined ? [whole] : whole.split(separator)
  const isGrouped = [3, groupDigits].some((digits) => areGroups(groups.join(','), digits))
  if (!isGrouped && !/^\d+$/.test(whole)) return undefined
  return [groups.join(''), ...fraction].join('.')
}

/** Joined by commas, such as 1,234,567, or 12,34,567 with groups of two digits. */
function areGroups(joined: string, digits: number): boolean {
  return new RegExp(String.raw`^[1-9]\d{0,${digits - 1}}(,\d{${digits}})*,\d{3}$`).test(joined)
}
