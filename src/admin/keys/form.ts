// Keys, groups and the frame in the form of the admin API: as it shows them (the state on the badge, the share of the
// frame, the forecast), and what a caller sends to change them, in the store's terms.
import type { Catalog } from '../../catalog/models.ts'
import { isGroupId } from '../../core/ids.ts'
import { BUDGET_MAX, formatUsd, parseBudget, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { closest } from '../../core/text.ts'
import { HOUR_MS, iso, usd } from '../../core/units.ts'
import {
  isExhausted,
  limitWithTopUp,
  type AccountView,
  type PastPeriod,
} from '../../store/accounts/accounts.ts'
import type { BudgetAmount, LegsChange } from '../../store/accounts/budget-changes.ts'
import { MAIN, type BudgetName, WINDOW } from '../../store/accounts/budgets.ts'
import type { KeySettings, Some } from '../../store/accounts/settings.ts'
import { changesSince } from '../../store/audit/record.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Scope, Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { frameJson, partOfFrame, readFrame, type Frame } from '../../store/frame.ts'
import { findGroup, type GroupSettings, type KeyRules } from '../../store/groups/groups.ts'
import { callableModels, findKey, keyJson, type Key } from '../../store/keys/keys.ts'
import type { KeyChange } from '../../store/keys/lifecycle.ts'
import { EXPIRES_SOON_MS, HIGH_PERCENT } from '../../store/keys/search.ts'
import type { ShownSecrets } from '../../store/keys/secrets.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import type { FrameAnswer, FrameChangeBody, FrameState, GroupBody } from '../contract/groups.ts'
import type { KeyChangeBody, KeyDetail, KeyRow, KeyState, NewKeyBody } from '../contract/keys.ts'
import type { AmountForPeriod } from '../contract/values.ts'
import type { RequestHeaders } from '../http/guard.ts'

type KeyAround = {
  /** Who is confined to groups sees of the frame only whether it has room. */
  readonly scope: Scope
  readonly frame: Frame
  /** Nothing is left of its group's budget. */
  readonly isGroupExhausted: boolean
  readonly catalog: Catalog
  readonly secrets: ShownSecrets | undefined
  /** The code of its last refusal, if that was lately. */
  readonly refusedWith: string | undefined
  readonly now: number
  /** Whether a list has allowlists. */
  readonly areModelsShown?: boolean
}

export function keyRowOf(
  key: Key,
  around: KeyAround,
  costs: readonly (Nanodollars | null)[],
): KeyRow {
  const total = costs.reduce<Nanodollars>((sum, cost) => sum + (cost ?? 0n), 0n)
  const { models, ...same } = shown(key, around)
  return {
    ...same,
    ...(around.areModelsShown === true && { models: [...models] }),
    model_count: callableModels(key).length,
    unavailable_model_count: unavailableModels(key, around.catalog).length,
    cost_7d: { days: costs.map((cost) => usd(cost)), total: usd(total) },
  }
}

export function keyDetailOf(
  key: Key,
  around: KeyAround,
  history: readonly PastPeriod[],
): KeyDetail {
  return {
    ...shown(key, around),
    models: [...key.models],
    callable_models: [...callableModels(key)],
    unavailable_models: unavailableModels(key, around.catalog),
    closest_models: closestModels(key, around.catalog),
    alert_thresholds: [...key.alertThresholds],
    expiry_reminders: [...key.expiryReminders],
    period_starts_at: iso(key.periodStartsAt),
    forecast: forecastOf(key, around.now),
    history: historyOf(history),
    revoked_at: iso(key.revokedAt),
    revoked_reason: key.revokedReason,
  }
}

/** Of a key, a group or the frame: as many as a year of months. */
export const HISTORY_PERIODS = 12

export function historyOf(history: readonly PastPeriod[]): KeyDetail['history'] {
  return history.map((past) => ({
    starts_at: iso(past.startsAt),
    ends_at: iso(past.endsAt),
    limit: usd(past.limitNanodollars),
    spent: usd(past.spentNanodollars),
  }))
}

export function frameStateOf(frame: Frame): FrameState {
  return isExhausted(frame) ? 'exhausted' : 'has_room'
}

export function frameAnswerOf(frame: Frame, allocated: Nanodollars, now: number): FrameAnswer {
  return {
    ...frameJson(frame, allocated),
    top_up: usd(frame.topUpNanodollars),
    limit: usd(limitWithTopUp(frame)),
    period_starts_at: iso(frame.periodStartsAt),
    forecast: forecastOf(frame, now),
    version: String(frame.version),
  }
}

/** Includes a few members for the page of one key; the schema of the list drops them. */
function shown(key: Key, around: KeyAround) {
  const { scope, frame, secrets, refusedWith } = around
  const isFrameShown = scope === 'everywhere'
  const json = keyJson(key)
  const own = key.remainingNanodollars
  return {
    ...json,
    group: key.group && { id: key.group.id, name: key.group.name, status: key.group.status },
    tags: [...json.tags],
    permissions: [...json.permissions],
    state: stateOf(key, around),
    masked: secrets?.masked ?? '',
    paused_by: key.pausedBy,
    refused_with: refusedWith ?? null,
    old_secret: oldSecretOf(secrets),
    secret_last_used_at: iso(secrets?.lastUsedAt ?? null),
    top_up: usd(key.topUpNanodollars),
    limit: usd(limitWithTopUp(key)),
    frame_share: isFrameShown ? share(partOfFrame(key, frame), limitWithTopUp(frame)) : null,
    frame_binds: isFrameShown ? own === null || frame.remainingNanodollars < own : null,
    version: String(key.version),
  }
}

/** The secret from before the last rotation, while it still works. */
export function oldSecretOf(secrets: ShownSecrets | undefined): KeyDetail['old_secret'] {
  if (secrets?.old === undefined) return null
  const { masked, validUntil, lastUsedAt } = secrets.old
  return { masked, valid_until: iso(validUntil), last_used_at: iso(lastUsedAt) }
}

/** The first of KEY_STATES that is true. */
function stateOf(key: Key, { frame, isGroupExhausted, secrets, now }: KeyAround): KeyState {
  if (key.status !== 'active') return key.status
  // A test key spends nothing, so no budget stops it.
  if (key.mode === 'live') {
    if (isExhausted(frame)) return 'frame_exhausted'
    if (isGroupExhausted) return 'group_exhausted'
    if (isExhausted(key)) return 'budget_exhausted'
  }
  if (key.expiresAt !== null && key.expiresAt <= now + EXPIRES_SOON_MS) return 'expires_soon'
  if (isHigh(key)) return 'budget_high'
  return secrets?.old === undefined ? 'active' : 'rotating'
}

function isHigh(key: Key): boolean {
  const limit = limitWithTopUp(key)
  if (limit === null) return false
  return (key.spentNanodollars + key.heldNanodollars) * 100n >= limit * BigInt(HIGH_PERCENT)
}

/** A ratio for display: money itself is never a float. */
function share(part: Nanodollars, whole: Nanodollars): number {
  return whole === 0n ? 0 : Number(part) / Number(whole)
}

function unavailableModels(key: Key, catalog: Catalog): string[] {
  // The sandbox plays a test key's models, whether they exist or not.
  if (key.mode === 'test') return []
  return callableModels(key).filter((name) => catalog.get(name)?.available !== true)
}

/** Mistyped names are few; hundreds of unknown names mean that the catalogue has lost models. */
const MISTYPED_MAX = 20

function closestModels(key: Key, catalog: Catalog): Record<string, string> {
  const unknown = unavailableModels(key, catalog).filter((name) => catalog.get(name) === undefined)
  const known = catalog.list().map(({ id }) => id)
  const meant = unknown.slice(0, MISTYPED_MAX).flatMap((name) => {
    const near = closest(name, known)
    return near === undefined ? [] : [[name, near]]
  })
  return Object.fromEntries(meant)
}

/** Less time than this says nothing about the pace. */
const ELAPSED_MS_MIN = HOUR_MS

/** What will be spent if the pace of the period so far goes on. */
export function forecastOf(account: AccountView, now: number): KeyDetail['forecast'] {
  const { spentNanodollars: spent, periodStartsAt, resetsAt } = account
  const elapsed = now - periodStartsAt
  if (resetsAt === null || spent === 0n || elapsed < ELAPSED_MS_MIN) return null
  const limit = limitWithTopUp(account)
  // The budget is already exhausted: there is nothing to forecast.
  if (limit !== null && spent >= limit) return null
  const atReset = (spent * BigInt(resetsAt - periodStartsAt)) / BigInt(elapsed)
  const isEnough = limit === null || atReset <= limit
  const exhaustedAt = isEnough ? null : periodStartsAt + Number((limit * BigInt(elapsed)) / spent)
  return { spent_at_reset: usd(atReset), exhausted_at: iso(exhaustedAt) }
}

// Changes: settings, amounts, and the version that a change is based on. One that came too late is refused with who was
// faster and what they changed.

type Settings = Omit<NewKeyBody, 'mode'>

/** What a key has beside its main budget. Of the caps that it has, those that are not named are removed. */
export function legsChangeOf(
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
  const { modelBudgets = [], ...legs } = legsChangeOf(settings, capped)
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
