// Writes the keys of a plan, some hundreds at a time: new ones by the hashes of their secrets, known ones where the plan
// says something new, unless people have changed them here.
import { isDeepStrictEqual } from 'node:util'
import { newId } from '../../core/ids.ts'
import { isEmpty } from '../../core/json.ts'
import type { BudgetAmount, LegsChange } from '../../store/accounts/budget-changes.ts'
import { checkSettings } from '../../store/accounts/settings.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import type { Tx } from '../../store/database/tables.ts'
import { foundBefore, remember, type Imported } from '../../store/imported.ts'
import { listKeys, type Key } from '../../store/keys/keys.ts'
import { insertKeys, pauseKey, resumeKey, updateKey } from '../../store/keys/lifecycle.ts'
import { foreignSecretOf } from '../../store/keys/secrets.ts'
import type { Listed, PlannedKey, Problems } from './plan.ts'

export type Writing = {
  /** Every change is a part of `tx`, which is also its database. */
  readonly store: Store
  readonly tx: Tx
  readonly now: number
  readonly problems: Problems
  /** Names of what people have changed here, each with what the plan would have changed. */
  readonly kept: Listed
}

/** How many keys of a plan were new, and how many known ones changed. */
export type Written = { made: number; changed: number }

/** The ids here of what keys refer to, by the ids there. */
type References = {
  readonly groups: ReadonlyMap<string, string>
  readonly people: ReadonlyMap<string, Imported>
}

export async function writeKeys(
  writing: Writing,
  page: readonly PlannedKey[],
  to: References,
): Promise<Written> {
  const { store, tx, now } = writing
  const hashes = page.map(({ hash }) => hash)
  const known = await foundBefore(tx, 'key', hashes)
  const unknown = page.filter(({ hash }) => !known.has(hash))
  const fresh = await withoutTaken(writing, unknown, to)
  const keys = await keysById(store, known.values())
  const rows: Imported[] = []
  let changed = 0
  for (const planned of page) {
    const before = known.get(planned.hash)
    const key = before && keys.get(before.subject_id)
    if (before === undefined || key === undefined) continue
    const version = await orProblem(writing, planned, () =>
      bringUp(writing, { planned, key, to, left: before.version }),
    )
    if (version === undefined) continue
    if (version > key.version) changed++
    rows.push({
      ...before,
      version: version === key.version ? before.version : version,
      seen_at: now,
    })
  }
  const made = fresh.map((planned) => ({
    ...checkedKey(planned, to),
    id: newId('key', store.clock),
  }))
  if (made.length > 0) await insertKeys(store, tx, made)
  const mark = { kind: 'key', version: 1, usage_id: null, seen_at: now } as const
  for (const { id, secret } of made) rows.push({ ...mark, foreign_id: secret.hash, subject_id: id })
  await remember(tx, rows)
  return { made: made.length, changed }
}

/** Undefined: the store refuses it, which is a problem of this row. */
async function orProblem<Result>(
  { problems }: Writing,
  planned: PlannedKey,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    problems.add(`${rowOf(planned)}: ${error.message}`)
    return undefined
  }
}

function rowOf({ name }: PlannedKey): string {
  return `LiteLLM_VerificationToken, key_alias ${JSON.stringify(name)}`
}

async function keysById(
  store: Store,
  known: Iterable<Imported>,
): Promise<ReadonlyMap<string, Key>> {
  const ids = [...known].map(({ subject_id: id }) => id)
  const keys = ids.length === 0 ? [] : await listKeys(store, ids)
  return new Map(keys.map((key) => [key.id, key]))
}

/** Keys whose names or secrets others have here are problems. */
async function withoutTaken(
  { tx, problems }: Writing,
  fresh: readonly PlannedKey[],
  to: References,
): Promise<readonly PlannedKey[]> {
  if (fresh.length === 0) return []
  const names = fresh.map(({ name }) => name)
  const named = await tx
    .selectFrom('keys')
    .leftJoin('imported', 'imported.subject_id', 'keys.id')
    .select(['keys.name', 'keys.group_id', 'imported.foreign_id'])
    .where('keys.revoked_at', 'is', null)
    .where('keys.name', 'in', names)
    .execute()
  const places = new Map(
    named.map((key) => [
      placeOf(key.name, key.group_id),
      key.foreign_id === null ? 'is here already, and no import made it: rename one' : CAME_OVER,
    ]),
  )
  const hashes = fresh.map(({ hash }) => hash)
  const open = await tx.selectFrom('secrets').select('hash').where('hash', 'in', hashes).execute()
  const secrets = new Set(open.map(({ hash }) => hash))
  return fresh.filter((planned) => {
    const place = placeOf(planned.name, groupOf(planned, to))
    const taken = places.get(place)
    const isOpen = secrets.has(planned.hash)
    if (taken !== undefined) problems.add(`${rowOf(planned)}: a key of this name ${taken}`)
    if (isOpen) problems.add(`${rowOf(planned)}: its secret opens a key here already`)
    // Names that only look different are one name here.
    places.set(place, taken ?? CAME_OVER)
    return taken === undefined && !isOpen
  })
}

