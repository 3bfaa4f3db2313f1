// Reads keys: one by id, name or secret, or many, and their JSON form. lifecycle.ts creates and changes them.
import { sql } from 'kysely'
import type { Endpoint } from '../../core/endpoints.ts'
import type { KeyMode } from '../../core/limits.ts'
import type { Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { chunk } from '../../core/text.ts'
import { iso, usd } from '../../core/units.ts'
import { type AccountView, viewAccount } from '../accounts/accounts.ts'
import type { KeySettings } from '../accounts/settings.ts'
import { readReminders, readThresholds } from '../alerts/rules.ts'
import { StoreError } from '../database/errors.ts'
import type { Store } from '../database/store.ts'
import type { AccountStatus, Row } from '../database/tables.ts'

/** As people see it: expired follows from the date. */
export type KeyStatus = Exclude<AccountStatus, 'archived'> | 'expired'

export type Key = AccountView &
  KeySettings & {
    readonly id: string
    readonly mode: KeyMode
    readonly status: KeyStatus
    readonly createdAt: number
    readonly lastUsedAt: number | null
    readonly revokedAt: number | null
    readonly revokedReason: string | null
    /** Goes up with every change of the key; the ledger refuses a hold that was checked against an older one. */
    readonly allowVersion: number
    /** Null outside groups. */
    readonly groupId: string | null
    /** The same of its group: goes up with every change of that; 0 outside groups. */
    readonly groupVersion: number
    /** Counts all changes of the key: a caller that changes it may name the version it has seen. */
    readonly version: number
    /** What it has spent in this period of the frame (frame.ts). */
    readonly framePeriodSeq: number
    readonly frameSpentNanodollars: Nanodollars
  }

type KeyOfSecret = {
  readonly key: Key
  /** Until when the secret it was found by is valid; null = until the next rotation. */
  readonly secretValidUntil: number | null
  /** Whether two secrets open it now. */
  readonly isRotating: boolean
}

/** By id, or by the name of a key that is not revoked. Throws unknown_key. */
export async function findKey(store: Store, idOrName: string): Promise<Key> {
  // No name looks like an id (accounts/settings.ts), so at most one row matches.
  const row = await selectKeys(store)
    .select(LAST_USED_AT)
    .where((column) =>
      column.or([
        column('keys.id', '=', idOrName),
        column('keys.name', '=', idOrName.normalize('NFC')).and('keys.revoked_at', 'is', null),
      ]),
    )
    .executeTakeFirst()
  if (row !== undefined) return readKey(store, row)
  throw new StoreError('unknown_key', sentence('no_key_named', { key: idOrName }))
}

/** Undefined for an unknown secret, or one whose overlap has ended. A revoked key is found, and its status says so. */
export async function findKeyBySecretHash(
  store: Store,
  hash: string,
): Promise<KeyOfSecret | undefined> {
  const now = store.clock.now()
  const row = await selectKeys(store)
    .select(LAST_USED_AT)
    .innerJoin('secrets', 'secrets.key_id', 'keys.id')
    .select('secrets.valid_until')
    .select((at) =>
      at
        .selectFrom('secrets as old')
        .whereRef('old.key_id', '=', 'keys.id')
        .where('old.valid_until', '>', now)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('old_secrets'),
    )
    .where('secrets.hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const isOver = row.valid_until !== null && row.valid_until <= now
  if (isOver) return undefined
  const isRotating = (row.old_secrets ?? 0) > 0
  return { key: readKey(store, row), secretValidUntil: row.valid_until, isRotating }
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

/** All of them in order of creation, including revoked ones. */
export async function listKeys(store: Store): Promise<readonly Key[]> {
  const rows = await selectKeys(store).select(LAST_USED_AT).orderBy('keys.id').execute()
  return rows.map((row) => readKey(store, row))
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

/** The names of these keys, by their ids. */
export async function keyNames(
  store: Store,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const piece of chunk([...new Set(ids)], 500)) {
    const rows = await store.db
      .selectFrom('keys')
      .select(['id', 'name'])
      .where('id', 'in', piece)
      .execute()
    for (const { id, name } of rows) names.set(id, name)
  }
  return names
}

/** How many keys may call each model: all minus the revoked, because an index counts all, and few are revoked. */
export async function keysPerModel(store: Store): Promise<ReadonlyMap<string, number>> {
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
  const less = new Map(revoked.map(({ model, count }) => [model, count]))
  return new Map(all.map(({ model, count }) => [model, count - (less.get(model) ?? 0)]))
}

/** In one statement, so that the allowlist matches the version read with it, and a caller waits only once. */
function selectKeys(store: Store) {
  const list =
    store.kind === 'sqlite'
      ? sql`json_group_array(model ORDER BY model)`
      : sql`json_agg(model ORDER BY model)::text`
  const models = sql<string | null>`(SELECT ${list} FROM key_models WHERE key_id = keys.id)`
  return store.db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.id')
    .leftJoin('accounts as groups', 'groups.id', 'accounts.group_id')
    .leftJoin('alert_rules', 'alert_rules.account_id', 'keys.id')
    .selectAll('accounts')
    .selectAll('keys')
    .select([
      'alert_rules.thresholds',
      models.as('models'),
      'groups.allow_version as group_version',
    ])
}

/** Uses are recorded every few seconds (secrets.ts): a key with none yet may have a request in the books. */
const LAST_USED_AT = sql<number | null>`coalesce(keys.last_used_at,
  (SELECT reserved_at FROM usage WHERE key_id = keys.id ORDER BY request_id DESC LIMIT 1))`.as(
  'last_used_at',
)

type KeyRow = Row<'keys'> &
  Row<'accounts'> & {
    readonly thresholds: string | null
    readonly models: string | null
    readonly group_version: number | null
  }

function readKey(store: Store, row: KeyRow): Key {
  return {
    ...viewAccount(store, row),
    id: row.id,
    name: row.name,
    mode: row.mode,
    status: statusOf(row, store.clock.now()),
    environment: row.environment,
    owner: row.owner,
    description: row.description,
    tags: JSON.parse(row.tags) as readonly string[],
    models: JSON.parse(row.models ?? '[]') as readonly string[],
    permissions: JSON.parse(row.permissions) as readonly Endpoint[],
    whenTight: row.when_tight,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    alertThresholds: readThresholds(row.thresholds),
    expiryReminders: readReminders(row.expiry_reminders),
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    revokedReason: row.revoked_reason,
    allowVersion: row.allow_version,
    groupId: row.group_id,
    groupVersion: row.group_version ?? 0,
    version: row.version,
    framePeriodSeq: row.frame_period,
    frameSpentNanodollars: row.frame_spent_nanodollars,
  }
}

/** Revoked is final, and expired takes precedence over paused. Only groups are archived. */
function statusOf(row: KeyRow, now: number): KeyStatus {
  if (row.status === 'revoked' || row.status === 'archived') return 'revoked'
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : row.status
}

export type KeyJson = ReturnType<typeof keyJson>

/** For the command line, the admin API, /v1/key and the audit record. */
export function keyJson(key: Key) {
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    environment: key.environment,
    owner: key.owner,
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
    rpm: key.rpm,
    tpm: key.tpm,
    concurrency: key.concurrency,
    when_tight: key.whenTight,
    created_at: iso(key.createdAt),
    expires_at: iso(key.expiresAt),
    last_used_at: iso(key.lastUsedAt),
  }
}

/** The settings, as the audit record keeps them. */
export function keySettingsJson(key: Key): Readonly<Record<string, unknown>> {
  const json = keyJson(key)
  return {
    ...Object.fromEntries(RECORDED.map((field) => [field, json[field]])),
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
