// Validates the key form before the gateway is called: one message per field.
import {
  NAME_LENGTH_MAX,
  RATE_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
} from '../../../../../src/core/limits.ts'
import type { Translate } from '../../../i18n/texts.ts'
import {
  amountProblem,
  readCount,
  readList,
  reminderLimits,
  thresholdLimits,
} from '../../../i18n/typed-numbers.ts'
import type { ListLimits } from '../../../i18n/typed-numbers.ts'
import type { Words } from '../../../i18n/use-words.ts'
import { expiryOf, isShown } from './form-values.ts'
import type { KeyFormValues } from './form-values.ts'

export type Field = Exclude<keyof KeyFormValues, 'expiresAt'>
type FormWords = Pick<Words, 't' | 'format'>
type Problems = Partial<Record<Field, string>>

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
