// Groups of keys: a team, a department, a customer, with a budget of its own between its keys and the frame. Reads them,
// one by id or name or all of them, and their JSON form. lifecycle.ts creates and changes them.
import { sql } from 'kysely'
import { GROUP_ID_SHAPE } from '../../core/limits.ts'
import { NANO_PER_USD, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import {
  budgetJson,
  budgetText,
  isExhausted,
  viewAccount,
  type AccountView,
} from '../accounts/accounts.ts'
import type { AccountSettings } from '../accounts/settings.ts'
import { StoreError } from '../database/errors.ts'
import { isGroupReached } from '../database/scope.ts'
import type { Store } from '../database/store.ts'
import type { Row } from '../database/tables.ts'
import { keyRulesJson, readKeyRules, type KeyRules } from './key-rules.ts'

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