/** Also a key whose secret was renewed there: to its hash, it is another one. */
const CAME_OVER =
  'came over with another secret: rename one, or revoke the one here if its secret is gone there'

function placeOf(name: string, groupId: string | null): string {
  return `${groupId ?? ''}/${name}`
}

function checkedKey(planned: PlannedKey, to: References) {
  const modelBudgets = capsOf(planned)
  return {
    settings: settingsOf(planned, to),
    mode: 'live' as const,
    status: planned.isPaused ? ('paused' as const) : ('active' as const),
    groupId: groupOf(planned, to),
    legs: modelBudgets.size === 0 ? {} : { modelBudgets },
    secret: foreignSecretOf(planned),
  }
}

function groupOf({ teamId }: PlannedKey, { groups }: References): string | null {
  return teamId === null ? null : (groups.get(teamId) ?? null)
}

function capsOf({ modelBudgets }: PlannedKey): ReadonlyMap<string, BudgetAmount> {
  return new Map(
    modelBudgets.map(({ model, limitNanodollars, period }) => [
      model,
      { limitNanodollars, period },
    ]),
  )
}

/** What an import sets; the other settings are usual at first, and then whatever people make of them. */
function settingsOf(planned: PlannedKey, { people }: References) {
  const person = planned.ownerId === null ? undefined : people.get(planned.ownerId)
  return checkSettings({
    name: planned.name,
    models: planned.models,
    limitNanodollars: planned.limitNanodollars,
    period: planned.period,
    rpm: planned.rpm,
    tpm: planned.tpm,
    concurrency: planned.concurrency,
    permissions: planned.permissions,
    expiresAt: planned.expiresAt,
    tags: planned.tags,
    description: planned.description,
    owner: person === undefined ? planned.ownerId : null,
    ownerPersonId: person?.subject_id ?? null,
    ...(planned.alertAt !== null && {
      alertThresholds: [...new Set([planned.alertAt, 100])],
    }),
  })
}

type Known = {
  readonly planned: PlannedKey
  readonly key: Key
  readonly to: References
  /** The version that the last import left it at. */
  readonly left: number
}

/** Returns the version that the key has now. */
async function bringUp({ store, kept }: Writing, known: Known): Promise<number> {
  const { planned, key, to, left } = known
  const { settings, status, groupId } = checkedKey(planned, to)
  const changed = changesOf(settings, key)
  const legs: LegsChange = {
    ...(groupId !== key.groupId && { groupId }),
    ...capsChange(capsOf(planned), key),
  }
  const isOther = (status === 'paused') !== (key.status === 'paused') && key.status !== 'expired'
  const fields = [...Object.keys(changed), ...Object.keys(legs), ...(isOther ? ['status'] : [])]
  if (fields.length === 0) return key.version
  if (key.version !== left) {
    kept.add(`${key.name} (${fields.map((field) => WORDS[field] ?? field).join(', ')})`)
    return key.version
  }
  let { version } = key
  if (!isEmpty(changed) || !isEmpty(legs)) {
    version = (await updateKey(store, key.id, { ...changed, legs })).version
  }
  if (!isOther) return version
  return (await (status === 'paused' ? pauseKey : resumeKey)(store, key.id)).version
}

/** Those of the settings that something has differently. */
export function changesOf<Settings extends object>(
  settings: Settings,
  present: { readonly [Name in keyof Settings]: unknown },
): Partial<Settings> {
  const changed = Object.entries(settings).filter(
    ([name, value]) => !isDeepStrictEqual(value, present[name as keyof Settings]),
  )
  return Object.fromEntries(changed) as Partial<Settings>
}

function capsChange(wanted: ReadonlyMap<string, BudgetAmount>, key: Key): LegsChange {
  const present = new Map(
    key.modelBudgets.map(({ model, limitNanodollars, period }) => [
      model,
      { limitNanodollars, period },
    ]),
  )
  if (isDeepStrictEqual(wanted, present)) return {}
  const removed = [...present.keys()].filter((model) => !wanted.has(model))
  return { modelBudgets: new Map([...wanted, ...removed.map((model) => [model, null] as const)]) }
}

/** What people call the fields that differ. */
export const WORDS: Readonly<Record<string, string>> = {
  limitNanodollars: 'budget',
  expiresAt: 'expiry',
  ownerPersonId: 'owner',
  alertThresholds: 'alerts',
  modelBudgets: 'budgets of models',
  groupId: 'group',
}
