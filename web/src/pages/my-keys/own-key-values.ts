// What the dialog for a key of one's own begins with and sends, by the rules of the group. Pure.
import type { OwnGroup } from '../../../../src/admin/contract/people.ts'
import type { keyRoutes } from '../../../../src/admin/contract/keys.ts'
import type { BodyOf } from '../../../../src/admin/contract/route.ts'
import type { Period } from '../../../../src/core/periods.ts'
import { DAY_MS } from '../../../../src/core/units.ts'
import type { Separators } from '../../i18n/format.ts'
import { readAmount, typedAmount } from '../../i18n/typed-numbers.ts'

export type OwnKeyValues = {
  readonly name: string
  readonly environment: string
  readonly models: readonly string[]
  /** As typed. */
  readonly budget: string
  readonly period: Period
  /** How many days it lasts; empty: it does not expire. */
  readonly days: string
}

const LIFETIMES = [7, 30, 90, 365]
const usualDays = 90

/** What a group's rules let a member choose, and for others the usual. */
export function startValues(
  { key_rules: rules, models }: OwnGroup,
  separators: Separators,
): OwnKeyValues {
  const most = rules?.budget_max ?? null
  return {
    name: '',
    environment: rules?.environments?.[0] ?? '',
    models: models ?? [],
    budget: most === null ? '' : typedAmount(most.budget, separators),
    period: most?.period ?? 'month',
    days: String(Math.min(rules?.days_max ?? usualDays, usualDays)),
  }
}

/** In days, the longest last; an empty one stands for no expiry. */
export function lifetimesOf({ key_rules: rules }: OwnGroup): readonly string[] {
  const most = rules?.days_max ?? null
  if (most === null) return [...LIFETIMES.map(String), '']
  return [...LIFETIMES.filter((days) => days < most), most].map(String)
}

type OwnKeyBody = BodyOf<typeof keyRoutes.createKey>

/** Undefined while something that is needed is missing. Rates that the rules bound are as high as they allow. */
export function ownKeyOf(
  group: OwnGroup,
  values: OwnKeyValues,
  { now, separators }: { readonly now: number; readonly separators: Separators },
): OwnKeyBody | undefined {
  const budget = readAmount(values.budget, separators)
  const name = values.name.trim()
  if (budget === undefined || name === '' || values.models.length === 0) return undefined
  const { rpm_max: rpm = null, tpm_max: tpm = null } = group.key_rules ?? {}
  const { concurrency_max: concurrency = null } = group.key_rules ?? {}
  return {
    ...{ name, budget, rpm, tpm, concurrency },
    group: group.id,
    models: [...values.models],
    period: values.period,
    environment: values.environment.trim() || null,
    expires_at:
      values.days === '' ? null : new Date(now + Number(values.days) * DAY_MS).toISOString(),
  }
}
