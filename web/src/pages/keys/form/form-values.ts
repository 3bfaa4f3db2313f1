// The values of the key form while someone types: from and to those of the gateway, and what is wrong with them. Pure.
import type { KeyDetail, keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import type { BodyOf } from '../../../../../src/admin/contract/route.ts'
import { ENDPOINTS } from '../../../../../src/core/endpoints.ts'
import {
  NAME_LENGTH_MAX,
  RATE_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
  USUAL_REMINDERS,
  USUAL_THRESHOLDS,
} from '../../../../../src/core/limits.ts'
import { DAY_MS } from '../../../../../src/core/units.ts'
import { differing } from '../../../base/amounts.ts'
import type { Separators } from '../../../i18n/format.ts'
import type { Translate, Words } from '../../../i18n/i18n.ts'
import {
  amountProblem,
  type ListLimits,
  readAmount,
  readCount,
  readList,
  reminderLimits,
  thresholdLimits,
  typedAmount,
} from '../../../i18n/typed-numbers.ts'

type Lifetime = 'never' | '7' | '30' | '90' | '365' | 'date'
export const LIFETIMES: readonly Lifetime[] = ['never', '7', '30', '90', '365', 'date']

/** The values of an untouched form for a new key; numbers are as typed. */
export const emptyValues = (timezone: string) => ({
  name: '',
  description: '',
  owner: '',
  environment: '',
  tags: [] as string[],
  mode: 'live' as KeyDetail['mode'],
  models: [] as string[],
  hasOwnLimit: true,
  budget: '',
  period: 'month' as KeyDetail['period'],
  timezone,
  week_start: 'mon' as KeyDetail['week_start'],
  when_tight: 'cap' as KeyDetail['when_tight'],
  /** In percent. */
  alert_thresholds: USUAL_THRESHOLDS.map(String),
  rpm: '',
  tpm: '',
  concurrency: '',
  permissions: [...ENDPOINTS],
  lifetime: 'never' as Lifetime,
  /** The last day, in the reader's zone; used only if `lifetime` is `date`. */
  lastDay: '',
  /** When the key expires now, at any time of day: left as it is unless another last day is chosen. */
  expiresAt: null as string | null,
  /** Days before the expiry. */
  expiry_reminders: USUAL_REMINDERS.map(String),
})

export type KeyFormValues = Readonly<ReturnType<typeof emptyValues>>

/** Some fields show only with a certain choice in another field. */
export function isShown(field: string, { hasOwnLimit, lifetime }: KeyFormValues): boolean {
  switch (field) {
    case 'budget':
    case 'alert_thresholds':
    case 'when_tight':
      return hasOwnLimit
    case 'lastDay':
      return lifetime === 'date'
    case 'expiry_reminders':
      return lifetime !== 'never'
    default:
      return true
  }
}

/** The time and the separators with which the values are read. */
type Reading = { readonly now: number; readonly separators: Separators }

export type NewKey = BodyOf<typeof keyRoutes.createKey>
export type KeyChange = BodyOf<typeof keyRoutes.changeKey>

export function valuesOf(key: KeyDetail, separators: Separators): KeyFormValues {
  const { name, mode, period, timezone, week_start, when_tight, expires_at: expiresAt } = key
  const count = (value: number | null): string => (value === null ? '' : String(value))
  return {
    ...{ name, mode, period, timezone, week_start, when_tight, expiresAt },
    description: key.description ?? '',
    owner: key.owner ?? '',
    environment: key.environment ?? '',
    tags: [...key.tags],
    models: [...key.models],
    hasOwnLimit: key.budget !== null,
    budget: key.budget === null ? '' : typedAmount(key.budget, separators),
    alert_thresholds: key.alert_thresholds.map(String),
    rpm: count(key.rpm),
    tpm: count(key.tpm),
    concurrency: count(key.concurrency),
    permissions: [...key.permissions],
    lifetime: expiresAt === null ? 'never' : 'date',
    lastDay: expiresAt === null ? '' : dayOf(expiresAt),
    expiry_reminders: key.expiry_reminders.map(String),
  }
}

/** The whole key as the gateway reads it. The values must have passed `problemsOf`. */
export function newKeyOf(values: KeyFormValues, reading: Reading): NewKey {
  return { ...settingsOf(values, reading), mode: values.mode }
}

export function keyChangeOf(key: KeyDetail, values: KeyFormValues, reading: Reading): KeyChange {
  return differing(key, settingsOf(values, reading))
}

function settingsOf(values: KeyFormValues, { now, separators }: Reading) {
  const text = (typed: string): string | null => (typed.trim() === '' ? null : typed.trim())
  const rate = (typed: string): number | null => readCount(typed, separators) ?? null
  const thresholds = readList(values.alert_thresholds, thresholdLimits)
  const reminders = readList(values.expiry_reminders, reminderLimits)
  const { tags, models, permissions, period, timezone, week_start, when_tight } = values
  return {
    ...{ tags, models, permissions, period, timezone, week_start, when_tight },
    name: values.name.trim(),
    description: text(values.description),
    owner: text(values.owner),
    environment: text(values.environment),
    budget: values.hasOwnLimit ? (readAmount(values.budget, separators) ?? null) : null,
    rpm: rate(values.rpm),
    tpm: rate(values.tpm),
    concurrency: rate(values.concurrency),
    expires_at: expiryOf(values, now),
    // A hidden field may hold an invalid list; leave its setting unchanged.
    ...(thresholds && { alert_thresholds: thresholds }),
    ...(reminders && { expiry_reminders: reminders }),
  }
}

/** The moment the key stops working: after so many days, or at the end of its last day; null = never. */
export function expiryOf(
  { lifetime, lastDay, expiresAt }: Pick<KeyFormValues, 'lifetime' | 'lastDay' | 'expiresAt'>,
  now: number,
): string | null {
  if (lifetime === 'never') return null
  if (lifetime !== 'date') return new Date(now + Number(lifetime) * DAY_MS).toISOString()
  if (expiresAt !== null && lastDay === dayOf(expiresAt)) return expiresAt
  const end = new Date(`${lastDay}T23:59:59`)
  return Number.isNaN(end.getTime()) ? null : end.toISOString()
}

function dayOf(text: string): string {
  const moment = new Date(text)
  const pad = (part: number): string => String(part).padStart(2, '0')
  return `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`
}

export type Field = Exclude<keyof KeyFormValues, 'expiresAt'>
type FormWords = Pick<Words, 't' | 'format'>
type Problems = Partial<Record<Field, string>>

/** Validates the key form before the gateway is called: one message per field. */
export function problemsOf(values: KeyFormValues, words: FormWords, now: number): Problems {
  const { t } = words
  const checks: Readonly<Partial<Record<Field, string | false | undefined>>> = {
    name: nameProblem(values.name, words),
    owner: lengthProblem([values.owner], NAME_LENGTH_MAX, words),
    environment: lengthProblem([values.environment], NAME_LENGTH_MAX, words),
    description: lengthProblem([values.description], TEXT_LENGTH_MAX, words),
    tags: tagsProblem(values.tags, words),
    models: values.models.length === 0 && t('keyForm.problem.models'),
    budget: amountProblem(values.budget, words),
    rpm: rateProblem(values.rpm, words),
    tpm: rateProblem(values.tpm, words),
    concurrency: rateProblem(values.concurrency, words),
    permissions: values.permissions.length === 0 && t('keyForm.problem.permissions'),
    lastDay: dayProblem(values, t, now),
    alert_thresholds: listProblem(values.alert_thresholds, t, thresholdLimits),
    expiry_reminders: listProblem(values.expiry_reminders, t, reminderLimits),
  }
  return Object.fromEntries(
    Object.entries(checks).filter(([field, problem]) => problem && isShown(field, values)),
  )
}

function nameProblem(name: string, words: FormWords): string | false {
  if (name.trim() === '') return words.t('keyForm.problem.name')
  return lengthProblem([name], NAME_LENGTH_MAX, words)
}

function tagsProblem(tags: readonly string[], words: FormWords): string | false {
  if (tags.length > TAGS_MAX) return words.t('keyForm.problem.tooMany', { most: TAGS_MAX })
  return lengthProblem(tags, NAME_LENGTH_MAX, words)
}

function lengthProblem(
  texts: readonly string[],
  most: number,
  { t, format }: FormWords,
): string | false {
  const longest = Math.max(0, ...texts.map((text) => text.trim().length))
  if (longest <= most) return false
  const lengths = { length: format.number(longest), most: format.number(most) }
  return t('keyForm.problem.tooLong', lengths)
}

function rateProblem(typed: string, { t, format }: FormWords): string | false {
  if (typed.trim() === '' || readCount(typed, format.separators) !== undefined) return false
  return t('keyForm.problem.count', { most: format.number(RATE_MAX) })
}

function listProblem(typed: readonly string[], t: Translate, limits: ListLimits): string | false {
  return readList(typed, limits) === undefined && t('keyForm.problem.thresholds', limits)
}

function dayProblem(values: KeyFormValues, t: Translate, now: number): string | false {
  const end = expiryOf(values, now)
  if (end === null) return t('keyForm.problem.date')
  return Date.parse(end) <= now && t('keyForm.problem.past')
}
