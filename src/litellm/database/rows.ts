// What is read from LiteLLM's tables: the rows of teams, users and keys, their values in Tollgate's units and words, and in
// sum what was used in the last 30 days. A value that means nothing is a problem that names its row.
import type { Endpoint } from '../../core/endpoints.ts'
import { isObject, stringOf, type JsonObject } from '../../core/json.ts'
import { BUDGET_MAX, type Nanodollars } from '../../core/money.ts'
import { periodOf } from '../units.ts'
import type { PlannedKey, PlannedLimits, PlannedPerson, Problems, Tally } from './plan.ts'
import type { Schema, SourceDatabase } from './source-database.ts'

/** The columns that keys, teams and budgets share. */
export type LimitColumns = {
  readonly max_budget: number | null
  readonly soft_budget?: number | null
  readonly budget_duration: string | null
  readonly spend: number | null
  readonly tpm_limit: string | null
  readonly rpm_limit: string | null
  readonly max_parallel_requests: number | null
}

export type TeamRow = LimitColumns & {
  readonly team_id: string
  readonly team_alias: string | null
  readonly organization_id: string | null
  readonly models: readonly string[] | null
  readonly blocked: boolean | null
  readonly members_with_roles: unknown
  readonly model_max_budget: unknown
  readonly model_id: number | null
  readonly tpd_limit: string | null
}

export type UserRow = {
  readonly user_id: string
  readonly user_email: string | null
  readonly user_role: string | null
  readonly user_alias: string | null
  readonly max_budget: number | null
}

/** Of a key, where this version has them. */
export const KEY_COLUMNS = [
  ...['key_name', 'blocked', 'allowed_routes', 'model_max_budget', 'aliases', 'config'],
  ...[
    'router_settings',
    'object_permission_id',
    'budget_limits',
    'budget_fallbacks',
    'auto_rotate',
  ],
  ...['project_id', 'policies', 'access_group_ids', 'tpd_limit'],
]

/** Of a budget that several keys may refer to. */
export const SHARED_COLUMNS = [
  ...['max_budget', 'soft_budget', 'budget_duration'],
  ...['tpm_limit', 'rpm_limit', 'max_parallel_requests', 'tpd_limit', 'temp_budget_increase'],
]

export type KeyRow = LimitColumns &
  Readonly<Record<keyof typeof EXTRAS, unknown>> & {
    readonly token: string
    readonly key_name: string | null
    readonly key_alias: string | null
    readonly expires: number | null
    readonly resets_at: number | null
    readonly month_spend: number | null
    readonly models: readonly string[] | null
    readonly user_id: string | null
    readonly team_id: string | null
    readonly metadata: unknown
    readonly blocked: boolean | null
    readonly allowed_routes: readonly string[] | null
    readonly model_max_budget: unknown
    readonly shared_max_budget: number | null
    readonly shared_soft_budget: number | null
    readonly shared_budget_duration: string | null
    readonly shared_tpm_limit: string | null
    readonly shared_rpm_limit: string | null
    readonly shared_max_parallel_requests: number | null
  }

/** The key's own limits, else those of the budget it refers to. */
export function withShared(row: KeyRow): LimitColumns {
  return {
    spend: row.spend,
    max_budget: row.max_budget ?? row.shared_max_budget,
    soft_budget: row.shared_soft_budget,
    budget_duration: row.budget_duration ?? row.shared_budget_duration,
    tpm_limit: row.tpm_limit ?? row.shared_tpm_limit,
    rpm_limit: row.rpm_limit ?? row.shared_rpm_limit,
    max_parallel_requests: row.max_parallel_requests ?? row.shared_max_parallel_requests,
  }
}

/** Names in the metadata of a key that LiteLLM itself reads. */
export const MEANT = new Set([
  ...['tpm_limit_type', 'rpm_limit_type', 'temp_budget_increase', 'temp_budget_expiry'],
  ...['disable_fallbacks', 'disable_global_guardrails', 'guardrails', 'policies', 'logging'],
  ...['model_rpm_limit', 'model_tpm_limit', 'enforced_params', 'allowed_passthrough_routes'],
  ...['prompts', 'service_account_id', 'secret_manager_settings', 'agent_id'],
])

export const NO_DAILY_TOKENS = 'a limit of tokens per day is not taken over: tpm is one per minute'

export const EXTRAS = {
  aliases: 'names of models that only one key has are not taken over',
  config: 'settings that only one key has (config) are not taken over',
  router_settings: 'settings of routing that only one key has are not taken over',
  object_permission_id: 'permissions for MCP servers, vector stores and agents are not taken over',
  budget_limits: 'further budgets of a key (budget_limits) are not taken over',
  budget_fallbacks: 'fallbacks for a spent budget are not taken over',
  auto_rotate: 'keys are not rotated by themselves here',
  project_id: 'a project between team and key is not taken over',
  policies: 'policies of guardrails are not taken over',
  access_group_ids: 'access groups of the database are not taken over',
  tpd_limit: NO_DAILY_TOKENS,
  shared_tpd_limit: NO_DAILY_TOKENS,
  shared_temp_budget_increase:
    'a budget that is raised for a while is taken over as it is without that',
} as const

