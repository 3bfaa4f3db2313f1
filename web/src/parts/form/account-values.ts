// What the forms of keys and of groups have in common while someone types: name, budgets and limits, from and to those of
// the gateway, and what is wrong with them. Numbers are as typed. Pure.
import type { KeyDetail } from '../../../../src/admin/contract/keys.ts'
import type { AmountForPeriod } from '../../../../src/admin/contract/values.ts'
import { NAME_LENGTH_MAX, RATE_MAX, TEXT_LENGTH_MAX } from '../../../../src/core/limits.ts'
import { formatUsd, parseUsd } from '../../../../src/core/money.ts'
import type { Period } from '../../../../src/core/periods.ts'
import type { Separators } from '../../i18n/format.ts'
import type { Words } from '../../i18n/i18n.ts'
import { amountProblem, readAmount, readCount, typedAmount } from '../../i18n/typed-numbers.ts'

/** Of a new key or group. */
export const emptyAccount = (timezone: string) => ({
  name: '',
  description: '',
  hasOwnLimit: true,
  budget: '',
  period: 'month' as Period,
  timezone,
  week_start: 'mon' as KeyDetail['week_start'],
  hasWindow: false,
  /** The amount of the second window. */
  window: '',
  windowPeriod: 'day' as Period,
  request_cost_max: '',
  rpm: '',
  tpm: '',
  concurrency: '',
})

export type AccountValues = Readonly<ReturnType<typeof emptyAccount>>

/** As the gateway shows it. */
type Account = Pick<
  KeyDetail,
  | 'name'
  | 'description'
  | 'budget'
  | 'period'
  | 'timezone'
  | 'week_start'
  | 'window'
  | 'request_cost_max'
  | 'rpm'
  | 'tpm'
  | 'concurrency'
>

export function accountValuesOf(account: Account, separators: Separators): AccountValues {
  const { name, budget, period, timezone, week_start, window } = account
  return {
    ...{ name, period, timezone, week_start },
    description: account.description ?? '',
    hasOwnLimit: budget !== null,
    budget: typedOrEmpty(budget, separators),
    hasWindow: window !== null,
    window: typedOrEmpty(window?.budget ?? null, separators),
    windowPeriod: window?.period ?? (period === 'day' ? 'month' : 'day'),
    request_cost_max: typedOrEmpty(account.request_cost_max, separators),
    rpm: countOrEmpty(account.rpm),
    tpm: countOrEmpty(account.tpm),
    concurrency: countOrEmpty(account.concurrency),
  }
}

export function typedOrEmpty(amount: string | null, separators: Separators): string {
  return amount === null ? '' : typedAmount(amount, separators)
}

export function countOrEmpty(count: number | null): string {
  return count === null ? '' : String(count)
}

/** As the gateway reads it. The values must have passed `accountProblems`. */
export function accountOf(values: AccountValues, separators: Separators) {
  const { period, timezone, week_start, windowPeriod } = values
  const count = (typed: string) => readCount(typed, separators) ?? null
  return {
    ...{ period, timezone, week_start },
    name: values.name.trim(),
    description: textOrNull(values.description),
    budget: values.hasOwnLimit ? (readAmount(values.budget, separators) ?? null) : null,
    window: values.hasWindow ? amountFor(values.window, windowPeriod, separators) : null,
    request_cost_max: amountOrNull(values.request_cost_max, separators),
    rpm: count(values.rpm),
    tpm: count(values.tpm),
    concurrency: count(values.concurrency),
  }
}

export function textOrNull(typed: string): string | null {
  return typed.trim() === '' ? null : typed.trim()
}

/** In the gateway's own spelling, so that it compares equal. */
function amountOrNull(typed: string, separators: Separators): string | null {
  const amount = readAmount(typed, separators)
  return amount === undefined ? null : formatUsd(parseUsd(amount))
}

export function amountFor(
  typed: string,
  period: Period,
  separators: Separators,
): AmountForPeriod | null {
  const budget = amountOrNull(typed, separators)
  return budget === null ? null : { budget, period }
}

/** The settings of a further budget, without its figures. */
export function settingsOf({ budget, period }: AmountForPeriod): AmountForPeriod {
  return { budget, period }
}

export type FormWords = Pick<Words, 't' | 'format'>

/** One message per field. */
export function accountProblems(values: AccountValues, words: FormWords) {
  const { t } = words
  const isSame = values.hasWindow && values.windowPeriod === values.period
  return {
    name: nameProblem(values.name, words),
    description: lengthProblem([values.description], TEXT_LENGTH_MAX, words),
    budget: amountProblem(values.budget, words),
    window: amountProblem(values.window, words),
    windowPeriod: isSame && t('keyForm.problem.samePeriod'),
    request_cost_max: costProblem(values.request_cost_max, words),
    rpm: countProblem(values.rpm, words),
    tpm: countProblem(values.tpm, words),
    concurrency: countProblem(values.concurrency, words),
  }
}

/** Some fields show only with a certain choice in another field. */
export function isAccountFieldShown(
  field: string,
  { hasOwnLimit, hasWindow }: Pick<AccountValues, 'hasOwnLimit' | 'hasWindow'>,
): boolean {
  if (field === 'budget') return hasOwnLimit
  return hasWindow || (field !== 'window' && field !== 'windowPeriod')
}

function nameProblem(name: string, words: FormWords): string | false {
  if (name.trim() === '') return words.t('keyForm.problem.name')
  return lengthProblem([name], NAME_LENGTH_MAX, words)
}

export function lengthProblem(
  texts: readonly string[],
  most: number,
  { t, format }: FormWords,
): string | false {
  const longest = Math.max(0, ...texts.map((text) => text.trim().length))
  if (longest <= most) return false
  const lengths = { length: format.number(longest), most: format.number(most) }
  return t('keyForm.problem.tooLong', lengths)
}

export function countProblem(typed: string, { t, format }: FormWords): string | false {
  if (typed.trim() === '' || readCount(typed, format.separators) !== undefined) return false
  return t('keyForm.problem.count', { most: format.number(RATE_MAX) })
}

/** An amount that may be left out, but not be 0. */
function costProblem(typed: string, words: FormWords): string | false | undefined {
  if (typed.trim() === '') return false
  const amount = readAmount(typed, words.format.separators)
  return amount !== undefined && Number(amount) === 0
    ? words.t('topUp.aboveZero')
    : amountProblem(typed, words)
}
