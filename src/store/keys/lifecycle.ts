// Creates and changes keys: each change is one transaction that locks the account first, as the ledger does, raises the
// version that admission compares, and ends with the revision that running servers watch.
import { ENDPOINTS } from '../../core/endpoints.ts'
import { newId } from '../../core/ids.ts'
import { isEmpty } from '../../core/json.ts'
import { OVERLAP_MS_MAX, type KeyMode, USUAL_REMINDERS } from '../../core/limits.ts'
import { newSecret } from '../../core/secret.ts'
import { sentence } from '../../core/sentences.ts'
import { caseFold, chunk, label } from '../../core/text.ts'
import {
  accountColumns,
  accountOf,
  lockAccount,
  movedPeriodEnd,
  ofFrame,
} from '../accounts/accounts.ts'
import { checkLegs, legColumns, type LegsChange } from '../accounts/budget-changes.ts'
import {
  checkReason,
  checkSettings,
  invalid,
  type KeySettings,
  type Some,
} from '../accounts/settings.ts'
import { lapseAlerts } from '../alerts/give.ts'
import { nextReminder, storedReminders, writeAlertRule } from '../alerts/rules.ts'
import { recordChange, recordChanges, type AuditAction } from '../audit/record.ts'
import { checkAll, isDuplicate, refuseAll, requireVersion, StoreError } from '../database/errors.ts'
import { bumpRevision } from '../database/revision.ts'
import { inTransaction, isGroupWithin, ownerWithin, type Store } from '../database/store.ts'
import type { Row, Tx } from '../database/tables.ts'
import { findKey, keySettingsJson, listKeys, type Key } from './keys.ts'
import { demandRules, ownerOf } from './own-keys.ts'
import { addSecrets, endOldSecret, newestUsedAt, secretOf, type KnownSecret } from './secrets.ts'

export type NewKey = Pick<KeySettings, 'name' | 'models' | 'limitNanodollars'> &
  Some<KeySettings> & {
    readonly mode?: KeyMode | undefined
    readonly legs?: LegsChange | undefined
    /** The first part of the secret, `tg` unless configured. */
    readonly secretPrefix?: string | undefined
  }

export type KeyChange = Some<KeySettings> & {
  readonly addModels?: readonly string[] | undefined
  readonly removeModels?: readonly string[] | undefined
  readonly addTags?: readonly string[] | undefined
  readonly removeTags?: readonly string[] | undefined
  /** Its second window, caps for models, the cost of one request, and its group. */
  readonly legs?: LegsChange | undefined
  /** Only if nobody has changed the key since this version was read. */
  readonly ifVersion?: number | undefined
  /** Why, for the record, and what it is called there. */
  readonly reason?: string | undefined
  readonly action?: 'key.change' | 'key.grant_wish' | undefined
}

/** The secret leaves the store here and in rotateKey, and never again. */
export type KeyWithSecret = { readonly key: Key; readonly secret: string }

export async function createKey(store: Store, given: NewKey): Promise<KeyWithSecret> {
  const { mode = 'live', secretPrefix, legs = {}, ownerPersonId: owner } = given
  const groupId = legs.groupId ?? null
  const [checked, ownerPersonId] = await checkAll([
    () => checkNewKey(store, { ...given, legs: { ...legs, groupId } }),
    () => ownerOf(store, { groupId, ownerPersonId: owner }),
    () => checkNameFree(store, { name: given.name, groupId }),
  ])
  const secret = newSecret(mode, secretPrefix)
  const id = newId('key', store.clock)
  const settings = { ...checked, ownerPersonId }
  const key = { id, settings, mode, legs, groupId, secret: secretOf(secret) }
  const created = inTransaction(store.db, async (tx) => {
    const within = { ...store, db: tx }
    await insertKeys(store, tx, [key])
    const made = await findKey(within, id)
    await demandRules(within, { before: null, after: made })
    await bumpRevision(store, tx)
    return made
  })
  return { key: await refusingDuplicates(settings.name, created), secret }
}

