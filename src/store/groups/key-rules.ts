// What the members of a group may choose for keys of their own. Those who manage the group are not bound by it.
import { RATE_MAX } from '../../core/limits.ts'
import { BUDGET_MAX, formatUsd, parseBudget } from '../../core/money.ts'
import { PERIODS } from '../../core/periods.ts'
import { sentence } from '../../core/sentences.ts'
import { label } from '../../core/text.ts'
import type { BudgetAmount } from '../accounts/budget-changes.ts'
import { checkBy, invalid, list, oneOf, optionalCount, type Checks } from '../accounts/settings.ts'

export type KeyRules = {
  /** Whether members may make keys themselves. */
  readonly selfService: boolean
  /** The most that one key may spend, and in which period; null = any budget, but there must be one. */
  readonly budgetMax: BudgetAmount | null
  /** How many days a key may last. */
  readonly daysMax: number | null
  /** How many keys each member may have. */
  readonly keysMax: number | null
  /** Null = any. */
  readonly environments: readonly string[] | null
  readonly rpmMax: number | null
  readonly tpmMax: number | null
  readonly concurrencyMax: number | null
}

export const NO_KEY_RULES: KeyRules = {
  selfService: false,
  budgetMax: null,
  daysMax: null,
  keysMax: null,
  environments: null,
  rpmMax: null,
  tpmMax: null,
  concurrencyMax: null,
}

const DAYS_MAX = 36_500
const ENVIRONMENTS_MAX = 50

const CHECKS: Checks<KeyRules> = {
  selfService: (isOn) => isOn,
  budgetMax: (most) => most && checkBudgetMax(most),
  daysMax: (days) => optionalCount('key_rules.days_max', days, DAYS_MAX),
  keysMax: (count) => optionalCount('key_rules.keys_max', count, RATE_MAX),
  environments: (names) =>
    names && list('key_rules.environments', names.map(label), ENVIRONMENTS_MAX),
  rpmMax: (count) => optionalCount('key_rules.rpm_max', count),
  tpmMax: (count) => optionalCount('key_rules.tpm_max', count),
  concurrencyMax: (count) => optionalCount('key_rules.concurrency_max', count),
}

/** Throws invalid_value, with all that is wrong. */
export function checkKeyRules(rules: KeyRules): KeyRules {
  return checkBy<KeyRules, KeyRules>(CHECKS, rules)
}

function checkBudgetMax({ limitNanodollars, period }: BudgetAmount): BudgetAmount {
  const field = 'key_rules.budget_max'
  if (limitNanodollars < 0n || limitNanodollars > BUDGET_MAX) {
    throw invalid(field, sentence('budget_range', { most: formatUsd(BUDGET_MAX) }))
  }
  return { limitNanodollars, period: oneOf(field, period, PERIODS) }
}

/** As the database, the command line and the admin API have it. */
export function keyRulesJson(rules: KeyRules) {
  return {
    self_service: rules.selfService,
    budget_max: rules.budgetMax && {
      budget: formatUsd(rules.budgetMax.limitNanodollars),
      period: rules.budgetMax.period,
    },
    days_max: rules.daysMax,
    keys_max: rules.keysMax,
    environments: rules.environments && [...rules.environments],
    rpm_max: rules.rpmMax,
    tpm_max: rules.tpmMax,
    concurrency_max: rules.concurrencyMax,
  }
}

type KeyRulesJson = ReturnType<typeof keyRulesJson>

/** What an earlier release did not know yet is as if it had never been set. */
export function readKeyRules(text: string): KeyRules {
  const json = JSON.parse(text) as Partial<KeyRulesJson>
  const most = json.budget_max
  return {
    selfService: json.self_service ?? false,
    budgetMax: most ? { limitNanodollars: parseBudget(most.budget), period: most.period } : null,
    daysMax: json.days_max ?? null,
    keysMax: json.keys_max ?? null,
    environments: json.environments ?? null,
    rpmMax: json.rpm_max ?? null,
    tpmMax: json.tpm_max ?? null,
    concurrencyMax: json.concurrency_max ?? null,
  }
}
