// Checks and cleans the settings of a key, a group or the frame as callers give them: whatever passes can be stored by both
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
import { problemsOf, refuseAll, StoreError, type Problem } from '../database/errors.ts'

/** What keys, groups and the frame have in common. */
export type AccountSettings = PeriodRule & {
  /** Null: only what is above limits it. */
  readonly limitNanodollars: Nanodollars | null
  readonly rpm: number | null
  readonly tpm: number | null
  readonly concurrency: number | null
}

export type KeySettings = AccountSettings & {
  readonly name: string
  readonly environment: string | null
  readonly owner: string | null
  /** The id of the person who is responsible for it. */
  readonly ownerPersonId: string | null
  readonly description: string | null
  readonly tags: readonly string[]
  readonly models: readonly string[]
  readonly permissions: readonly Endpoint[]
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

export type Checks<Settings> = {
  readonly [Name in keyof Settings]: (value: Settings[Name]) => Settings[Name]
}

/** The same settings, cleaned, without the undefined ones. Throws invalid_value, with all that is wrong. */
export function checkSettings<Given extends Some<KeySettings>>(given: Given): Checked<Given> {
  return checkBy(CHECKS, given)
}

export function checkBy<Settings, Given extends Some<Settings>>(
  checks: Checks<Settings>,
  given: Given,
): Checked<Given> {
  const checked: Record<string, unknown> = {}
  const problems: Problem[] = []
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    try {
      checked[name] = checks[name as keyof Settings](value as never)
    } catch (thrown) {
      problems.push(...problemsOf(thrown))
    }
  }
  refuseAll(problems)
  return checked as Checked<Given>
}

export const ACCOUNT_CHECKS: Checks<AccountSettings> = {
  limitNanodollars: checkLimit,
  rpm: (count) => optionalCount('rpm', count),
  tpm: (count) => optionalCount('tpm', count),
  concurrency: (count) => optionalCount('concurrency', count),
  period: (value) => oneOf('period', value, PERIODS),
  timezone: checkTimezone,
  weekStart: (value) => oneOf('week_start', value, WEEK_STARTS),
}

const CHECKS: Checks<KeySettings> = {
  ...ACCOUNT_CHECKS,
  name: checkName,
  // Whoever looks the person up finds out whether they exist.
  ownerPersonId: (id) => id,
  environment: (text) => optionalLabel('environment', text),
  owner: (text) => optionalLabel('owner', text),
  description: checkDescription,
  tags: (tags) => list('tags', tags.map(label), TAGS_MAX),
  models: checkModels,
  permissions: checkPermissions,
  whenTight: (value) => oneOf('when_tight', value, WHEN_TIGHT),
  expiresAt: checkMoment,
  alertThresholds: checkThresholds,
  expiryReminders: checkReminders,
}

export function checkModels(models: readonly string[]): readonly string[] {
  return list('models', models, MODELS_MAX).toSorted()
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

export function optionalCount(field: string, count: number | null, most = RATE_MAX): number | null {
  if (count === null || (Number.isInteger(count) && count >= 1 && count <= most)) return count
  throw invalid(field, sentence('key_rate', { field, most }))
}

function optionalLabel(field: string, text: string | null): string | null {
  return text === null ? null : atMost(field, label(text), NAME_LENGTH_MAX) || null
}

export function checkDescription(text: string | null): string | null {
  if (text === null) return null
  return atMost('description', visible(storable(text)).trim(), TEXT_LENGTH_MAX) || null
}

export function list(
  field: string,
  texts: readonly string[],
  lengthMax: number,
): readonly string[] {
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

export function oneOf<Value extends string>(
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

export function atMost(field: string, text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  throw invalid(field, sentence('too_long', { field, most: lengthMax }))
}

export function invalid(field: string, why: Sentence): StoreError {
  return new StoreError('invalid_value', why, { field })
}