/** Its settings, cleaned, whoever owns it. Throws invalid_value, with all that is wrong. */
export async function checkNewKey(
  store: Store,
  { mode: _mode, secretPrefix: _prefix, legs = {}, ...rest }: NewKey,
): Promise<CheckedKey['settings']> {
  const { period = 'month' } = rest
  const [settings] = await checkAll([
    () => checkSettings(rest),
    () => checkExpiry(store, rest.expiresAt),
    () => checkLegs(store, { from: { budgets: '', period }, to: legs }),
    () => checkCaps(legs, rest.models),
  ])
  return settings
}

/** A key whose settings have been checked. */
export type CheckedKey = {
  readonly id: string
  readonly settings: Pick<KeySettings, 'name' | 'models' | 'limitNanodollars'> & Some<KeySettings>
  readonly mode: KeyMode
  readonly status?: 'active' | 'paused'
  readonly groupId: string | null
  readonly legs: LegsChange
  /** Whoever made it: known by its hash. */
  readonly secret: KnownSecret
  /** A manifest made it, and may pause it when it has it no longer. */
  readonly isApplied?: boolean
}

/** Writes keys and records them: at least one, at most some hundreds, in few statements. */
export async function insertKeys(store: Store, tx: Tx, keys: readonly CheckedKey[]): Promise<void> {
  const accounts = await tx
    .insertInto('accounts')
    .values(keys.map(newAccount))
    .returningAll()
    .execute()
  const byId = new Map(accounts.map((account) => [account.id, account]))
  for (const { id, legs } of keys) {
    const from = byId.get(id)
    if (from === undefined || isEmpty(legs)) continue
    await setColumns(tx, id, await legColumns(store, tx, { from, to: legs }))
  }
  const rows = keys.map((key) => newKeyRow(key, store.clock.now()))
  await tx.insertInto('keys').values(rows).execute()
  for (const { id, settings } of keys) {
    if (settings.alertThresholds !== undefined)
      await writeAlertRule(tx, id, settings.alertThresholds)
  }
  await addModels(
    tx,
    keys.flatMap(({ id, settings }) => settings.models.map((model) => ({ key_id: id, model }))),
  )
  await addSecrets(
    store,
    tx,
    keys.map(({ id, secret }) => ({ keyId: id, ...secret })),
  )
  const made = await listKeys(
    { ...store, db: tx },
    keys.map(({ id }) => id),
  )
  const changes = made.map((key) => {
    const after = { ...keySettingsJson(key), mode: key.mode }
    return { ...aboutKey('key.create', key), version: 1, before: null, after }
  })
  await recordChanges(store, tx, changes)
}

function newAccount({ id, settings, status = 'active', groupId }: CheckedKey) {
  return {
    id,
    status,
    ...accountColumns(settings),
    expires_at: settings.expiresAt ?? null,
    period: settings.period ?? 'month',
    timezone: settings.timezone ?? ofFrame('timezone', 'UTC'),
    week_start: settings.weekStart ?? ofFrame('week_start', 'mon'),
    group_id: groupId,
  }
}

function newKeyRow({ id, settings, mode, groupId, isApplied }: CheckedKey, now: number) {
  const { name, owner = null, environment = null, tags = [] } = settings
  const { expiresAt = null, expiryReminders = USUAL_REMINDERS } = settings
  return {
    id,
    mode,
    ...searchedColumns({ name, owner, environment, tags }),
    ...otherKeyColumns(settings),
    model_count: settings.models.length,
    permissions: JSON.stringify(settings.permissions ?? ENDPOINTS),
    when_tight: settings.whenTight ?? 'cap',
    remind_at: nextReminder({ expiresAt, expiryReminders }, now),
    group_id: groupId,
    applied: isApplied === true ? 1 : 0,
    created_at: now,
  }
}

