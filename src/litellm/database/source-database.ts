// A connection to LiteLLM's database that cannot write: one snapshot for everything that is read, in pieces, so that the
// number of keys does not matter. And its schema: which tables and columns must be there, which newer versions have, and
// what is unknown, so that nothing is dropped silently.
import { Client, DatabaseError } from 'pg'
import { codeOf, messageOf } from '../../core/errors.ts'
import { describeDatabaseUrl, isDatabaseUrl, sqlitePath } from '../../store/database/url.ts'
import { ImportError } from '../source.ts'

/** How many rows are in memory at once. */
const ROWS_MAX = 1_000

/** Parameters of LiteLLM's own driver, which this one would send to the server. */
const FOREIGN_PARAMETERS = [
  ...['schema', 'connection_limit', 'pool_timeout', 'pgbouncer', 'socket_timeout'],
  ...['connect_timeout', 'statement_cache_size'],
]

export class SourceDatabase implements AsyncDisposable {
  readonly #client: Client
  #cursors = 0

  private constructor(client: Client) {
    this.#client = client
  }

  /** Throws an ImportError if it cannot be reached. */
  static async open(url: string): Promise<SourceDatabase> {
    if (!isDatabaseUrl(url) || sqlitePath(url) !== undefined) {
      throw new ImportError(['--database must look like postgresql://USER@HOST:PORT/NAME'])
    }
    const address = new URL(url)
    const schema = address.searchParams.get('schema')
    for (const name of FOREIGN_PARAMETERS) address.searchParams.delete(name)
    const client = new Client({
      connectionString: address.href,
      application_name: 'tollgate import',
      connectionTimeoutMillis: 10_000,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      // Whatever goes wrong here, nothing can be changed there.
      await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      if (schema !== null)
        await client.query(`SELECT set_config('search_path', $1, true)`, [schema])
    } catch (error) {
      await client.end().catch(() => {})
      throw new ImportError([`${describeDatabaseUrl(url)} cannot be read: ${whyNot(error)}`])
    }
    return new SourceDatabase(client)
  }

  /** For few rows. */
  async all<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#query<Row>(sql, values)
    return rows
  }

  /** For any number of rows. */
  async *each<Row extends object>(sql: string): AsyncGenerator<Row> {
    const cursor = `rows_${++this.#cursors}`
    await this.#query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`)
    for (;;) {
      const { rows } = await this.#query<Row>(`FETCH ${ROWS_MAX} FROM ${cursor}`)
      yield* rows
      if (rows.length < ROWS_MAX) break
    }
    await this.#query(`CLOSE ${cursor}`)
  }

  async #query<Row extends object>(sql: string, values: readonly unknown[] = []) {
    try {
      return await this.#client.query<Row>(sql, [...values])
    } catch (error) {
      throw new ImportError([`LiteLLM’s database cannot be read: ${whyNot(error)}`])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

/** In the server's words, or by the code of the connection's failure. */
function whyNot(error: unknown): string {
  return error instanceof DatabaseError ? error.message : (codeOf(error) ?? messageOf(error))
}

// The tables that are read, and their columns. Whatever else is there is named, so that nothing is dropped silently.

type Table = {
  /** Without these it is not LiteLLM's table, or one that is too old. */
  readonly required: string
  /** Read, or known to say nothing about keys, where a version has them. */
  readonly known: string
}

const BUDGETS = 'max_budget budget_duration budget_reset_at'
const LIMITS = 'max_parallel_requests tpm_limit rpm_limit'
const TIMES = 'created_at created_by updated_at updated_by'

const TABLES = {
  LiteLLM_VerificationToken: {
    required: `token key_alias spend expires models user_id team_id metadata ${BUDGETS} ${LIMITS}`,
    known: `key_name soft_budget_cooldown aliases config router_settings agent_id project_id permissions blocked
      allowed_cache_controls allowed_routes key_type policies access_group_ids model_spend model_max_budget
      budget_fallbacks budget_id organization_id object_permission_id ${TIMES} last_active rotation_count auto_rotate
      rotation_interval last_rotation_at key_rotation_at budget_limits settings_updated_at total_spend tpd_limit`,
  },
  LiteLLM_TeamTable: {
    required: `team_id team_alias organization_id spend models metadata blocked ${BUDGETS} ${LIMITS}`,
    known: `admins members members_with_roles soft_budget object_permission_id ${TIMES} model_spend model_max_budget
      router_settings team_member_permissions access_group_ids policies default_team_member_models budget_limits model_id
      allow_team_guardrail_config tpd_limit`,
  },
  LiteLLM_UserTable: {
    required: `user_id user_email user_role teams spend ${BUDGETS}`,
    known: `user_alias team_id sso_user_id organization_id object_permission_id password models metadata ${LIMITS}
      allowed_cache_controls policies model_spend model_max_budget ${TIMES} last_breach_check_at
      password_reset_required`,
  },
  LiteLLM_OrganizationTable: {
    required: 'organization_id organization_alias budget_id',
    known: `metadata models spend model_spend object_permission_id ${TIMES}`,
  },
  LiteLLM_BudgetTable: {
    required: `budget_id soft_budget max_budget budget_duration ${LIMITS}`,
    known: `model_max_budget budget_reset_at allowed_models ${TIMES} tpd_limit temp_budget_increase temp_budget_expiry`,
  },
  LiteLLM_ProxyModelTable: {
    required: 'model_id model_name litellm_params',
    known: `model_info blocked ${TIMES}`,
  },
} as const satisfies Record<string, Table>

export type TableName = keyof typeof TABLES

export type Schema = {
  /** All tables with their columns, also those that are not read. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  /** What a newer version has that is not known here. */
  readonly notes: readonly string[]
}

/** Throws an ImportError that names every missing table and column. */
export async function readSchema(database: SourceDatabase): Promise<Schema> {
  const found = new Map<string, Set<string>>()
  const rows = await database.all<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()`,
  )
  for (const { table_name: table, column_name: column } of rows) {
    found.set(table, (found.get(table) ?? new Set()).add(column))
  }
  const problems: string[] = []
  const notes: string[] = []
  for (const [table, { required, known }] of Object.entries(TABLES)) {
    const columns = found.get(table)
    if (columns === undefined) {
      problems.push(
        `there is no table ${table}: is this LiteLLM’s database, and its schema the right one?`,
      )
      continue
    }
    const needed = words(required)
    const missing = needed.filter((column) => !columns.has(column))
    if (missing.length > 0) {
      problems.push(`${table} has no ${missing.join(', ')}: this version of LiteLLM is not known`)
    }
    const unknown = [...columns].filter((column) => ![...needed, ...words(known)].includes(column))
    for (const column of unknown.toSorted()) {
      notes.push(`${table}.${column} is newer than this import: what it says is not taken over`)
    }
  }
  if (problems.length > 0) throw new ImportError(problems)
  return { tables: found, notes }
}

function words(text: string): readonly string[] {
  return text.split(/\s+/)
}
