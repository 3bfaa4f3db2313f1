// Reads the plan of an import from LiteLLM's database: everything is looked at once to find what is wrong or different,
// and then keys can be read again, in the same snapshot, one after the other.
import { ENDPOINTS, type Endpoint } from '../../core/endpoints.ts'
import { isObject, listOf, stringOf } from '../../core/json.ts'
import { MODEL_BUDGETS_MAX, TEXT_LENGTH_MAX } from '../../core/limits.ts'
import { periodAt } from '../../core/periods.ts'
import { label } from '../../core/text.ts'
import { checkSettings } from '../../store/accounts/settings.ts'
import { StoreError } from '../../store/database/errors.ts'
import { ImportError } from '../source.ts'
import { leastLength } from '../units.ts'
import { Problems, Tally, type PlannedGroup, type PlannedKey, type PlannedPerson } from './plan.ts'
import {
  ALL_ROUTES,
  Allowlists,
  EXTRAS,
  isClosed,
  KEY_COLUMNS,
  limitsOf,
  MEANT,
  modelBudgetsOf,
  NO_DAILY_TOKENS,
  OTHER_TABLES,
  readUsage,
  ROLES,
  ROUTES,
  SHARED_COLUMNS,
  type KeyRow,
  type KnownModels,
  type LimitColumns,
  type ModelUsage,
  type Row,
  type TeamRow,
  type UserRow,
  withShared,
} from './rows.ts'
import { readSchema, type Schema, type SourceDatabase, type TableName } from './source-database.ts'

export type ImportPlan = {
  readonly groups: readonly PlannedGroup[]
  readonly counts: { readonly keys: number; readonly groups: number; readonly people: number }
  /** What means something else here, or is not taken over, with how many rows it is about. */
  readonly notes: readonly { readonly note: string; readonly count: number }[]
  /** In the order of their hashes. May be read again and again. */
  readonly keys: () => AsyncGenerator<PlannedKey>
  readonly people: () => AsyncGenerator<PlannedPerson>
  /** Of the last 30 days, by public model. */
  readonly usage: readonly ModelUsage[]
}

/** Throws an ImportError with everything that keeps it from being imported. */
export async function readPlan(
  database: SourceDatabase,
  options: { readonly known: KnownModels; readonly now: number },
): Promise<ImportPlan> {
  const schema = await readSchema(database)
  const reader = new PlanReader({ database, schema, ...options })
  return reader.read()
}

type Reading = {
  readonly database: SourceDatabase
  readonly schema: Schema
  readonly known: KnownModels
  readonly now: number
}

/** LiteLLM's own interface calls with keys of this team. */
const DASHBOARD = 'litellm-dashboard'

const MONTH = { period: 'month', timezone: 'UTC', weekStart: 'mon' } as const

class PlanReader {
  readonly #with: Reading
  readonly #problems = new Problems()
  readonly #tally = new Tally()
  readonly #teams = new Map<string, PlannedGroup>()

  constructor(reading: Reading) {
    this.#with = reading
  }