export async function updateKey(store: Store, idOrName: string, change: KeyChange): Promise<Key> {
  const { models, addModels = [], removeModels = [], ...others } = change
  const { addTags = [], removeTags = [], legs = {}, ifVersion, reason, action, ...rest } = others
  const known = await findKey(store, idOrName)
  const { name: newName = known.name } = rest
  const { groupId = known.groupId } = legs
  const [checked, why, , ownerPersonId] = await checkAll([
    () => checkSettings(rest),
    () => (reason === undefined ? undefined : checkReason(reason)),
    () => checkExpiry(store, rest.expiresAt),
    async () => {
      const { ownerPersonId: given } = rest
      return given === undefined ? given : ownerOf(store, { groupId, ownerPersonId: given })
    },
    async () => {
      const from = await accountOf(store, known.id)
      await checkLegs(store, { from, to: { ...legs, period: rest.period ?? from.period } })
    },
    () => checkCaps(legs, modelsAfter({ before: known.models, models, addModels, removeModels })),
    () => checkNameFree(store, { name: newName, groupId, keyId: known.id }),
  ])
  const settings = { ...checked, ownerPersonId }
  const about = { key: known.id, action: action ?? 'key.change', ifVersion, reason: why } as const
  const changed = changeKey(store, about, async (tx, account, key) => {
    const { id } = account
    const kept = (settings.tags ?? key.tags).filter((tag) => !removeTags.includes(tag))
    const { tags } = checkSettings({ tags: [...kept, ...addTags] })
    const { name = key.name, owner = key.owner, environment = key.environment } = settings
    const { limitNanodollars: limit = key.limitNanodollars } = settings
    const allowed = modelsAfter({ before: key.models, models, addModels, removeModels })
    checkCaps(legs, allowed)
    const ofAccount = {
      ...accountColumns(settings),
      expires_at: settings.expiresAt,
      ...(await movedPeriodEnd(store, tx, { from: account, to: settings })),
      ...(await legColumns(store, tx, { from: account, to: { ...settings, ...legs } })),
    }
    const ofKey = {
      ...searchedColumns({ name, owner, environment, tags }),
      ...otherKeyColumns(settings),
      group_id: legs.groupId,
    }
    await setColumns(tx, id, ofAccount)
    if (limit !== key.limitNanodollars) await lapseAlerts({ ...store, db: tx }, id)
    await tx.updateTable('keys').set(ofKey).where('id', '=', id).execute()
    if (settings.alertThresholds !== undefined) {
      await writeAlertRule(tx, id, settings.alertThresholds)
    }
    await changeModels(tx, id, { before: key.models, after: allowed })
  })
  return refusingDuplicates(newName, changed)
}

/** Refuses the key's requests until it is resumed. A member who pauses it once more changes nothing. */
export async function pauseKey(store: Store, idOrName: string): Promise<Key> {
  const about = { key: idOrName, action: 'key.pause' } as const
  return changeKey(store, about, async (tx, { id, status }, { groupId }) => {
    const isMember = ownerWithin(store.scope, groupId) !== undefined
    if (status === 'paused' && isMember) return
    await tx.updateTable('accounts').set({ status: 'paused' }).where('id', '=', id).execute()
    const by = { paused_by: isMember ? 'owner' : 'manager' } as const
    await tx.updateTable('keys').set(by).where('id', '=', id).execute()
  })
}

export async function resumeKey(store: Store, idOrName: string): Promise<Key> {
  return changeKey(store, { key: idOrName, action: 'key.resume' }, async (tx, { id }) => {
    await tx.updateTable('accounts').set({ status: 'active' }).where('id', '=', id).execute()
    await tx.updateTable('keys').set({ paused_by: null }).where('id', '=', id).execute()
  })
}

/** Ends a key for good; its history stays, and its name is free again. Revoking twice keeps the first reason. */
export async function revokeKey(store: Store, idOrName: string, reason: string): Promise<Key> {
  const why = checkReason(reason)
  const revoked = { revoked_at: store.clock.now(), revoked_reason: why }
  const key = await findKey(store, idOrName)
  if (key.status === 'revoked') return key
  const about = { key: key.id, action: 'key.revoke', reason: why } as const
  return changeKey(store, about, async (tx, { id }) => {
    await tx.updateTable('accounts').set({ status: 'revoked' }).where('id', '=', id).execute()
    await tx.updateTable('keys').set(revoked).where('id', '=', id).execute()
    // Nobody needs to decide any more.
    const withdrawn = { state: 'withdrawn', decided_by: store.author.actor } as const
    await tx
      .updateTable('wishes')
      .set({ ...withdrawn, decided_at: store.clock.now() })
      .where('key_id', '=', id)
      .where('state', '=', 'open')
      .execute()
  })
}

