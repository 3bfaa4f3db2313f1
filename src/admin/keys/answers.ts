// A key and the frame as the admin API shows them: the state on the badge, the share of the frame, the forecast.
import type { Catalog } from '../../catalog/models.ts'
import type { Nanodollars } from '../../core/money.ts'
import { closest } from '../../core/text.ts'
import { HOUR_MS, iso, usd } from '../../core/units.ts'
import {
  isExhausted,
  limitWithTopUp,
  type AccountView,
  type PastPeriod,
} from '../../store/accounts/accounts.ts'
import type { Scope } from '../../store/database/store.ts'
import { frameJson, partOfFrame, type Frame } from '../../store/frame.ts'
import { callableModels, keyJson, type Key } from '../../store/keys/keys.ts'
import { EXPIRES_SOON_MS, HIGH_PERCENT } from '../../store/keys/search.ts'
import type { ShownSecrets } from '../../store/keys/secrets.ts'
import type { FrameAnswer, FrameState } from '../contract/groups.ts'
import type { KeyDetail, KeyRow, KeyState } from '../contract/keys.ts'

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