  async read(): Promise<ImportPlan> {
    await this.#findTwins()
    for (const row of await this.#with.database.all<TeamRow>(this.#teamsSql())) {
      const group = this.#groupOf(row)
      this.#teams.set(group.teamId, group)
    }
    const keys = await counted(this.#keys())
    const people = await counted(this.#people())
    await this.#nameOthers()
    const problems = this.#problems.list()
    if (problems.length > 0) throw new ImportError(problems)
    const notes = [
      ...this.#with.schema.notes.map((note) => ({ note, count: 1 })),
      ...this.#tally.list(),
    ]
    return {
      groups: [...this.#teams.values()],
      counts: { keys, groups: this.#teams.size, people },
      notes,
      keys: () => this.#keys(),
      people: () => this.#people(),
      usage: await readUsage(this.#with.database, this.#with.schema),
    }
  }

  /** Names and hashes that are there twice. The database itself compares them, so that none need be kept here. */
  async #findTwins(): Promise<void> {
    const { database } = this.#with
    const twins = async (sql: string, told: (name: string, count: string) => string) => {
      for (const { name, count } of await database.all<{ name: string; count: string }>(sql)) {
        this.#problems.add(told(name, count))
      }
    }
    await twins(
      `SELECT lower(token) AS name, count(*) FROM "LiteLLM_VerificationToken" GROUP BY 1 HAVING count(*) > 1`,
      (name, count) =>
        `LiteLLM_VerificationToken: ${count} rows have the token ${name.slice(0, 8)}…`,
    )
    await twins(
      `SELECT btrim(key_alias) AS name, count(*) FROM "LiteLLM_VerificationToken"
       WHERE btrim(key_alias) <> '' AND ${this.#isCurrent()} GROUP BY 1, team_id HAVING count(*) > 1`,
      (name, count) =>
        `LiteLLM_VerificationToken: ${count} keys of one team have the key_alias ${JSON.stringify(name)}: rename all but one`,
    )
    await twins(
      `SELECT btrim(coalesce(team_alias, team_id)) AS name, count(*) FROM "LiteLLM_TeamTable"
       GROUP BY 1 HAVING count(*) > 1`,
      (name, count) =>
        `LiteLLM_TeamTable: ${count} teams have the team_alias ${JSON.stringify(name)}: rename all but one`,
    )
  }

  #isCurrent(): string {
    return `(expires IS NULL OR expires > to_timestamp(${this.#with.now / 1000}) AT TIME ZONE 'UTC')`
  }

  #has(table: TableName, column: string): boolean {
    return this.#with.schema.tables.get(table)?.has(column) === true
  }

  /** A column, or nothing where this version has none. */
  #column(table: TableName, alias: string, column: string): string {
    return this.#has(table, column) ? `${alias}."${column}"` : `NULL AS "${column}"`
  }

  #teamsSql(): string {
    const optional = [
      'soft_budget',
      'members_with_roles',
      'model_max_budget',
      'model_id',
      'tpd_limit',
    ]
    const columns = optional.map((name) => this.#column('LiteLLM_TeamTable', 't', name))
    return `SELECT t.team_id, t.team_alias, t.organization_id, t.spend, t.models, t.blocked, t.max_budget,
      t.budget_duration, t.max_parallel_requests, t.tpm_limit, t.rpm_limit, ${columns.join(', ')}
      FROM "LiteLLM_TeamTable" t WHERE t.team_id <> '${DASHBOARD}' ORDER BY t.team_id`
  }

  #groupOf(row: TeamRow): PlannedGroup {
    const name = label(row.team_alias ?? row.team_id)
    const at = this.#row('LiteLLM_TeamTable', `team_alias ${JSON.stringify(name)}`)
    const limits = limitsOf(at, row)
    const isArchived = row.blocked === true || isClosed(row)
    if (row.organization_id !== null)
      this.#tally.note(
        'a team of an organization is a group: the organization itself is not taken over',
      )
    if (hasMembers(row.model_max_budget))
      this.#tally.note('budgets per model of a team are not taken over')
    if (row.tpd_limit !== null) this.#tally.note(NO_DAILY_TOKENS)
    if (limits.alertAt !== null)
      this.#tally.note('the soft budget of a team is not taken over: alerts belong to keys')
    if (row.model_id !== null)
      this.#tally.note('names of models that only one team has are not taken over')
    this.#check(at, { name, limitNanodollars: limits.limitNanodollars })
    return {
      ...limits,
      teamId: row.team_id,
      name,
      models: new Allowlists(this.#with.known, this.#tally).ofTeam(row.models ?? []),
      isArchived,
      members: listOf(row.members_with_roles).flatMap((member) => {
        const userId = isObject(member) ? stringOf(member['user_id']) : undefined
        const isAdmin = isObject(member) && member['role'] === 'admin'
        return userId === undefined ? [] : [{ userId, isAdmin }]
      }),
    }
  }

  async *#keys(): AsyncGenerator<PlannedKey> {
    const lists = new Allowlists(this.#with.known, this.#tally)
    for await (const row of this.#with.database.each<KeyRow>(this.#keysSql())) {
      const key = this.#keyOf(row, lists)
      if (key !== undefined) yield key
    }
  }

  #keysSql(): string {
    const own = KEY_COLUMNS.map((name) => this.#column('LiteLLM_VerificationToken', 'k', name))
    const month = this.#monthSpend()
    const hasBudgets = this.#has('LiteLLM_VerificationToken', 'budget_id')
    const shared = SHARED_COLUMNS.map((name) => {
      const isThere = hasBudgets && this.#has('LiteLLM_BudgetTable', name)
      return `${isThere ? `b."${name}"` : 'NULL'} AS "shared_${name}"`
    })
    return `SELECT k.token, k.key_alias, k.spend, (extract(epoch FROM k.expires) * 1000)::float8 AS expires, k.models,
      k.user_id, k.team_id, k.metadata, k.max_budget, k.budget_duration, k.max_parallel_requests, k.tpm_limit,
      k.rpm_limit, (extract(epoch FROM k.budget_reset_at) * 1000)::float8 AS resets_at,
      ${[...own, ...shared, `${month === '' ? 'NULL' : 'm.spend'} AS month_spend`].join(', ')} FROM "LiteLLM_VerificationToken" k
      ${hasBudgets ? 'LEFT JOIN "LiteLLM_BudgetTable" b ON b.budget_id = k.budget_id' : ''} ${month} ORDER BY k.token`
  }

