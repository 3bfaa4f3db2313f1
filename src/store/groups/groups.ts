// Groups of keys: a team, a department, a customer, with a budget of its own between its keys and the frame. Reads them,
// one by id or name or all of them, and their JSON form. lifecycle.ts creates and changes them. And what
// the members of a group may choose for keys of their own.
import { sql } from 'kysely'
import { GROUP_ID_SHAPE, RATE_MAX } from '../../core/limits.ts'
import {
  BUDGET_MAX,
  formatUsd,
  NANO_PER_USD,
  parseBudget,
  type Nanodollars,
} from '../../core/money.ts'
import { PERIODS } from '../../core/periods.ts'
import { sentence } from '../../core/sentences.ts'
import { label } from '../../core/text.ts'
import { iso, usd } from '../../core/units.ts'
import {
  budgetJson,
  budgetText,
  isExhausted,
  type AccountView,
  viewAccount,
} from '../accounts/accounts.ts'
import type { BudgetAmount } from '../accounts/budget-changes.ts'
import type { AccountSettings } from '../accounts/settings.ts'
import { checkBy, invalid, list, oneOf, optionalCount, type Checks } from '../accounts/settings.ts'
import { StoreError } from '../database/errors.ts'
import { isGroupReached } from '../database/store.ts'
import type { Store } from '../database/store.ts'
import type { Row } from '../database/tables.ts'

/** What members may choose for keys of their own. Those who manage the group are not bound by it. */
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

export type GroupSettings = AccountSettings & {
  readonly name: string
  readonly description: string | null
  /** What its keys may call at most; null = whatever their own allowlists say. */
  readonly models: readonly string[] | null
  readonly keyRules: KeyRules
}

type GroupStatus = 'active' | 'archived'

export type Group = AccountView &
  Pick<GroupSettings, 'name' | 'description' | 'models' | 'keyRules'> & {
    readonly id: string
    readonly status: GroupStatus
    readonly createdAt: number
    /** Counts all changes of the group: a caller that changes it may name the version it has seen. */
    readonly version: number
  }

/** What a group has in it. */
export type GroupTotals = {
  /** Keys that are not revoked. */
  readonly keys: number
  readonly members: number
  /** The sum of its keys' budgets; it may exceed the group's own. */
  readonly allocatedNanodollars: Nanodollars
}

/** By id or name, archived ones too. Throws unknown_group. */
export async function findGroup(store: Store, idOrName: string): Promise<Group> {
  const row = await groupQuery(store)
    .where(
      GROUP_ID_SHAPE.test(idOrName) ? 'groups.id' : 'groups.name',
      '=',
      idOrName.normalize('NFC'),
    )
    .executeTakeFirst()
  if (row !== undefined) return readGroup(store, row)
  throw new StoreError('unknown_group', sentence('no_group_named', { group: idOrName }))
}

/** By name. */
export async function listGroups(store: Store): Promise<readonly Group[]> {
  const rows = await groupQuery(store).orderBy('groups.name').execute()
  return rows.map((row) => readGroup(store, row))
}

/** Which of these have nothing left to spend. Those who see a key may know why its calls are refused. */
export async function exhaustedGroups(
  store: Store,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await store.db.selectFrom('accounts').selectAll().where('id', 'in', ids).execute()
  const exhausted = rows.filter((row) => isExhausted(viewAccount(store, row)))
  return new Set(exhausted.map(({ id }) => id))
}

