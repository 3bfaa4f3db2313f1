// Checks and cleans the settings of a key or the frame as callers give them: whatever passes can be stored by both
// databases and shown on one line. Every refusal names the field and says what is allowed.
import { ENDPOINTS, type Endpoint } from '../../core/endpoints.ts'
import {
  KEY_ID_SHAPE,
  MODELS_MAX,
  NAME_LENGTH_MAX,
  RATE_MAX,
  REMINDER_DAYS_MAX,
  REMINDERS_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
  THRESHOLD_MAX,
  THRESHOLDS_MAX,
  type WhenTight,
  WHEN_TIGHT,
} from '../../core/limits.ts'
import { BUDGET_MAX, formatUsd, type Nanodollars } from '../../core/money.ts'
import { PERIODS, timezoneOf, type PeriodRule, WEEK_STARTS } from '../../core/periods.ts'
import { sentence, type Sentence } from '../../core/sentences.ts'
import { label, line, storable, visible } from '../../core/text.ts'
import { StoreError } from '../database/errors.ts'

export type KeySettings = PeriodRule & {
  readonly name: string
  readonly environment: string | null
  readonly owner: string | null
  readonly description: string | null
  readonly tags: readonly string[]
  readonly models: readonly string[]
  readonly permissions: readonly Endpoint[]
  /** Null: only the frame limits it. */
  readonly limitNanodollars: Nanodollars | null
  readonly rpm: number | null
  readonly tpm: number | null
  readonly concurrency: number | null
  readonly whenTight: WhenTight
  readonly expiresAt: number | null
  /** Percent of its budget at which alerts are given. */
  readonly alertThresholds: readonly number[]
  /** How many days before it expires reminders are given. */
  readonly expiryReminders: readonly number[]
}

/** Some of the settings; what is undefined is left as it is. */
export type Some<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined }

type Checked<Given> = { readonly [Name in keyof Given]: Exclude<Given[Name], undefined> }

/** The same settings, cleaned, without the undefined ones. Throws invalid_value. */
export function checkSettings<Given extends Some<KeySettings>>(given: Given): Checked<Given> {
  const checked: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) checked[name] = CHECKS[name as keyof KeySettings](value as never)
  }
  return checked as Checked<Given>
}

const CHECKS: {
  readonly [Name in keyof KeySettings]: (value: KeySettings[Name]) => KeySettings[Name]
} = {
  name: checkName,
  environment: (text) => optionalLabel('environment', text),
  owner: (text) => optionalLabel('owner', text),
  description: optionalDescription,
  tags: (tags) => list('tags', tags.map(label), TAGS_MAX),
  models: (models) => list('models', models, MODELS_MAX).toSorted(),
  permissions: checkPermissions,
  limitNanodollars: checkLimit,
  rpm: (count) => optionalCount('rpm', count),
  tpm: (count) => optionalCount('tpm', count),
  concurrency: (count) => optionalCount('concurrency', count),
  whenTight: (value) => oneOf('when_tight', value, WHEN_TIGHT),
  expiresAt: checkMoment,
  alertThresholds: checkThresholds,
  expiryReminders: checkReminders,
  period: (value) => oneOf('period', value, PERIODS),
  timezone: checkTimezone,
  weekStart: (value) => oneOf('week_start', value, WEEK_STARTS),
}

/** Percent of a limit, of a key or of the frame. */
export function checkThresholds(thresholds: readonly number[]): readonly number[] {
  return counts('alert_thresholds', thresholds, { most: THRESHOLD_MAX, lengthMax: THRESHOLDS_MAX })
}

/** The most days first: the order in which they fall due. */
function checkReminders(days: readonly number[]): readonly number[] {
  const limits = { most: REMINDER_DAYS_MAX, lengthMax: REMINDERS_MAX }
  return counts('expiry_reminders', days, limits).toReversed()
}

/** A reason for the record, such as why a key was revoked. */
export function checkReason(text: string): string {
  const reason = label(text)
  if (reason === '') throw invalid('reason', sentence('reason_needed'))
  return atMost('reason', reason, TEXT_LENGTH_MAX)
}

function checkName(text: string): string {
  const name = label(text)
  if (name === '') throw invalid('name', sentence('key_name_needed'))
  if (KEY_ID_SHAPE.test(name)) throw invalid('name', sentence('key_name_like_id'))
  return atMost('name', name, NAME_LENGTH_MAX)
}

function checkPermissions(permissions: readonly Endpoint[]): readonly Endpoint[] {
  for (const permission of permissions) oneOf('permissions', permission, ENDPOINTS)
  return ENDPOINTS.filter((endpoint) => permissions.includes(endpoint))
}

function checkLimit(limit: Nanodollars | null): Nanodollars | null {
  if (limit === null || (limit >= 0n && limit <= BUDGET_MAX)) return limit
  throw invalid('budget', sentence('budget_range', { most: formatUsd(BUDGET_MAX) }))
}

function checkMoment(moment: number | null): number | null {
  if (moment === null || (Number.isSafeInteger(moment) && moment > 0)) return moment
  throw invalid('expires_at', sentence('key_expiry_shape'))
}

function checkTimezone(timezone: string): string {
  const spelled = timezoneOf(timezone)
  if (spelled !== undefined) return spelled
  throw invalid('timezone', sentence('timezone_unknown', { value: line(timezone) }))
}

function optionalCount(field: string, count: number | null): number | null {
  if (count === null || (Number.isInteger(count) && count >= 1 && count <= RATE_MAX)) return count
  throw invalid(field, sentence('key_rate', { field, most: RATE_MAX }))
}

function optionalLabel(field: string, text: string | null): string | null {
  return text === null ? null : atMost(field, label(text), NAME_LENGTH_MAX) || null
}

function optionalDescription(text: string | null): string | null {
  if (text === null) return null
  return atMost('description', visible(storable(text)).trim(), TEXT_LENGTH_MAX) || null
}

function list(field: string, texts: readonly string[], lengthMax: number): readonly string[] {
  const cleaned = [...new Set(texts.map(line))].filter((text) => text !== '')
  if (cleaned.length > lengthMax)
    throw invalid(field, sentence('too_many', { field, most: lengthMax }))
  return cleaned.map((text) => atMost(field, text, NAME_LENGTH_MAX))
}

type CountLimits = { readonly most: number; readonly lengthMax: number }

/** Whole numbers from 1 up, each once, the smallest first. */
function counts(
  field: string,
  values: readonly number[],
  { most, lengthMax }: CountLimits,
): readonly number[] {
  const cleaned = [...new Set(values)].toSorted((a, b) => a - b)
  if (!cleaned.every((value) => Number.isInteger(value) && value >= 1 && value <= most))
    throw invalid(field, sentence('whole_numbers', { field, most }))
  if (cleaned.length > lengthMax)
    throw invalid(field, sentence('too_many', { field, most: lengthMax }))
  return cleaned
}

function oneOf<Value extends string>(
  field: string,
  value: Value,
  allowed: readonly Value[],
): Value {
  if (allowed.includes(value)) return value
  throw invalid(
    field,
    sentence('not_one_of', { field, value: line(value), allowed: allowed.join(', ') }),
  )
}

function atMost(field: string, text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  throw invalid(field, sentence('too_long', { field, most: lengthMax }))
}

function invalid(field: string, why: Sentence): StoreError {
  return new StoreError('invalid_value', why, { field })
}