export const OTHER_TABLES = {
  LiteLLM_DeprecatedVerificationToken: 'old secrets of rotated keys',
  LiteLLM_EndUserTable: 'end users and their budgets',
  LiteLLM_TagTable: 'budgets of tags',
  LiteLLM_CredentialsTable: 'credentials, which are encrypted,',
  LiteLLM_Config: 'settings in the database',
  LiteLLM_TeamMembership: 'budgets of members within a team',
  LiteLLM_ProjectTable: 'projects',
  LiteLLM_MCPServerTable: 'MCP servers',
  LiteLLM_GuardrailsTable: 'guardrails',
  LiteLLM_PromptTable: 'prompts',
  LiteLLM_AgentsTable: 'agents',
} as const

export const ROLES: Readonly<Record<string, PlannedPerson['role']>> = {
  proxy_admin: 'Administrator',
  proxy_admin_viewer: 'Viewer',
}

export const ALL_ROUTES = ['llm_api_routes', 'openai_routes', '*', '/*', '/v1/*']

export const ROUTES: Readonly<Record<string, Endpoint>> = {
  '/chat/completions': 'chat',
  '/responses': 'responses',
  '/embeddings': 'embeddings',
  '/models': 'models',
  '/messages': 'messages',
  '/messages/count_tokens': 'count_tokens',
}

export type Row = {
  /** How a person finds it: table and name. */
  readonly place: string
  readonly problems: Problems
  readonly tally: Tally
}

export function limitsOf(row: Row, columns: LimitColumns): PlannedLimits {
  const { max_budget, soft_budget = null, budget_duration, spend } = columns
  const limit = dollars(row, 'max_budget', max_budget)
  const { period, remark, isClose } = periodOf(budget_duration)
  if (max_budget !== null && budget_duration !== null) {
    const about = isClose ? 'a budget has a period of the calendar here' : 'the period of a budget'
    row.tally.note(`${about}: ${remark ?? ''}`)
  }
  if (columns.max_parallel_requests !== null) row.tally.note(CONCURRENCY)
  const warn = dollars(row, 'soft_budget', soft_budget)
  const alertAt = limit && warn !== null ? Number((warn * 100n) / limit) : null
  if (warn !== null) {
    row.tally.note(
      alertAt === null
        ? 'a soft budget without a budget: alerts are at percentages of a budget here'
        : 'a soft budget is an alert at that part of the budget here',
    )
  }
  return {
    limitNanodollars: limit,
    period: max_budget === null ? 'month' : period,
    spentNanodollars: dollars(row, 'spend', spend) ?? 0n,
    rpm: count(row, 'rpm_limit', columns.rpm_limit),
    tpm: count(row, 'tpm_limit', columns.tpm_limit),
    concurrency: count(row, 'max_parallel_requests', columns.max_parallel_requests),
    alertAt: alertAt === null || alertAt < 1 || alertAt > 100 ? null : alertAt,
  }
}

const CONCURRENCY = 'max_parallel_requests is concurrency here, and exact across nodes'

/** A float there. Rounded up: what was spent is never less here. */
function dollars({ place, problems, tally }: Row, column: string, value: number | null) {
  if (value === null) return null
  if (!Number.isFinite(value) || value < 0) {
    problems.add(`${place}: ${column} is ${value}, which is no amount`)
    return null
  }
  const amount: Nanodollars =
    value > 1e7 ? BUDGET_MAX : BigInt(Math.ceil(Number((value * 1e9).toPrecision(15))))
  if (amount < BUDGET_MAX || column === 'spend') return amount
  tally.note('a budget is at most 9,000,000 USD here')
  return BUDGET_MAX
}

/** Null: no limit. */
function count({ place, problems }: Row, column: string, value: string | number | null) {
  if (value === null) return null
  const number = Number(value)
  if (Number.isSafeInteger(number) && number >= 0) return number === 0 ? null : number
  problems.add(`${place}: ${column} is ${value}, which is no limit`)
  return null
}

/** A limit of 0 allows nothing there. */
export function isClosed({ rpm_limit, tpm_limit, max_parallel_requests }: LimitColumns): boolean {
  return [rpm_limit, tpm_limit, max_parallel_requests].some(
    (limit) => limit !== null && Number(limit) === 0,
  )
}

