// Converts what a caller sends about a key into the store's terms.
import { BUDGET_MAX, formatUsd, parseBudget, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import type { KeySettings, Some } from '../../store/accounts/settings.ts'
import { changesSince } from '../../store/audit/list.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { readFrame } from '../../store/frame.ts'
import type { KeyChange } from '../../store/keys/changes.ts'
import { findKey } from '../../store/keys/keys.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import type { KeyChangeBody, NewKeyBody } from '../contract/keys.ts'
import type { RequestHeaders } from '../http/guard.ts'

type Settings = Omit<NewKeyBody, 'mode'>

/** With name, models and budget, which a new key must have. */
export function settingsOf(
  body: Settings,
): Some<KeySettings> & Pick<KeySettings, 'name' | 'models' | 'limitNanodollars'> {
  const { name, models, budget } = body
  return {
    ...someSettingsOf(body),
    name,
    models,
    limitNanodollars: budget === null ? null : readAmount('budget', budget),
  }
}

export function changeOf(body: KeyChangeBody): KeyChange {
  return {
    ...someSettingsOf(body),
    addModels: body.add_models,
    removeModels: body.remove_models,
  }
}

function someSettingsOf(body: Some<Settings>): Some<KeySettings> {
  const { budget, expires_at } = body
  return {
    name: body.name,
    environment: body.environment,
    owner: body.owner,
    description: body.description,
    tags: body.tags,
    models: body.models,
    permissions: body.permissions,
    limitNanodollars: typeof budget === 'string' ? readAmount('budget', budget) : budget,
    period: body.period,
    timezone: body.timezone,
    weekStart: body.week_start,
    rpm: body.rpm,
    tpm: body.tpm,
    concurrency: body.concurrency,
    whenTight: body.when_tight,
    alertThresholds: body.alert_thresholds,
    expiryReminders: body.expiry_reminders,
    expiresAt: typeof expires_at === 'string' ? Date.parse(expires_at) : expires_at,
  }
}

// A change that came too late: the refusal says who was faster and what they changed.

/** Runs a change that is based on a version, and explains the refusal if that is no longer the newest. */
export async function refusingStale<Result>(
  store: Store,
  read: { readonly subjectId: string; readonly version: number },
  change: () => Promise<Result>,
): Promise<Result> {
  try {
    return await change()
  } catch (thrown) {
    if (!(thrown instanceof StoreError) || thrown.code !== 'version_conflict') throw thrown
    const newest = await versionOf(store, read.subjectId)
    const changes = await changesSince(store, read)
    const why =
      read.version > Number(newest)
        ? sentence('version_unknown', { version: read.version, newest })
        : (thrown.sentence ?? sentence('frame_changed'))
    throw new AdminError('version_conflict', why, {
      conflict: {
        version: newest,
        changes: changes.map(({ at, actor, action, fields }) => ({
          at: iso(at),
          actor,
          action,
          fields: [...fields],
        })),
      },
    })
  }
}

async function versionOf(store: Store, subjectId: string): Promise<string> {
  const { version } =
    subjectId === FRAME_ID ? await readFrame(store) : await findKey(store, subjectId)
  return String(version)
}

// Converts between the values of the contract and those of the store: money, moments, versions.

/** Parses an amount; the error names the field. */
export function readAmount(field: string, text: string): Nanodollars {
  try {
    return parseBudget(text)
  } catch (error) {
    if (error instanceof RangeError)
      throw invalidValue(field, sentence('budget_range', { most: formatUsd(BUDGET_MAX) }))
    throw error
  }
}

/** A change without any field is a mistake. */
export function refuseEmpty(body: object): void {
  if (Object.keys(body).length > 0) return
  throw new AdminError('invalid_value', sentence('nothing_to_change'))
}

/** The version that a change is based on: `"7"`, the ETag of the answer that showed it. */
export function ifMatch(headers: RequestHeaders): number {
  const match = /^(?:W\/)?"?(\d{1,15})"?$/.exec(String(headers['if-match'] ?? ''))
  if (match !== null) return Number(match[1])
  throw new AdminError('version_required', sentence('version_needed'))
}

export function etag(version: number): string {
  return `"${version}"`
}
