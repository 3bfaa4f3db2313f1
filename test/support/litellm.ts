// A database as LiteLLM has it, for tests of the import: its own migrations if LITELLM_MIGRATIONS names their folder
// (`npm run litellm`), else tables with the same names and columns.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { hashSecret } from '../../src/core/secret.ts'
import { freshDatabase } from './postgres/postgres.ts'

export type LiteLlm = {
  readonly url: string
  readonly run: (sql: string, values?: readonly unknown[]) => Promise<void>
  readonly drop: () => Promise<void>
}

const LIMITS = `max_budget DOUBLE PRECISION, max_parallel_requests INTEGER, tpm_limit BIGINT, rpm_limit BIGINT,
  budget_duration TEXT, budget_reset_at TIMESTAMP(3)`
const TIMES = `created_at TIMESTAMP(3) DEFAULT now(), created_by TEXT, updated_at TIMESTAMP(3) DEFAULT now(), updated_by TEXT`
const JSON_COLUMN = `JSONB NOT NULL DEFAULT '{}'`

const SCHEMA = `
CREATE TABLE "LiteLLM_BudgetTable" (budget_id TEXT PRIMARY KEY, ${LIMITS}, soft_budget DOUBLE PRECISION,
  model_max_budget JSONB, ${TIMES});
CREATE TABLE "LiteLLM_OrganizationTable" (organization_id TEXT PRIMARY KEY, organization_alias TEXT NOT NULL,
  budget_id TEXT NOT NULL, metadata ${JSON_COLUMN}, models TEXT[], spend DOUBLE PRECISION NOT NULL DEFAULT 0, ${TIMES});
CREATE TABLE "LiteLLM_TeamTable" (team_id TEXT PRIMARY KEY, team_alias TEXT, organization_id TEXT, admins TEXT[],
  members TEXT[], members_with_roles ${JSON_COLUMN}, metadata ${JSON_COLUMN}, ${LIMITS},
  spend DOUBLE PRECISION NOT NULL DEFAULT 0, models TEXT[], blocked BOOLEAN NOT NULL DEFAULT false, model_spend ${JSON_COLUMN},
  model_max_budget ${JSON_COLUMN}, model_id INTEGER, ${TIMES});
CREATE TABLE "LiteLLM_UserTable" (user_id TEXT PRIMARY KEY, user_alias TEXT, team_id TEXT, teams TEXT[] DEFAULT '{}',
  user_role TEXT, ${LIMITS}, spend DOUBLE PRECISION NOT NULL DEFAULT 0, user_email TEXT, models TEXT[],
  metadata ${JSON_COLUMN}, password TEXT, ${TIMES});
CREATE TABLE "LiteLLM_VerificationToken" (token TEXT PRIMARY KEY, key_name TEXT, key_alias TEXT,
  spend DOUBLE PRECISION NOT NULL DEFAULT 0, expires TIMESTAMP(3), models TEXT[], aliases ${JSON_COLUMN},
  config ${JSON_COLUMN}, user_id TEXT, team_id TEXT, permissions ${JSON_COLUMN}, metadata ${JSON_COLUMN}, blocked BOOLEAN,
  ${LIMITS}, allowed_routes TEXT[] DEFAULT '{}', model_spend ${JSON_COLUMN}, model_max_budget ${JSON_COLUMN},
  budget_id TEXT, organization_id TEXT, ${TIMES});
CREATE TABLE "LiteLLM_ProxyModelTable" (model_id TEXT PRIMARY KEY, model_name TEXT NOT NULL,
  litellm_params JSONB NOT NULL, model_info JSONB, ${TIMES});
CREATE TABLE "LiteLLM_EndUserTable" (user_id TEXT PRIMARY KEY, alias TEXT, spend DOUBLE PRECISION DEFAULT 0,
  budget_id TEXT, blocked BOOLEAN NOT NULL DEFAULT false);
CREATE TABLE "LiteLLM_DailyUserSpend" (id TEXT PRIMARY KEY, user_id TEXT, date TEXT NOT NULL, api_key TEXT NOT NULL,
  model TEXT, model_group TEXT, custom_llm_provider TEXT, prompt_tokens BIGINT NOT NULL DEFAULT 0,
  completion_tokens BIGINT NOT NULL DEFAULT 0, cache_read_input_tokens BIGINT NOT NULL DEFAULT 0,
  cache_creation_input_tokens BIGINT NOT NULL DEFAULT 0, spend DOUBLE PRECISION NOT NULL DEFAULT 0,
  updated_at TIMESTAMP(3) NOT NULL DEFAULT now());
CREATE TABLE "LiteLLM_SpendLogs" (request_id TEXT PRIMARY KEY, call_type TEXT NOT NULL, api_key TEXT NOT NULL DEFAULT '',
  spend DOUBLE PRECISION NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0, "startTime" TIMESTAMP(3) NOT NULL, "endTime" TIMESTAMP(3) NOT NULL,
  model TEXT NOT NULL DEFAULT '', model_group TEXT DEFAULT '');
`

/** Empty, in a database of its own. */
export async function freshLiteLlm(): Promise<LiteLlm> {
  const database = await freshDatabase()
  const client = new Client(database.url)
  client.on('error', () => {})
  await client.connect()
  for (const sql of migrations()) await client.query(sql)
  return {
    url: database.url,
    run: async (sql, values = []) => {
      await client.query(sql, [...values])
    },
    drop: async () => {
      await client.end()
      await database.drop()
    },
  }
}

function migrations(): readonly string[] {
  const folder = process.env['LITELLM_MIGRATIONS']
  if (folder === undefined || folder === '') return [SCHEMA]
  return globSync(join(folder, '*', 'migration.sql'))
    .toSorted()
    .map((path) => readFileSync(path, 'utf8'))
}

/** A row of some table. Lists are arrays there, other objects JSON. */
export async function insert(
  { run }: LiteLlm,
  table: string,
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = Object.keys(row).map((name) => `"${name}"`)
  const places = names.map((_, index) => `$${index + 1}`)
  await run(
    `INSERT INTO "LiteLLM_${table}" (${names.join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(row),
  )
}

/** A key with its secret, such as `sk-app-1`. */
export function keyRow(secret: string, more: Readonly<Record<string, unknown>> = {}) {
  const name = `sk-...${secret.slice(-4)}`
  return { token: hashSecret(secret), key_name: name, models: [], ...more }
}