/** `{"gpt-5": {"budget_limit": 1, "time_period": "1d"}}`, in two spellings. */
export function modelBudgetsOf(row: Row, json: unknown): PlannedKey['modelBudgets'] {
  return Object.entries(isObject(json) ? json : {}).flatMap(([model, value]) => {
    const written: JsonObject = isObject(value) ? value : { max_budget: value }
    const amount = written['max_budget'] ?? written['budget_limit'] ?? null
    const limitNanodollars = dollars(
      row,
      `model_max_budget of ${model}`,
      // In JSON a number may also be written as text.
      amount === null || amount === '' ? null : Number(amount),
    )
    const duration = stringOf(written['budget_duration']) ?? stringOf(written['time_period'])
    if (limitNanodollars === null) return []
    return [{ model, limitNanodollars, period: periodOf(duration ?? null).period }]
  })
}

// What was used.

export type ModelUsage = {
  readonly model: string
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  /** USD, as LiteLLM recorded it. */
  readonly spend: number
}

const DAYS = 30

/** By its sums by day; where a version has none, by single requests, which say nothing of caches. */
export async function readUsage(
  database: SourceDatabase,
  { tables }: Pick<Schema, 'tables'>,
): Promise<readonly ModelUsage[]> {
  const sums = tables.has('LiteLLM_DailyUserSpend')
  if (!sums && !tables.has('LiteLLM_SpendLogs')) return []
  const cached = (column: string): string =>
    sums ? `coalesce(sum(${column}), 0)::float8` : '0::float8'
  return database.all<ModelUsage>(
    `SELECT coalesce(nullif(model_group, ''), model, '') AS model,
       coalesce(sum(prompt_tokens), 0)::float8 AS "inputTokens",
       ${cached('cache_read_input_tokens')} AS "cachedTokens",
       ${cached('cache_creation_input_tokens')} AS "cacheWriteTokens",
       coalesce(sum(completion_tokens), 0)::float8 AS "outputTokens",
       coalesce(sum(spend), 0)::float8 AS spend
     FROM ${sums ? '"LiteLLM_DailyUserSpend"' : '"LiteLLM_SpendLogs"'}
     WHERE ${sums ? `date >= to_char(now() - interval '${DAYS} days', 'YYYY-MM-DD')` : `"startTime" >= now() - interval '${DAYS} days'`}
     GROUP BY 1 ORDER BY spend DESC LIMIT 1000`,
  )
}

// What LiteLLM's lists of models mean, by name: empty lists, wildcards, access groups and names with a provider. Lists
// are explicit here.

export type KnownModels = {
  /** The public names that the configuration has here. */
  readonly names: ReadonlySet<string>
  readonly accessGroups: ReadonlyMap<string, readonly string[]>
  /** What stands for every model; null: the operator has not said. */
  readonly every: readonly string[] | null
}

export const UNDECIDED =
  'keys may call every model there, and lists are explicit here: say --all-models-as every, or which'

/** Null: every model. */
type Meant = readonly string[] | null

export class Allowlists {
  readonly #known: KnownModels
  readonly #tally: Tally

  constructor(known: KnownModels, tally: Tally) {
    this.#known = known
    this.#tally = tally
  }

  /** Of a team: null if it may call every model. */
  ofTeam(models: readonly string[]): Meant {
    return models.length === 0 ? null : this.#named(models, null)
  }

  /** Of a key: an empty list is that of its team. `every`: what stands for all models. */
  ofKey(models: readonly string[], team: Meant): readonly string[] {
    const meant = models.length === 0 ? team : this.#named(models, team)
    if (meant !== null) return meant
    this.#tally.note(
      this.#known.every === null
        ? UNDECIDED
        : 'keys may call every model there: they get the models of today',
    )
    return this.#known.every ?? []
  }

  #named(models: readonly string[], team: Meant): Meant {
    const all: string[] = []
    for (const name of models) {
      const meant = name === 'all-team-models' ? team : this.#meaningOf(name)
      if (meant === null) return null
      all.push(...meant)
    }
    return [...new Set(all)]
  }

  #meaningOf(name: string): Meant {
    const { names, accessGroups } = this.#known
    if (name === '*' || name === 'all-proxy-models') return null
    if (name === 'no-default-models') return []
    const group = accessGroups.get(name)
    if (names.has(name)) return [name]
    if (group !== undefined) return group
    if (name.includes('*')) return this.#matching(name)
    const plain = name.slice(name.indexOf('/') + 1)
    if (names.has(plain)) return [plain]
    this.#tally.note(
      `the model ${name} is on lists, but not in the configuration: it stays on them`,
    )
    // Names here have neither spaces nor commas.
    return /^[^\s,]{1,200}$/.test(name) ? [name] : []
  }

  #matching(pattern: string): readonly string[] {
    const parts = pattern.split('*').map((part) => RegExp.escape(part))
    const shape = new RegExp(`^${parts.join('.*')}$`)
    const found = [...this.#known.names].filter((name) => shape.test(name))
    this.#tally.note(
      `${pattern} is a wildcard: lists get the ${found.length} models it means today`,
    )
    return found
  }
}
