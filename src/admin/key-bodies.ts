// Converts what a caller sends about a key into the store's terms.
import type { KeySettings, Some } from '../store/accounts/settings.ts'
import type { KeyChange } from '../store/keys/changes.ts'
import type { KeyChangeBody, NewKeyBody } from './contract/key.ts'
import { readAmount } from './values.ts'

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
