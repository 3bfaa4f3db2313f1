// What was used at LiteLLM in the last 30 days, by public model, for a comparison of what it cost there with what it
// would cost here.
import type { SourceDatabase } from './source-database.ts'
import type { Schema } from './tables.ts'

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