  /** What a key has spent since this month began, where LiteLLM adds up days. */
  #monthSpend(): string {
    if (!this.#with.schema.tables.has('LiteLLM_DailyUserSpend')) return ''
    const month = new Date(this.#with.now).toISOString().slice(0, 7)
    return `LEFT JOIN (SELECT api_key, sum(spend) AS spend FROM "LiteLLM_DailyUserSpend"
      WHERE date >= '${month}-01' GROUP BY api_key) m ON m.api_key = k.token`
  }

  /** Of the period that runs there. A key without a budget has none: here it counts by the month. */
  #spendOf({ spend, month_spend, resets_at }: KeyRow, { max_budget }: LimitColumns): number {
    if (spend !== null && !Number.isFinite(spend)) return spend
    if (max_budget === null) {
      if (spend !== null && spend > 0)
        this.#tally.note('a key without a budget has spent what it spent this month')
      return month_spend ?? 0
    }
    if (resets_at === null || resets_at > this.#with.now) return spend ?? 0
    this.#tally.note('a period that is over there: what was spent in it is not taken over')
    return 0
  }

  /** When the period of its spend began there. */
  #sinceOf({ resets_at }: KeyRow, { max_budget, budget_duration }: LimitColumns): number {
    const { now } = this.#with
    if (max_budget === null) return periodAt(MONTH, now).startsAt
    if (resets_at === null || resets_at <= now) return resets_at ?? 0
    return resets_at - leastLength(budget_duration)
  }

