// What a caller sends to change a key, a group or the frame, in the store's terms: settings, amounts, and the version that the
// change is based on. A change that came too late is refused with who was faster and what they changed.
import { isGroupId } from '../../core/ids.ts'
import { BUDGET_MAX, formatUsd, parseBudget, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import type { BudgetAmount, LegsChange } from '../../store/accounts/budget-changes.ts'
import { MAIN, WINDOW, type BudgetName } from '../../store/accounts/budgets.ts'
import type { KeySettings, Some } from '../../store/accounts/settings.ts'
import { changesSince } from '../../store/audit/record.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { readFrame } from '../../store/frame.ts'
import { findGroup, type GroupSettings } from '../../store/groups/groups.ts'
import type { KeyRules } from '../../store/groups/groups.ts'
import { findKey } from '../../store/keys/keys.ts'
import type { KeyChange } from '../../store/keys/lifecycle.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import type { FrameChangeBody, GroupBody } from '../contract/groups.ts'
import type { KeyChangeBody, NewKeyBody } from '../contract/keys.ts'
import type { AmountForPeriod } from '../contract/values.ts'
import type { RequestHeaders } from '../http/guard.ts'

type Settings = Omit<NewKeyBody, 'mode'>

/** What a key has beside its main budget. Of the caps that it has, those that are not named are removed. */
export function legsOf(
  body: Pick<KeyChangeBody, 'group' | 'window' | 'model_budgets' | 'request_cost_max'>,
  capped: readonly string[] = [],
): LegsChange {
  const { group, window, model_budgets: caps, request_cost_max: most } = body
  const removed = capped.filter((model) => !caps?.some((cap) => cap.model === model))
  return {
    groupId: group,
    window: window && amountOf('window', window),
    requestCostMaxNanodollars:
      typeof most === 'string' ? readAmount('request_cost_max', most) : most,
    modelBudgets: caps && [
      ...caps.map((cap) => [cap.model, amountOf('model_budgets', cap)] as const),
      ...removed.map((model) => [model, null] as const),
    ],
  }
}

function amountOf(field: string, given: AmountForPeriod): BudgetAmount {
  return { limitNanodollars: readAmount(field, given.budget), period: given.period }
}

/** Which budget of an account a top-up or a reset is about. */
export function budgetNameOf({ window }: { readonly window?: boolean | undefined }): BudgetName {
  return window === true ? WINDOW : MAIN
}

/** With name, models and budget, which a new key must have. */
export function settingsOf(
  body: Settings,
): Some<KeySettings> & Pick<KeySettings, 'name' | 'models' | 'limitNanodollars'> {
  const { name, models, budget } = body
  const limitNanodollars = budget === null ? null : readAmount('budget', budget)
  return { ...someSettingsOf(body), name, models, limitNanodollars }
}

/** `capped`: the models that it has caps for. */
export function changeOf(body: KeyChangeBody, capped: readonly string[] = []): KeyChange {
  const { add_models: addModels, remove_models: removeModels, reason, ...rest } = body
  const { add_model_budgets: caps = [], remove_model_budgets: without = [], ...settings } = rest
  const { modelBudgets = [], ...legs } = legsOf(settings, capped)
  const changed = [
    ...modelBudgets,
    ...caps.map((cap) => [cap.model, amountOf('add_model_budgets', cap)] as const),
    ...without.map((model) => [model, null] as const),
  ]
  return {
    ...someSettingsOf(settings),
    legs: { ...legs, modelBudgets: changed.length === 0 ? undefined : changed },
    addModels,
    removeModels,
    reason,
  }
}

function someSettingsOf(body: Some<Settings>): Some<KeySettings> {
  const { budget, expires_at, week_start, when_tight, owner_person, ...rest } = body
  const { alert_thresholds, expiry_reminders, group: _group, window: _window, ...others } = rest
  const { model_budgets: _caps, request_cost_max: _most, ...same } = others
  return {
    ...same,
    limitNanodollars: typeof budget === 'string' ? readAmount('budget', budget) : budget,
    expiresAt: typeof expires_at === 'string' ? Date.parse(expires_at) : expires_at,
    ownerPersonId: owner_person,
    weekStart: week_start,
    whenTight: when_tight,
    alertThresholds: alert_thresholds,
    expiryReminders: expiry_reminders,
  }
}

export function groupSettingsOf(body: GroupBody): Some<Omit<GroupSettings, 'keyRules'>> {
  const { budget, week_start: weekStart, ...rest } = body
  const { window: _window, request_cost_max: _most, key_rules: _rules, ...same } = rest
  const limitNanodollars = typeof budget === 'string' ? readAmount('budget', budget) : budget
  return { ...same, limitNanodollars, weekStart }
}

/** The rules that are given. */
export function keyRulesOf({ key_rules: rules = {} }: GroupBody): Partial<KeyRules> {
  const { budget_max: most, self_service, days_max, keys_max, ...rest } = rules
  const given: Some<KeyRules> = {
    selfService: self_service,
    budgetMax: most && amountOf('key_rules.budget_max', most),
    daysMax: days_max,
    keysMax: keys_max,
    environments: rest.environments,
    rpmMax: rest.rpm_max,
    tpmMax: rest.tpm_max,
    concurrencyMax: rest.concurrency_max,
  }
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as Partial<KeyRules>
}

export function frameChangeOf(body: FrameChangeBody) {
  const { budget, week_start: weekStart, window, ...same } = body
  return {
    ...same,
    limitNanodollars: typeof budget === 'string' ? readAmount('budget', budget) : undefined,
    weekStart,
    window: window && amountOf('window', window),
  }
}

/** Parses an amount; the error names the field. */
export function readAmount(field: string, text: string): Nanodollars {
  try {
    return parseBudget(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw invalidValue(field, sentence('budget_range', { most: formatUsd(BUDGET_MAX) }))
  }
}

type VersionedCall = {
  readonly subjectId: string
  readonly headers: RequestHeaders
  readonly body: object
}

/** Runs a change that is based on a version, and explains the refusal if that is no longer the newest. */
export async function changeVersion<Result>(
  store: Store,
  { subjectId, headers, body }: VersionedCall,
  change: (ifVersion: number | undefined) => Promise<Result>,
): Promise<Result> {
  const version = ifMatch(headers)
  // A change without any field is a mistake.
  if (Object.keys(body).length === 0)
    throw new AdminError('invalid_value', sentence('nothing_to_change'))
  try {
    return await change(version)
  } catch (thrown) {
    const isLate = thrown instanceof StoreError && thrown.code === 'version_conflict'
    if (!isLate || version === undefined) throw thrown
    const found = await findVersioned(store, subjectId)
    const newest = String(found.version)
    const since = await changesSince(store, { subjectId, version })
    const changes = since.map(({ at, actor, action, fields }) => {
      return { at: iso(at), actor, action, fields: [...fields] }
    })
    const why =
      version > found.version
        ? sentence('version_unknown', { version, newest })
        : (thrown.sentence ?? sentence('frame_changed'))
    throw new AdminError('version_conflict', why, { conflict: { version: newest, changes } })
  }
}

function findVersioned(store: Store, subjectId: string): Promise<{ readonly version: number }> {
  if (subjectId === FRAME_ID) return readFrame(store)
  return isGroupId(subjectId) ? findGroup(store, subjectId) : findKey(store, subjectId)
}

/** The version that a change is based on: `"7"`, the ETag of the answer that showed it; undefined for `*`: any. */
function ifMatch(headers: RequestHeaders): number | undefined {
  const given = String(headers['if-match'] ?? '')
  if (given === '*') return undefined
  const match = /^(?:W\/)?"?(\d{1,15})"?$/.exec(given)
  if (match !== null) return Number(match[1])
  throw new AdminError('version_required', sentence('version_needed'))
}

export function etag(version: number): string {
  return `"${version}"`
}
