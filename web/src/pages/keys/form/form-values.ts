// The values of the key form while someone types: from and to those of the gateway, and what is wrong with them. Pure.
import type { KeyDetail, keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import type { BodyOf } from '../../../../../src/admin/contract/route.ts'
import { ENDPOINTS } from '../../../../../src/core/endpoints.ts'
import {
  NAME_LENGTH_MAX,
  TAGS_MAX,
  USUAL_REMINDERS,
  USUAL_THRESHOLDS,
} from '../../../../../src/core/limits.ts'
import type { Period } from '../../../../../src/core/periods.ts'
import { DAY_MS } from '../../../../../src/core/units.ts'
import { differing } from '../../../base/amounts.ts'
import type { Separators } from '../../../i18n/format.ts'
import type { Translate } from '../../../i18n/i18n.ts'
import {
  amountProblem,
  type ListLimits,
  readList,
  reminderLimits,
  thresholdLimits,
  typedAmount,
} from '../../../i18n/typed-numbers.ts'
import {
  accountOf,
  accountProblems,
  accountValuesOf,
  amountFor,
  emptyAccount,
  type FormWords,
  isAccountFieldShown,
  lengthProblem,
  settingsOf,
  textOrNull,
} from '../../../parts/form/account-values.ts'

type Lifetime = 'never' | '7' | '30' | '90' | '365' | 'date'
export const LIFETIMES: readonly Lifetime[] = ['never', '7', '30', '90', '365', 'date']

/** What may be spent on one model. */
type CapValues = { readonly model: string; readonly budget: string; readonly period: Period }

/** The values of an untouched form for a new key; numbers are as typed. */
export const emptyValues = (timezone: string) => ({
  ...emptyAccount(timezone),
  /** The id of its group; empty: outside groups. */
  group: '',
  owner: '',
  environment: '',
  tags: [] as string[],
  mode: 'live' as KeyDetail['mode'],
  models: [] as string[],
  when_tight: 'cap' as KeyDetail['when_tight'],
  /** In percent. */
  alert_thresholds: USUAL_THRESHOLDS.map(String),
  model_budgets: [] as CapValues[],
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
export function isShown(field: string, values: KeyFormValues): boolean {
  const { hasOwnLimit, lifetime } = values
  switch (field) {
    case 'alert_thresholds':
    case 'when_tight':
      return hasOwnLimit
    case 'lastDay':
      return lifetime === 'date'
    case 'expiry_reminders':
      return lifetime !== 'never'
    default:
      return isAccountFieldShown(field, values)
  }
}

/** The time and the separators with which the values are read. */
type Reading = { readonly now: number; readonly separators: Separators }

export type NewKey = BodyOf<typeof keyRoutes.createKey>
export type KeyChange = BodyOf<typeof keyRoutes.changeKey>

export function valuesOf(key: KeyDetail, separators: Separators): KeyFormValues {
  const { mode, when_tight, expires_at: expiresAt } = key
  return {
    ...accountValuesOf(key, separators),
    ...{ mode, when_tight, expiresAt },
    group: key.group?.id ?? '',
    owner: key.owner ?? '',
    environment: key.environment ?? '',
    tags: [...key.tags],
    models: [...key.models],
    model_budgets: key.model_budgets.map(({ model, budget, period }) => ({
      ...{ model, period },
      budget: typedAmount(budget, separators),
    })),
    alert_thresholds: key.alert_thresholds.map(String),
    permissions: [...key.permissions],
    lifetime: expiresAt === null ? 'never' : 'date',
    lastDay: expiresAt === null ? '' : dayOf(expiresAt),
    expiry_reminders: key.expiry_reminders.map(String),
  }
}

/** The whole key as the gateway reads it. The values must have passed `problemsOf`. */
export function newKeyOf(values: KeyFormValues, reading: Reading): NewKey {
  return { ...keySettingsOf(values, reading), mode: values.mode }
}

export function keyChangeOf(key: KeyDetail, values: KeyFormValues, reading: Reading): KeyChange {
  return differing(writtenOf(key), keySettingsOf(values, reading))
}

/** A key as it would be written. */
export function writtenOf(key: KeyDetail) {
  return {
    ...key,
    group: key.group?.id ?? null,
    window: key.window && settingsOf(key.window),
    model_budgets: key.model_budgets.map(({ model, ...cap }) => ({ model, ...settingsOf(cap) })),
  }
}

function keySettingsOf(values: KeyFormValues, { now, separators }: Reading) {
  const thresholds = readList(values.alert_thresholds, thresholdLimits)
  const reminders = readList(values.expiry_reminders, reminderLimits)
  const { tags, models, permissions, when_tight } = values
  return {
    ...accountOf(values, separators),
    ...{ tags, models, permissions, when_tight },
    group: textOrNull(values.group),
    model_budgets: values.model_budgets.flatMap(({ model, budget, period }) => {
      const cap = amountFor(budget, period, separators)
      return cap === null ? [] : [{ model, ...cap }]
    }),
    owner: textOrNull(values.owner),
    environment: textOrNull(values.environment),
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

type Field = Exclude<keyof KeyFormValues, 'expiresAt'>
type Problems = Partial<Record<Field, string>>

/** Validates the key form before the gateway is called: one message per field. */
export function problemsOf(values: KeyFormValues, words: FormWords, now: number): Problems {
  const { t } = words
  const checks: Readonly<Partial<Record<Field, string | false | undefined>>> = {
    ...accountProblems(values, words),
    owner: lengthProblem([values.owner], NAME_LENGTH_MAX, words),
    environment: lengthProblem([values.environment], NAME_LENGTH_MAX, words),
    tags: tagsProblem(values.tags, words),
    models: values.models.length === 0 && t('keyForm.problem.models'),
    model_budgets: capsProblem(values.model_budgets, words),
    permissions: values.permissions.length === 0 && t('keyForm.problem.permissions'),
    lastDay: dayProblem(values, t, now),
    alert_thresholds: listProblem(values.alert_thresholds, t, thresholdLimits),
    expiry_reminders: listProblem(values.expiry_reminders, t, reminderLimits),
  }
  return Object.fromEntries(
    Object.entries(checks).filter(([field, problem]) => problem && isShown(field, values)),
  )
}

function tagsProblem(tags: readonly string[], words: FormWords): string | false {
  if (tags.length > TAGS_MAX) return words.t('keyForm.problem.tooMany', { most: TAGS_MAX })
  return lengthProblem(tags, NAME_LENGTH_MAX, words)
}

/** The first one. */
function capsProblem(caps: readonly CapValues[], words: FormWords): string | undefined {
  const { t } = words
  const problems = caps.map(({ model, budget }, index) => {
    if (model === '') return t('keyForm.problem.capModel')
    if (caps.findIndex((cap) => cap.model === model) < index)
      return t('keyForm.problem.capTwice', { model })
    return amountProblem(budget, words)
  })
  return problems.find((problem) => problem !== undefined)
}

function listProblem(typed: readonly string[], t: Translate, limits: ListLimits): string | false {
  return readList(typed, limits) === undefined && t('keyForm.problem.thresholds', limits)
}

function dayProblem(values: KeyFormValues, t: Translate, now: number): string | false {
  const end = expiryOf(values, now)
  if (end === null) return t('keyForm.problem.date')
  return Date.parse(end) <= now && t('keyForm.problem.past')
}