/** Gives the key a new secret; the previous one works for `overlapMs` more, and any older one no longer. */
export async function rotateKey(
  store: Store,
  idOrName: string,
  options: { readonly overlapMs: number; readonly secretPrefix?: string | undefined },
): Promise<KeyWithSecret> {
  const { overlapMs } = options
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > OVERLAP_MS_MAX) {
    throw new StoreError('invalid_value', sentence('overlap_range'), { field: 'overlap' })
  }
  const { id, mode } = await findKey(store, idOrName)
  const secret = newSecret(mode, options.secretPrefix)
  const key = await changeKey(store, { key: id, action: 'key.rotate' }, async (tx, _, before) => {
    const now = store.clock.now()
    await endOldSecret(tx, id, now)
    await tx
      .updateTable('secrets')
      .set({ valid_until: now + overlapMs, last_used_at: await newestUsedAt(tx, before) })
      .where('key_id', '=', id)
      .where('valid_until', 'is', null)
      .execute()
    await addSecrets(store, tx, [{ keyId: id, ...secretOf(secret) }])
  })
  return { key, secret }
}

/** Stops the previous secret now, however much of its overlap is left. */
export async function endOverlap(store: Store, idOrName: string): Promise<Key> {
  return changeKey(store, { key: idOrName, action: 'key.end_overlap' }, async (tx, { id }) => {
    await endOldSecret(tx, id, store.clock.now())
  })
}

/** What every change has in common. */
async function changeKey(
  store: Store,
  about: About,
  change: (tx: Tx, account: Row<'accounts'>, key: Key) => Promise<void>,
): Promise<Key> {
  const { id, name } = await findKey(store, about.key)
  return inTransaction(store.db, async (tx) => {
    const account = await lockAccount(tx, id)
    if (account.status === 'revoked') {
      throw new StoreError('wrong_state', sentence('key_revoked', { name }))
    }
    const within = { ...store, db: tx }
    const before = await findKey(within, id)
    requireVersion(about.ifVersion, {
      version: before.version,
      sentence: sentence('key_changed', { name }),
    })
    const version = before.version + 1
    await tx.updateTable('keys').set({ version }).where('id', '=', id).execute()
    await change(tx, account, before)
    const after = await findKey(within, id)
    await demandRules(within, { before, after })
    await remindAnew(store, tx, { before, after })
    await recordChange(store, tx, {
      ...aboutKey(about.action, after),
      reason: about.reason ?? null,
      version,
      before: keySettingsJson(before),
      after: keySettingsJson(after),
    })
    await bumpRevision(store, tx)
    return after
  })
}

type Changed = { readonly before: Key; readonly after: Key }

async function remindAnew(store: Store, tx: Tx, { before, after }: Changed): Promise<void> {
  const reminded = ({ status, expiresAt, expiryReminders }: Key) =>
    JSON.stringify([status === 'revoked', expiresAt, expiryReminders])
  if (reminded(before) === reminded(after)) return
  const isOver = after.status === 'revoked'
  const remindAt = isOver ? null : nextReminder(after, store.clock.now())
  await tx.updateTable('keys').set({ remind_at: remindAt }).where('id', '=', after.id).execute()
}

type About = {
  /** Its id or name. */
  readonly key: string
  readonly action: AuditAction
  readonly reason?: string | undefined
  readonly ifVersion?: number | undefined
}

function aboutKey(
  action: AuditAction,
  { id, name }: { readonly id: string; readonly name: string },
) {
  return { action, subject: 'key', subjectId: id, subjectName: name } as const
}

/** A mistyped name would otherwise cap nothing, and nobody would notice. */
function checkCaps({ modelBudgets = [] }: LegsChange, models: readonly string[]): void {
  const unknown = [...modelBudgets].flatMap(([model, amount]) =>
    amount === null || models.includes(model) ? [] : model,
  )
  refuseAll(
    unknown.map((model) => ({
      field: 'model_budgets',
      sentence: sentence('cap_model_unknown', { model }),
    })),
  )
}

type NameInGroup = {
  readonly name: string
  readonly groupId: string | null
  readonly keyId?: string
}

