// What is wrong with the form of a key: one text per field, found before the gateway is asked.
import {
  REMINDER_DAYS_MAX,
  REMINDERS_MAX,
  THRESHOLD_MAX,
  THRESHOLDS_MAX,
} from '../../../../../src/core/alert-rules.ts'
import {
  NAME_LENGTH_MAX,
  RATE_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
} from '../../../../../src/core/key-limits.ts'
import type { Translate } from '../../../i18n/texts.ts'
import { amountProblem, readCount } from '../../../i18n/typed-numbers.ts'
import type { Words } from '../../../i18n/use-words.ts'
import { expiryOf } from './form-values.ts'
import type { KeyFormValues } from './form-values.ts'

export type Field = keyof KeyFormValues
type FormWords = Pick<Words, 't' | 'format'>
export type Problems = Partial<Record<Field, string>>

export function problemsOf(values: KeyFormValues, words: FormWords, now: number): Problems {
  const { t } = words
  const checks: Readonly<Partial<Record<Field, string | false | undefined>>> = {
    name: nameProblem(values.name, words),
    owner: lengthProblem([values.owner], TEXT_LENGTH_MAX, words),
    environment: lengthProblem([values.environment], TEXT_LENGTH_MAX, words),
    description: lengthProblem([values.description], TEXT_LENGTH_MAX, words),
    tags: tagsProblem(values.tags, words),
    models: values.models.length === 0 && t('keyForm.problem.models'),
    budget: values.hasOwnLimit && amountProblem(values.budget, words),
    rpm: rateProblem(values.rpm, words),
    tpm: rateProblem(values.tpm, words),
    concurrency: rateProblem(values.concurrency, words),
    permissions: values.permissions.length === 0 && t('keyForm.problem.permissions'),
    lastDay: dayProblem(values, t, now),
    alert_thresholds: listProblem(values.alert_thresholds, t, thresholdLimits),
    expiry_reminders: listProblem(values.expiry_reminders, t, reminderLimits),
  }
  return Object.fromEntries(Object.entries(checks).filter(([, problem]) => problem))
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