  #keyOf(row: KeyRow, lists: Allowlists): PlannedKey | undefined {
    const alias = label(row.key_alias ?? '')
    const hash = row.token.toLowerCase()
    if (row.team_id === DASHBOARD) return this.#skip('a session of LiteLLM’s interface')
    if (row.expires !== null && row.expires <= this.#with.now) return this.#skip('an expired key')
    const shown = alias === '' ? `token ${hash.slice(0, 8)}…` : `key_alias ${JSON.stringify(alias)}`
    const at = this.#row('LiteLLM_VerificationToken', shown)
    if (!/^[0-9a-f]{64}$/.test(hash)) {
      // Never shown: it may be the secret itself.
      const what = alias === '' ? 'a key without an alias' : shown
      this.#problems.add(`LiteLLM_VerificationToken, ${what}: its token is no SHA-256 hash`)
      return undefined
    }
    const team = row.team_id === null ? undefined : this.#teams.get(row.team_id)
    if (row.team_id !== null && team === undefined) {
      this.#problems.add(`${at.place}: its team ${row.team_id} is not in LiteLLM_TeamTable`)
    }
    const limits = withShared(row)
    const columns = { ...limits, spend: this.#spendOf(row, limits) }
    const models = lists.ofKey(row.models ?? [], team?.models ?? null)
    const key: PlannedKey = {
      ...limitsOf(at, columns),
      hash,
      end: row.key_name?.slice(-4) ?? '',
      name: alias === '' ? `key-${hash.slice(0, 12)}` : alias,
      teamId: team?.teamId ?? null,
      ownerId: row.user_id,
      spentSince: this.#sinceOf(row, limits),
      models,
      permissions: this.#permissionsOf(row),
      modelBudgets: this.#capsOf(at, row, models),
      expiresAt: row.expires === null ? null : Math.ceil(row.expires),
      isPaused: row.blocked === true || isClosed(columns),
      ...this.#metadataOf(row),
    }
    this.#noteExtras(row)
    const { name, limitNanodollars, rpm, tpm, concurrency, tags, description } = key
    const { ownerId: owner } = key
    this.#check(at, {
      name,
      models,
      limitNanodollars,
      rpm,
      tpm,
      concurrency,
      tags,
      description,
      owner,
    })
    return key
  }

  /** Of models that the key may call. */
  #capsOf(at: Row, { model_max_budget }: KeyRow, models: readonly string[]) {
    const caps = modelBudgetsOf(at, model_max_budget).flatMap((cap) => {
      const plain = cap.model.slice(cap.model.indexOf('/') + 1)
      const model = models.includes(cap.model) ? cap.model : plain
      if (models.includes(model)) return [{ ...cap, model }]
      this.#tally.note('a budget for a model that the key may not call is not taken over')
      return []
    })
    if (caps.length > MODEL_BUDGETS_MAX) {
      const problem = `model_max_budget has ${caps.length} models, and ${MODEL_BUDGETS_MAX} are allowed`
      at.problems.add(`${at.place}: ${problem}`)
    }
    return caps
  }

  #skip(what: string): undefined {
    this.#tally.note(`${what} is not taken over`)
  }

  #row(table: TableName, name: string): Row {
    return { place: `${table}, ${name}`, problems: this.#problems, tally: this.#tally }
  }

  /** The rules for what may be written here. */
  #check({ place }: Row, settings: Parameters<typeof checkSettings>[0]): void {
    try {
      checkSettings(settings)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.#problems.add(`${place}: ${error.message}`)
    }
  }

  #permissionsOf({ allowed_routes }: KeyRow): readonly Endpoint[] {
    const routes = allowed_routes ?? []
    if (routes.length === 0 || routes.some((route) => ALL_ROUTES.includes(route))) return ENDPOINTS
    for (const route of routes.filter((each) => ROUTES[bare(each)] === undefined)) {
      this.#tally.note(`the route ${route} of a key has no counterpart`)
    }
    const named = new Set(routes.map((route) => ROUTES[bare(route)]))
    return ENDPOINTS.filter((endpoint) => named.has(endpoint))
  }

  /** Tags are tags here; plain values, which mean nothing to LiteLLM, are kept in words. */
  #metadataOf({ metadata }: KeyRow): Pick<PlannedKey, 'tags' | 'description'> {
    const given = isObject(metadata) ? metadata : {}
    const lines: string[] = []
    for (const [name, value] of Object.entries(given)) {
      if (name === 'tags' || value === null || isEmpty(value)) continue
      if (typeof value === 'object' || MEANT.has(name)) {
        this.#tally.note(`metadata.${name.slice(0, 60)} of keys is not taken over`)
      } else lines.push(`${name}: ${String(value)}`)
    }
    return {
      tags: listOf(given['tags']).flatMap((tag) => stringOf(tag) ?? []),
      description: lines.length === 0 ? null : lines.join('\n').slice(0, TEXT_LENGTH_MAX),
    }
  }

  #noteExtras(row: KeyRow): void {
    for (const [column, what] of Object.entries(EXTRAS)) {
      const value = row[column as keyof typeof EXTRAS]
      if (value !== null && value !== false && !isEmpty(value)) this.#tally.note(what)
    }
  }

  async *#people(): AsyncGenerator<PlannedPerson> {
    const { database } = this.#with
    const alias = this.#column('LiteLLM_UserTable', 'u', 'user_alias')
    const rows = database.each<UserRow>(
      `SELECT u.user_id, u.user_email, u.user_role, u.max_budget, ${alias} FROM "LiteLLM_UserTable" u ORDER BY u.user_id`,
    )
    for await (const { user_id: userId, user_email, user_role, max_budget, user_alias } of rows) {
      if (max_budget !== null)
        this.#tally.note('a budget of a person is not taken over: keys and groups have budgets')
      const email = user_email?.trim() ?? ''
      if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
        this.#tally.note('a user without an address is not taken over: people sign in with one')
        continue
      }
      yield { userId, email, name: user_alias, role: ROLES[user_role ?? ''] ?? null }
    }
  }

  /** What is in other tables, and in rows that cannot be read. */
  async #nameOthers(): Promise<void> {
    const { database, schema } = this.#with
    const models = await database.all<{ model_name: string; count: string }>(
      `SELECT model_name, count(*) FROM "LiteLLM_ProxyModelTable" GROUP BY 1 ORDER BY 1 LIMIT 1000`,
    )
    for (const { model_name, count } of models) {
      this.#tally.note(
        `the model ${model_name} is in LiteLLM’s database, encrypted with its salt: add it to its configuration`,
        Number(count),
      )
    }
    const organizations = await database.all<{ organization_alias: string }>(
      `SELECT o.organization_alias FROM "LiteLLM_OrganizationTable" o
       JOIN "LiteLLM_BudgetTable" b ON b.budget_id = o.budget_id WHERE b.max_budget IS NOT NULL LIMIT 1000`,
    )
    for (const { organization_alias } of organizations) {
      this.#tally.note(`the budget of the organization ${organization_alias} is not taken over`)
    }
    for (const [table, what] of Object.entries(OTHER_TABLES)) {
      if (!schema.tables.has(table)) continue
      const [row] = await database.all<{ count: string }>(`SELECT count(*) FROM "${table}"`)
      this.#tally.note(`${what} are not taken over (${table})`, Number(row?.count ?? 0))
    }
  }
}

function bare(route: string): string {
  return route.replace(/^\/v1/, '')
}

function hasMembers(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value) || typeof value === 'string') return value.length === 0
  return value === undefined || (isObject(value) && Object.keys(value).length === 0)
}

async function counted(items: AsyncGenerator<unknown>): Promise<number> {
  let count = 0
  for await (const _ of items) count++
  return count
}