/** For a refusal that says all that is wrong; two callers at the same moment are told apart by the index. */
async function checkNameFree(
  { db, scope }: Store,
  { name, groupId, keyId }: NameInGroup,
): Promise<void> {
  // Of another group nobody learns which names are taken.
  if (!isGroupWithin(scope, groupId)) return
  const another = await db
    .selectFrom('keys')
    .select('id')
    .where('name', '=', label(name))
    .where('revoked_at', 'is', null)
    .where('group_id', groupId === null ? 'is' : '=', groupId)
    .where('id', '<>', keyId ?? '')
    .limit(1)
    .executeTakeFirst()
  if (another !== undefined) throw nameTaken(label(name))
}

function nameTaken(name: string, cause?: unknown): StoreError {
  return new StoreError('duplicate_name', sentence('key_name_taken', { name }), { cause })
}

/** Of a moment; what is none, checkSettings refuses. */
function checkExpiry(store: Store, expiresAt: number | null | undefined): void {
  const isMoment = expiresAt !== undefined && expiresAt !== null && expiresAt > 0
  if (!isMoment || !Number.isSafeInteger(expiresAt) || expiresAt > store.clock.now()) return
  throw new StoreError('invalid_value', sentence('key_expiry_passed'), { field: 'expires_at' })
}

/** All but those that are searched, which are always written together. */
function otherKeyColumns({ permissions, expiryReminders, ...settings }: Some<KeySettings>) {
  return {
    owner_person_id: settings.ownerPersonId,
    description: settings.description,
    permissions: permissions && JSON.stringify(permissions),
    when_tight: settings.whenTight,
    expiry_reminders: expiryReminders && storedReminders(expiryReminders),
  }
}

async function setColumns(tx: Tx, id: string, columns: Some<Row<'accounts'>>): Promise<void> {
  if (isEmpty(columns)) return
  await tx.updateTable('accounts').set(columns).where('id', '=', id).execute()
}

/** The index decides, not a look beforehand: two callers may take the same name at the same moment. */
async function refusingDuplicates<Result>(name: string, written: Promise<Result>): Promise<Result> {
  try {
    return await written
  } catch (error) {
    throw isDuplicate(error, 'keys_live_name') ? nameTaken(name, error) : error
  }
}

type ModelChange = {
  readonly before: readonly string[]
  readonly models: readonly string[] | undefined
  readonly addModels: readonly string[]
  readonly removeModels: readonly string[]
}

/** The allowlist after a change. */
function modelsAfter(change: ModelChange): readonly string[] {
  const after = new Set(change.models ?? change.before)
  for (const model of change.addModels) after.add(model)
  for (const model of change.removeModels) {
    if (!after.delete(model)) throw invalid('models', sentence('key_model_missing', { model }))
  }
  return checkSettings({ models: [...after] }).models
}

type Allowlists = { readonly before: readonly string[]; readonly after: readonly string[] }

async function changeModels(tx: Tx, keyId: string, models: Allowlists): Promise<void> {
  const { after } = models
  const before = new Set(models.before)
  await tx.updateTable('keys').set({ model_count: after.length }).where('id', '=', keyId).execute()
  const gone = before.difference(new Set(after))
  if (gone.size > 0) {
    await tx
      .deleteFrom('key_models')
      .where('key_id', '=', keyId)
      .where('model', 'in', [...gone])
      .execute()
  }
  const added = after.filter((model) => !before.has(model))
  await addModels(
    tx,
    added.map((model) => ({ key_id: keyId, model })),
  )
}

/** No database takes more values in one statement. */
const MODELS_AT_ONCE = 5_000

async function addModels(tx: Tx, rows: readonly Row<'key_models'>[]): Promise<void> {
  for (const some of chunk(rows, MODELS_AT_ONCE)) {
    await tx.insertInto('key_models').values(some).execute()
  }
}

type Searched = {
  readonly name: string
  readonly owner: string | null
  readonly environment: string | null
  readonly tags: readonly string[]
}

/** The columns of a key that are searched, always written together with their folded forms. */
export function searchedColumns({ name, owner, environment, tags }: Searched) {
  return {
    name,
    owner,
    environment,
    tags: JSON.stringify(tags),
    folded_text: caseFold([name, owner ?? '', environment ?? '', ...tags].join('\n')),
    folded_tags: caseFold(JSON.stringify(tags)),
  }
}
