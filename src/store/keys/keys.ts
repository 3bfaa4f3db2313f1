// Reads keys: one by id, name or secret, or many, and their JSON form. lifecycle.ts creates and changes them.
import { sql, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely'
import type { Endpoint } from '../../core/endpoints.ts'
import { KEY_ID_SHAPE, type KEY_STATUSES, type KeyMode } from '../../core/limits.ts'
import type { Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { chunk } from '../../core/text.ts'
import { iso, usd } from '../../core/units.ts'
import {
  budgetJson,
  budgetText,
  type AccountView,
  type ModelBudgetView,
  viewAccount,
} from '../accounts/accounts.ts'
import type { KeySettings } from '../accounts/settings.ts'
import { readReminders, readThresholds } from '../alerts/rules.ts'
import { StoreError } from '../database/errors.ts'
import { isReached } from '../database/store.ts'
import type { Store } from '../database/store.ts'
import { TAKEN_OVER, type AccountStatus, type Row } from '../database/tables.ts'
import { WITHOUT_JOURNALS } from '../sqlite/journal.ts'
import { groupStatus, readCeiling, type Group } from '../groups/groups.ts'

export type KeyStatus = (typeof KEY_STATUSES)[number]

export type Key = AccountView &
  KeySettings & {
    readonly id: string
    readonly mode: KeyMode
    readonly status: KeyStatus
    readonly createdAt: number
    readonly lastUsedAt: number | null
    readonly revokedAt: number | null
    readonly revokedReason: string | null
    /** Who paused it: its owner, as a member of the group, or somebody who manages it. Null unless it is paused. */
    readonly pausedBy: 'owner' | 'manager' | null
    /** Goes up with every change of the key; the ledger refuses a hold that was checked against an older one. */
    readonly allowVersion: number
    /** Null outside groups. */
    readonly groupId: string | null
    readonly group: KeyGroup | null
    /** The same of its group: goes up with every change of that; 0 outside groups. */
    readonly groupVersion: number
    /** Who is responsible for it, if that is one of the people here. */
    readonly ownerPerson: OwnerPerson | null
    /** Counts all changes of the key: a caller that changes it may name the version it has seen. */
    readonly version: number
    /** What it has spent in this period of the frame (frame.ts). */
    readonly framePeriodSeq: number
    readonly frameSpentNanodollars: Nanodollars
  }

/** As much of a group as its keys depend on. */
type KeyGroup = Pick<Group, 'id' | 'name' | 'status' | 'models'>

type OwnerPerson = { readonly id: string; readonly name: string; readonly email: string }

/** What a key may call: its own allowlist, as far as the ceiling of its group goes. */
export function callableModels({
  models,
  group,
}: Pick<Key, 'models' | 'group'>): readonly string[] {
  const ceiling = group?.models ?? null
  if (ceiling === null) return models
  const allowed = new Set(ceiling)
  return models.filter((model) => allowed.has(model))
}

/** As much of a key as decides what it may call. */
export type CalledKey = Pick<
  Key,
  | ('id' | 'name' | 'mode' | 'status' | 'expiresAt' | 'models' | 'permissions' | 'whenTight')
  | ('allowVersion' | 'groupId' | 'groupVersion' | 'group')
>

type KeyOfSecret = {
  readonly key: CalledKey
  /** Until when the secret it was found by is valid; null = until the next rotation. */
  readonly secretValidUntil: number | null
  /** Whether two secrets open it now. */
  readonly isRotating: boolean
}

/**
 * By id, or by the name of a key that is not revoked: GROUP/NAME, or NAME alone where no other key has it. Throws
 * unknown_key.
 */
export async function findKey(store: Store, idOrName: string): Promise<Key> {
  const name = idOrName.normalize('NFC')
  const slash = name.indexOf('/')
  const [groupName, within] = [name.slice(0, slash), name.slice(slash + 1)]
  const [row, another] = await selectKeys(store)
    .select(LAST_USED_AT)
    .where((eb) => {
      // No name looks like an id (accounts/settings.ts), and no name of a group contains a slash.
      if (KEY_ID_SHAPE.test(name)) return eb('keys.id', '=', name)
      const isNamed = eb('keys.name', '=', name)
      const isInGroup = eb.and([
        eb('keys.name', '=', within),
        groupName === OUTSIDE_GROUPS
          ? eb('keys.group_id', 'is', null)
          : eb('groups.name', '=', groupName),
      ])
      const isMeant = slash < 0 ? isNamed : eb.or([isNamed, isInGroup])
      return eb.and([eb('keys.revoked_at', 'is', null), isMeant])
    })
    .limit(2)
    .execute()
  if (row === undefined) {
    throw new StoreError('unknown_key', sentence('no_key_named', { key: idOrName }))
  }
  if (another === undefined) return readKey(store, row)
  throw new StoreError('unknown_key', sentence('key_name_ambiguous', { name }))
}

/** Stands for the group of keys that are in none; no group has this name. */
export const OUTSIDE_GROUPS = 'none'

/** Undefined for an unknown secret, or one whose overlap has ended. A revoked key is found, and its status says so. */
export async function findKeyBySecretHash(
  store: Store,
  hash: string,
): Promise<KeyOfSecret | undefined> {
  const now = store.clock.now()
  let text = secretLookups.get(store)
  if (text === undefined) {
    const compiled = selectKeyOfSecret(store).compile()
    text = { ...compiled, sql: WITHOUT_JOURNALS + compiled.sql }
    secretLookups.set(store, text)
  }
  const query = { ...text, parameters: [now, hash] }
  const [row] = (await store.db.executeQuery<SecretRow>(query)).rows
  if (row === undefined) return undefined
  const isOver = row.valid_until !== null && row.valid_until <= now
  if (isOver) return undefined
  const isRotating = (row.old_secrets ?? 0) > 0
  return { key: readCalledKey(store, row), secretValidUntil: row.valid_until, isRotating }
}

type SecretRow = CalledRow & {
  readonly valid_until: number | null
  readonly old_secrets: number | null
}

/** Put together once for each store: that takes longer than its database takes to answer. */
const secretLookups = new WeakMap<Store, CompiledQuery<SecretRow>>()

/** Its parameters are the time and the hash, in this order. */
function selectKeyOfSecret(store: Store) {
  return selectCalled(store)
    .select(['keys.id', 'keys.name', 'keys.mode', 'keys.permissions', 'keys.when_tight'])
    .select(['keys.group_id', 'accounts.status', 'accounts.expires_at', 'accounts.allow_version'])
    .innerJoin('secrets', 'secrets.key_id', 'keys.id')
    .select('secrets.valid_until')
    .select((at) =>
      at
        .selectFrom('secrets as old')
        .whereRef('old.key_id', '=', 'keys.id')
        .where('old.valid_until', '>', 0)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('old_secrets'),
    )
    .where('secrets.hash', '=', '')
}

/** Those of these keys that have been revoked. */
export async function revokedAmong(
  store: Store,
  keyIds: readonly string[],
): Promise<readonly string[]> {
  // PostgreSQL does not accept an empty list.
  if (keyIds.length === 0) return []
  const rows = await store.db
    .selectFrom('accounts')
    .select('id')
    .where('id', 'in', keyIds)
    .where('status', '=', 'revoked')
    .execute()
  return rows.map(({ id }) => id)
}

/** All of them, or those with these ids, in order of creation; revoked ones too. */
export async function listKeys(store: Store, ids?: readonly string[]): Promise<readonly Key[]> {
  const query = selectKeys(store).select(LAST_USED_AT).orderBy('keys.id')
  if (ids === undefined) return (await query.execute()).map((row) => readKey(store, row))
  const keys: Key[] = []
  for (const part of chunk(ids, 500)) {
    const rows = await query.where('keys.id', 'in', part).execute()
    keys.push(...rows.map((row) => readKey(store, row)))
  }
  return keys
}

/** The ids of keys that a manifest made. */
export async function appliedKeys({ db }: Store): Promise<readonly string[]> {
  const rows = await db.selectFrom('keys').select('id').where('applied', '=', 1).execute()
  return rows.map(({ id }) => id)
}

export async function hasKeys({ db }: Store): Promise<boolean> {
  return (await db.selectFrom('keys').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** These keys, in this order; those that do not exist are left out. For the overview, so it reads no usage. */
export async function findKeys(store: Store, ids: readonly string[]): Promise<readonly Key[]> {
  if (ids.length === 0) return []
  const rows = await selectKeys(store).where('keys.id', 'in', ids).execute()
  const keys = new Map(rows.map((row) => [row.id, readKey(store, row)]))
  return ids.flatMap((id) => keys.get(id) ?? [])
}

/** The names of these keys, by their ids; those out of reach have none. */
export async function keyNames(
  store: Store,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const part of chunk([...new Set(ids)], 500)) {
    const query = store.db.selectFrom('keys').select(['id', 'name']).where('id', 'in', part)
    const reached = isReached(store.scope, OF_KEY)
    const rows = await (reached === undefined ? query : query.where(reached)).execute()
    for (const { id, name } of rows) names.set(id, name)
  }
  return names
}

/** What reports say of a key. */
export type KeyFacts = Pick<Key, 'name' | 'owner' | 'environment' | 'tags'>

/** Of these keys, by their ids; those out of reach have none. */
export async function keyFacts(
  store: Store,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, KeyFacts>> {
  const facts = new Map<string, KeyFacts>()
  for (const part of chunk([...new Set(ids)], 500)) {
    const query = store.db
      .selectFrom('keys')
      .select(['id', 'name', 'owner', 'environment', 'tags'])
      .where('id', 'in', part)
    const reached = isReached(store.scope, OF_KEY)
    const rows = await (reached === undefined ? query : query.where(reached)).execute()
    for (const { id, tags, ...rest } of rows) {
      facts.set(id, { ...rest, tags: JSON.parse(tags) as readonly string[] })
    }
  }
  return facts
}

/** How many keys may call each model: all minus few, because an index counts all. */
export async function keysPerModel(store: Store): Promise<ReadonlyMap<string, number>> {
  const reached = isReached(store.scope, OF_KEY)
  if (reached !== undefined) return keysPerModelAmong(store, reached)
  const all = await store.db
    .selectFrom('key_models')
    .select(({ fn }) => ['model', fn.countAll<number>().as('count')])
    .groupBy('model')
    .execute()
  const revoked = await store.db
    .selectFrom('keys')
    .crossJoin('key_models')
    .select(({ fn }) => ['model', fn.countAll<number>().as('count')])
    .whereRef('key_models.key_id', '=', 'keys.id')
    .where('keys.revoked_at', 'is not', null)
    .groupBy('model')
    .execute()
  const counts = new Map(all.map(({ model, count }) => [model, count]))
  for (const { model, count } of [...revoked, ...(await aboveCeilings(store))]) {
    counts.set(model, (counts.get(model) ?? 0) - count)
  }
  return counts
}

/** The same of few keys, one by one. */
async function keysPerModelAmong(
  { db }: Store,
  reached: RawBuilder<SqlBool>,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('keys')
    .innerJoin('groups', 'groups.id', 'keys.group_id')
    .innerJoin('key_models', 'key_models.key_id', 'keys.id')
    .select(({ fn }) => ['groups.models', 'model', fn.countAll<number>().as('count')])
    .where('keys.revoked_at', 'is', null)
    .where(reached)
    .groupBy(['groups.id', 'groups.models', 'model'])
    .execute()
  const counts = new Map<string, number>()
  for (const { models, model, count } of rows) {
    if (readCeiling(models)?.includes(model) === false) continue
    counts.set(model, (counts.get(model) ?? 0) + count)
  }
  return counts
}

type ModelCount = { readonly model: string; readonly count: number }

/** How many keys have a model on their allowlists that the ceiling of their group leaves out. */
async function aboveCeilings({ db }: Store): Promise<readonly ModelCount[]> {
  const rows = await db
    .selectFrom('groups')
    .innerJoin('keys', 'keys.group_id', 'groups.id')
    .innerJoin('key_models', 'key_models.key_id', 'keys.id')
    .select(({ fn }) => ['groups.models', 'model', fn.countAll<number>().as('count')])
    .where('groups.models', 'is not', null)
    .where('keys.revoked_at', 'is', null)
    .groupBy(['groups.id', 'groups.models', 'model'])
    .execute()
  return rows.filter(({ models, model }) => !(readCeiling(models) ?? []).includes(model))
}

/** In one statement, so that the allowlist matches the version read with it, and a caller waits only once. */
function selectKeys(store: Store) {
  const query = selectCalled(store)
    .leftJoin('people', 'people.id', 'keys.owner_person_id')
    .leftJoin('alert_rules', 'alert_rules.account_id', 'keys.id')
    .selectAll('accounts')
    .selectAll('keys')
    .select([
      'alert_rules.thresholds',
      'people.name as owner_person_name',
      'people.email as owner_person_email',
    ])
  const reached = isReached(store.scope, OF_KEY)
  return reached === undefined ? query : query.where(reached)
}

/** Its models and its group; the columns of the key itself are the caller's choice. */
function selectCalled(store: Store) {
  const list =
    store.kind === 'sqlite'
      ? sql`json_group_array(model ORDER BY model)`
      : sql`json_agg(model ORDER BY model)::text`
  const models = sql<string | null>`(SELECT ${list} FROM key_models WHERE key_id = keys.id)`
  return store.db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.id')
    .leftJoin('groups', 'groups.id', 'keys.group_id')
    .leftJoin('accounts as group_accounts', 'group_accounts.id', 'keys.group_id')
    .select([
      models.as('models'),
      'groups.name as group_name',
      'groups.models as group_models',
      'group_accounts.status as group_status',
      'group_accounts.allow_version as group_version',
    ])
}

const OF_KEY = { group: sql.ref('keys.group_id'), key: sql.ref('keys.id') }

/** Uses are recorded every few seconds (secrets.ts): a key with none yet may have a request in the books. */
const LAST_USED_AT = sql<number | null>`coalesce(keys.last_used_at,
  (SELECT reserved_at FROM usage WHERE key_id = keys.id AND endpoint <> ${sql.lit(TAKEN_OVER)}
   ORDER BY request_id DESC LIMIT 1))`.as('last_used_at')

type CalledRow = Pick<
  Row<'keys'>,
  'id' | 'name' | 'mode' | 'permissions' | 'when_tight' | 'group_id'
> &
  Pick<Row<'accounts'>, 'status' | 'expires_at' | 'allow_version'> & {
    readonly models: string | null
    readonly group_name: string | null
    readonly group_models: string | null
    readonly group_status: AccountStatus | null
    readonly group_version: number | null
  }

type KeyRow = CalledRow &
  Row<'keys'> &
  Row<'accounts'> & {
    readonly thresholds: string | null
    readonly owner_person_name: string | null
    readonly owner_person_email: string | null
  }

function readKey(store: Store, row: KeyRow): Key {
  return {
    ...viewAccount(store, row),
    ...readCalledKey(store, row),
    environment: row.environment,
    owner: row.owner,
    ownerPersonId: row.owner_person_id,
    ownerPerson: ownerPersonOf(row),
    description: row.description,
    tags: JSON.parse(row.tags) as readonly string[],
    createdAt: row.created_at,
    alertThresholds: readThresholds(row.thresholds),
    expiryReminders: readReminders(row.expiry_reminders),
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    revokedReason: row.revoked_reason,
    pausedBy: row.status === 'paused' ? (row.paused_by ?? 'manager') : null,
    version: row.version,
    framePeriodSeq: row.frame_period,
    frameSpentNanodollars: row.frame_spent_nanodollars,
  }
}

function readCalledKey(store: Store, row: CalledRow): CalledKey {
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    status: statusOf(row, store.clock.now()),
    models: JSON.parse(row.models ?? '[]') as readonly string[],
    permissions: JSON.parse(row.permissions) as readonly Endpoint[],
    whenTight: row.when_tight,
    expiresAt: row.expires_at,
    allowVersion: row.allow_version,
    groupId: row.group_id,
    group: groupOf(row),
    groupVersion: row.group_version ?? 0,
  }
}

function groupOf(row: CalledRow): KeyGroup | null {
  const { group_id: id, group_name: name, group_status: status, group_models: models } = row
  if (id === null || name === null || status === null) return null
  return { id, name, status: groupStatus(status), models: readCeiling(models) }
}

/** Null after the person was removed. */
function ownerPersonOf(row: KeyRow): OwnerPerson | null {
  const { owner_person_id: id, owner_person_name: name, owner_person_email: email } = row
  return id === null || name === null || email === null ? null : { id, name, email }
}

/** Revoked is final, and expired takes precedence over paused. Only groups are archived. */
function statusOf(row: CalledRow, now: number): KeyStatus {
  if (row.status === 'revoked' || row.status === 'archived') return 'revoked'
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : row.status
}

export type KeyJson = ReturnType<typeof keyJson>

/** For the command line, the admin API, /v1/key and the audit record. */
export function keyJson(key: Key) {
  return {
    id: key.id,
    name: key.name,
    group: key.group && { id: key.group.id, name: key.group.name },
    mode: key.mode,
    environment: key.environment,
    owner: key.owner,
    owner_person: key.ownerPerson,
    description: key.description,
    tags: key.tags,
    status: key.status,
    models: key.models,
    permissions: key.permissions,
    budget: usd(key.limitNanodollars),
    period: key.period,
    timezone: key.timezone,
    week_start: key.weekStart,
    spent: usd(key.spentNanodollars),
    held: usd(key.heldNanodollars),
    remaining: usd(key.remainingNanodollars),
    resets_at: iso(key.resetsAt),
    window: key.window && budgetJson(key.window),
    model_budgets: key.modelBudgets.map(modelBudgetJson),
    request_cost_max: usd(key.requestCostMaxNanodollars),
    rpm: key.rpm,
    tpm: key.tpm,
    concurrency: key.concurrency,
    when_tight: key.whenTight,
    created_at: iso(key.createdAt),
    expires_at: iso(key.expiresAt),
    last_used_at: iso(key.lastUsedAt),
  }
}

function modelBudgetJson(budget: ModelBudgetView) {
  return { model: budget.model, ...budgetJson(budget) }
}

/** The settings, as the audit record keeps them. */
export function keySettingsJson(key: Key): Readonly<Record<string, unknown>> {
  const json = keyJson(key)
  return {
    ...Object.fromEntries(RECORDED.map((field) => [field, json[field]])),
    group: key.group && key.group.name,
    owner_person: key.ownerPerson && key.ownerPerson.email,
    window: key.window && budgetText(key.window),
    model_budgets: key.modelBudgets.map((budget) => `${budget.model}=${budgetText(budget)}`),
    alert_thresholds: key.alertThresholds,
    expiry_reminders: key.expiryReminders,
  }
}

const RECORDED = [
  'name',
  'status',
  'models',
  'permissions',
  'budget',
  'period',
  'timezone',
  'week_start',
  'request_cost_max',
  'rpm',
  'tpm',
  'concurrency',
  'when_tight',
  'expires_at',
  'environment',
  'owner',
  'description',
  'tags',
] as const
