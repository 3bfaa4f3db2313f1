// What is read from LiteLLM's tables: the rows of teams, users and keys, what stands for which word here, and in sum what
// was used in the last 30 days.
import type { Endpoint } from '../../core/endpoints.ts'
import type { PlannedPerson } from './plan.ts'
import type { Schema, SourceDatabase } from './source-database.ts'
import type { LimitColumns } from './values.ts'

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