/** The names of all groups within reach, by their ids. */
export async function groupNames({ db, scope }: Store): Promise<ReadonlyMap<string, string>> {
  const query = db.selectFrom('groups').select(['id', 'name'])
  const reached = isGroupReached(scope, sql.ref('groups.id'))
  const rows = await (reached === undefined ? query : query.where(reached)).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Of all groups, or of one. Groups without keys and members are left out. */
export async function groupTotals(
  store: Store,
  groupId?: string,
): Promise<ReadonlyMap<string, GroupTotals>> {
  const reached = isGroupReached(store.scope, sql.ref('group_id'))
  const only = sql.join(
    [
      ...(groupId === undefined ? [] : [sql`AND group_id = ${groupId}`]),
      ...(reached === undefined ? [] : [sql`AND ${reached}`]),
    ],
    sql` `,
  )
  const { rows: keys } = await sql<KeySums>`
    SELECT group_id, count(*) AS keys,
      sum(limit_nanodollars / ${NANO_PER_USD}) AS whole_nanodollars,
      sum(limit_nanodollars % ${NANO_PER_USD}) AS rest_nanodollars
    FROM accounts WHERE group_id IS NOT NULL AND status <> 'revoked' ${only}
    GROUP BY group_id`.execute(store.db)
  const { rows: members } = await sql<{ readonly group_id: string; readonly members: number }>`
    SELECT group_id, count(*) AS members FROM group_members WHERE 1 = 1 ${only}
    GROUP BY group_id`.execute(store.db)
  const totals = new Map(keys.map((row) => [row.group_id, { ...NO_TOTALS, ...sumsOf(row) }]))
  for (const { group_id: id, members: count } of members) {
    totals.set(id, { ...(totals.get(id) ?? NO_TOTALS), members: count })
  }
  return totals
}

const NO_TOTALS: GroupTotals = { keys: 0, members: 0, allocatedNanodollars: 0n }

type KeySums = {
  readonly group_id: string
  readonly keys: number
  readonly whole_nanodollars: bigint | null
  readonly rest_nanodollars: bigint | null
}

/** Whole dollars and the rest are added separately, as in keys/counts.ts. */
function sumsOf({ keys, whole_nanodollars: whole, rest_nanodollars: rest }: KeySums) {
  return { keys, allocatedNanodollars: (whole ?? 0n) * NANO_PER_USD + (rest ?? 0n) }
}

/** The names of its keys whose allowlists the ceiling leaves nothing of; at most `most`. */
export async function keysWithoutModels(
  store: Store,
  { id, models }: Group,
  most: number,
): Promise<readonly string[]> {
  if (models === null) return []
  let query = store.db
    .selectFrom('keys')
    .select('name')
    .where('group_id', '=', id)
    .where('revoked_at', 'is', null)
    .where('model_count', '>', 0)
  if (models.length > 0) {
    query = query.where((at) =>
      at.not(
        at.exists(
          at
            .selectFrom('key_models')
            .select('model')
            .whereRef('key_id', '=', 'keys.id')
            .where('model', 'in', models),
        ),
      ),
    )
  }
  const rows = await query.orderBy('name').limit(most).execute()
  return rows.map(({ name }) => name)
}

function groupQuery(store: Store) {
  const query = store.db
    .selectFrom('groups')
    .innerJoin('accounts', 'accounts.id', 'groups.id')
    .selectAll('accounts')
    .selectAll('groups')
  const reached = isGroupReached(store.scope, sql.ref('groups.id'))
  return reached === undefined ? query : query.where(reached)
}

function readGroup(store: Store, row: Row<'groups'> & Row<'accounts'>): Group {
  return {
    ...viewAccount(store, row),
    id: row.id,
    name: row.name,
    description: row.description,
    status: groupStatus(row.status),
    models: readCeiling(row.models),
    keyRules: readKeyRules(row.key_rules),
    createdAt: row.created_at,
    version: row.version,
  }
}

export function groupStatus(status: Row<'accounts'>['status']): GroupStatus {
  return status === 'active' ? 'active' : 'archived'
}

export function readCeiling(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as readonly string[])
}

/** For the command line and the admin API. */
export function groupJson(group: Group, totals: GroupTotals = NO_TOTALS) {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    status: group.status,
    budget: usd(group.limitNanodollars),
    period: group.period,
    timezone: group.timezone,
    week_start: group.weekStart,
    window: group.window && budgetJson(group.window),
    request_cost_max: usd(group.requestCostMaxNanodollars),
    rpm: group.rpm,
    tpm: group.tpm,
    concurrency: group.concurrency,
    models: group.models,
    key_rules: keyRulesJson(group.keyRules),
    spent: usd(group.spentNanodollars),
    held: usd(group.heldNanodollars),
    remaining: usd(group.remainingNanodollars),
    resets_at: iso(group.resetsAt),
    allocated: usd(totals.allocatedNanodollars),
    keys: totals.keys,
    members: totals.members,
    created_at: iso(group.createdAt),
  }
}

/** The settings, as the audit record keeps them. */
export function groupSettingsJson(group: Group): Readonly<Record<string, unknown>> {
  const json = groupJson(group)
  return {
    ...Object.fromEntries(RECORDED.map((field) => [field, json[field]])),
    window: group.window && budgetText(group.window),
    // Each rule is a field of its own, so that the record shows the one that changed.
    ...Object.fromEntries(
      Object.entries(json.key_rules).map(([rule, value]) => [`key_rules.${rule}`, value]),
    ),
  }
}

const RECORDED = [
  'name',
  'description',
  'status',
  'budget',
  'period',
  'timezone',
  'week_start',
  'request_cost_max',
  'rpm',
  'tpm',
  'concurrency',
  'models',
] as const

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
