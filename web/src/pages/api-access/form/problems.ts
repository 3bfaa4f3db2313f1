// What is wrong with the form of a key: one text per field, found before the gateway is asked.
import {
  REMINDER_DAYS_MAX,
  REMINDERS_MAX,
  THRESHOLD_MAX,
  THRESHOLDS_MAX,
} from '../../../../../src/core/alert-rules.ts'
import { NAME_LENGTH_MAX, TEXT_LENGTH_MAX } from '../../../../../src/core/key-limits.ts'
import { readAmount } from '../../../amounts.ts'
import type { Translate } from '../../../i18n/texts.ts'
import { expiryOf, readCount } from './form-values.ts'
import type { KeyFormValues } from './form-values.ts'

export type Field = keyof KeyFormValues
export type Problems = Partial<Record<Field, string>>

export function problemsOf(values: KeyFormValues, t: Translate, now: number): Problems {
  const checks: Readonly<Partial<Record<Field, string | false>>> = {
    name: nameProblem(values.name, t),
    description: values.description.length > TEXT_LENGTH_MAX && t('keyForm.problem.tooLong'),
    models: values.models.length === 0 && t('keyForm.problem.models'),
    budget: values.hasOwnLimit && readAmount(values.budget) === undefined && t('form.amount'),
    rpm: rateProblem(values.rpm, t),
    tpm: rateProblem(values.tpm, t),
    concurrency: rateProblem(values.concurrency, t),
    permissions: values.permissions.length === 0 && t('keyForm.problem.permissions'),
    lastDay: dayProblem(values, t, now),
    alert_thresholds: listProblem(values.alert_thresholds, t, thresholdLimits),
    expiry_reminders: listProblem(values.expiry_reminders, t, reminderLimits),
  }
  return Object.fromEntries(Object.entries(checks).filter(([, problem]) => problem))
}

function nameProblem(name: string, t: Translate): string | false {
  if (name.trim() === '') return t('keyForm.problem.name')
  return name.trim().length > NAME_LENGTH_MAX && t('keyForm.problem.tooLong')
}

function rateProblem(typed: string, t: Translate): string | false {
  return typed.trim() !== '' && readCount(typed) === undefined && t('keyForm.problem.count')
}

const thresholdLimits = { most: THRESHOLD_MAX, count: THRESHOLDS_MAX }
const reminderLimits = { most: REMINDER_DAYS_MAX, count: REMINDERS_MAX }

/** Of whole numbers, each typed by itself. */
function listProblem(
  typed: readonly string[],
  t: Translate,
  limits: { readonly most: number; readonly count: number },
): string | false {
  const isGood = typed.every((text) => /^[1-9]\d*$/.test(text) && Number(text) <= limits.most)
  return (!isGood || typed.length > limits.count) && t('keyForm.problem.thresholds', limits)
}

function dayProblem(values: KeyFormValues, t: Translate, now: number): string | false {
  if (values.lifetime !== 'date') return false
  const end = expiryOf(values, now)
  if (end === null) return t('keyForm.problem.date')
  return Date.parse(end) <= now && t('keyForm.problem.past')
}
