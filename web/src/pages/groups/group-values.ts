// The values of the form of a group while someone types: from and to those of the gateway, and what is wrong with them. Pure.
import type { GroupDetail, groupRoutes } from '../../../../src/admin/contract/groups.ts'
import type { BodyOf } from '../../../../src/admin/contract/route.ts'
import { NAME_LENGTH_MAX } from '../../../../src/core/limits.ts'
import type { Period } from '../../../../src/core/periods.ts'
import { differing } from '../../base/amounts.ts'
import type { Separators } from '../../i18n/format.ts'
import { amountProblem, readCount } from '../../i18n/typed-numbers.ts'
import {
  accountOf,
  accountProblems,
  accountValuesOf,
  amountFor,
  countOrEmpty,
  countProblem,
  emptyAccount,
  type FormWords,
  isAccountFieldShown,
  lengthProblem,
  settingsOf,
  typedOrEmpty,
} from '../../parts/form/account-values.ts'

export type NewGroup = BodyOf<typeof groupRoutes.createGroup>
export type GroupChange = BodyOf<typeof groupRoutes.changeGroup>

/** Of a new group. */
export const emptyGroup = (timezone: string) => ({
  ...emptyAccount(timezone),
  hasCeiling: false,
  models: [] as string[],
  self_service: false,
  hasBudgetMax: false,
  budget_max: '',
  budgetMaxPeriod: 'month' as Period,
  days_max: '',
  keys_max: '',
  /** None: any. */
  environments: [] as string[],
  rpm_max: '',
  tpm_max: '',
  concurrency_max: '',
})

export type GroupValues = Readonly<ReturnType<typeof emptyGroup>>

/** The rules that are numbers, as they stand together. */
export const RULE_COUNTS = [
  ['keys_max', 'days_max'],
  ['rpm_max', 'tpm_max', 'concurrency_max'],
] as const

export function groupValuesOf(group: GroupDetail, separators: Separators): GroupValues {
  const { models, key_rules: rules } = group
  return {
    ...accountValuesOf(group, separators),
    hasCeiling: models !== null,
    models: [...(models ?? [])],
    self_service: rules.self_service,
    hasBudgetMax: rules.budget_max !== null,
    budget_max: typedOrEmpty(rules.budget_max?.budget ?? null, separators),
    budgetMaxPeriod: rules.budget_max?.period ?? 'month',
    days_max: countOrEmpty(rules.days_max),
    keys_max: countOrEmpty(rules.keys_max),
    environments: [...(rules.environments ?? [])],
    rpm_max: countOrEmpty(rules.rpm_max),
    tpm_max: countOrEmpty(rules.tpm_max),
    concurrency_max: countOrEmpty(rules.concurrency_max),
  }
}

/** The whole group as the gateway reads it. The values must have passed `groupProblems`. */
export function groupOf(values: GroupValues, separators: Separators) {
  const count = (typed: string) => readCount(typed, separators) ?? null
  const { self_service, environments, budgetMaxPeriod } = values
  return {
    ...accountOf(values, separators),
    models: values.hasCeiling ? values.models : null,
    key_rules: {
      self_service,
      budget_max: values.hasBudgetMax
        ? amountFor(values.budget_max, budgetMaxPeriod, separators)
        : null,
      days_max: count(values.days_max),
      keys_max: count(values.keys_max),
      environments: environments.length === 0 ? null : environments,
      rpm_max: count(values.rpm_max),
      tpm_max: count(values.tpm_max),
      concurrency_max: count(values.concurrency_max),
    },
  }
}

export function groupChangeOf(
  group: GroupDetail,
  values: GroupValues,
  separators: Separators,
): GroupChange {
  const { key_rules: rules, ...settings } = groupOf(values, separators)
  const changed = differing(writtenOf(group), settings)
  const changedRules = differing(group.key_rules, rules)
  return Object.keys(changedRules).length === 0 ? changed : { ...changed, key_rules: changedRules }
}

/** A group as it would be written. */
export function writtenOf(group: GroupDetail) {
  return { ...group, window: group.window && settingsOf(group.window) }
}

type Problems = Partial<Record<keyof GroupValues, string>>

export function groupProblems(values: GroupValues, words: FormWords): Problems {
  const counts = RULE_COUNTS.flat().map(
    (rule) => [rule, countProblem(values[rule], words)] as const,
  )
  const checks: Readonly<Record<string, string | false | undefined>> = {
    ...accountProblems(values, words),
    ...Object.fromEntries(counts),
    budget_max: amountProblem(values.budget_max, words),
    environments: lengthProblem(values.environments, NAME_LENGTH_MAX, words),
  }
  return Object.fromEntries(
    Object.entries(checks).filter(([field, problem]) => problem && isShown(field, values)),
  )
}

/** Some fields show only with a certain choice in another field. */
export function isShown(field: string, values: GroupValues): boolean {
  if (field === 'budget_max') return values.hasBudgetMax
  return field === 'models' ? values.hasCeiling : isAccountFieldShown(field, values)
}
