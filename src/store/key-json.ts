// The JSON forms of a key and of the frame, for the command line, the admin API, /v1/key and the audit record.
import { iso, usd } from '../core/units.ts'
import type { Key } from './keys.ts'

export type KeyJson = ReturnType<typeof keyJson>

export function keyJson(key: Key) {
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    environment: key.environment,
    owner: key.owner,
    description: key.description,
    tags: key.tags,
    status: key.status,
    models: key.models,
    permissions: key.permissions,
    budget: usd(key.limitNanodollars),
    period: key.period,
    timezone: key.timezone,
    week_start: key.weekStart,
    spent: usd(key.spentNanodollars),
    held: usd(key.heldNanodollars),
    remaining: usd(key.remainingNanodollars),
    resets_at: iso(key.resetsAt),
    rpm: key.rpm,
    tpm: key.tpm,
    concurrency: key.concurrency,
    when_tight: key.whenTight,
    created_at: iso(key.createdAt),
    expires_at: iso(key.expiresAt),
    last_used_at: iso(key.lastUsedAt),
  }
}

/** The settings, as the audit record keeps them. */
export function keySettingsJson(key: Key): Readonly<Record<string, unknown>> {
  const json = keyJson(key)
  return {
    ...Object.fromEntries(RECORDED.map((field) => [field, json[field]])),
    alert_thresholds: key.alertThresholds,
    expiry_reminders: key.expiryReminders,
  }
}

const RECORDED = [
  'name',
  'status',
  'models',
  'permissions',
  'budget',
  'period',
  'timezone',
  'week_start',
  'rpm',
  'tpm',
  'concurrency',
  'when_tight',
  'expires_at',
  'environment',
  'owner',
  'description',
  'tags',
] as const
