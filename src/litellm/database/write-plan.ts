// Writes the plan of an import: groups, people, keys and what they have spent, in one transaction. An import that is
// repeated brings what it made to the new plan; what people have changed here since stays, and is named.
import { isDeepStrictEqual } from 'node:util'
import { BUILT_IN_ROLES, MEMBER_ROLE } from '../../admin/contract/permissions.ts'
import { newId } from '../../core/ids.ts'
import { isEmpty } from '../../core/json.ts'
import { formatUsd, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { chunk } from '../../core/text.ts'
import {
  recordSpentElsewhere,
  type SpentElsewhere,
  usageIds,
} from '../../ledger/nodes/spent-elsewhere.ts'
import type { BudgetAmount, LegsChange } from '../../store/accounts/budget-changes.ts'
import { checkSettings } from '../../store/accounts/settings.ts'
import { recordChanges, type Change } from '../../store/audit/record.ts'
import { changeAtOnce } from '../../store/backup/transaction.ts'
import { StoreError } from '../../store/database/errors.ts'
import { bumpRevision } from '../../store/database/revision.ts'
import type { Store } from '../../store/database/store.ts'
import type { Tx } from '../../store/database/tables.ts'
import { findGroup } from '../../store/groups/groups.ts'
import {
  activateGroup,
  archiveGroup,
  createGroup,
  updateGroup,
} from '../../store/groups/lifecycle.ts'
import { addMember } from '../../store/groups/members.ts'
import {
  foundBefore,
  keysUnseenSince,
  lockImported,
  remember,
  type Imported,
} from '../../store/imported.ts'
import { listKeys, type Key } from '../../store/keys/keys.ts'
import { insertKeys, pauseKey, resumeKey, updateKey } from '../../store/keys/lifecycle.ts'
import { foreignSecretOf } from '../../store/keys/secrets.ts'
import { findPerson, insertPerson } from '../../store/people/people.ts'
import { ImportError } from '../source.ts'
import { Listed, Problems, type PlannedGroup, type PlannedPerson } from './plan.ts'
import type { PlannedKey } from './plan.ts'
import type { ImportPlan } from './read-plan.ts'

export type ImportReport = {
  readonly keys: Written
  readonly groups: Written
  /** How many people are new: those that are known stay as they are. */
  readonly people: number
  /** What all keys had spent, as far as it is new. */
  readonly spentNanodollars: Nanodollars
  /** What people have changed here since the last import, each with what the plan would change. */
  readonly kept: Listed
  /** Keys of earlier imports that are not in the database any more. */
  readonly gone: Listed
  /** Groups whose keys have not spent together what the team had spent. */
  readonly apart: Listed
}

/** All or nothing. Throws an ImportError with everything that keeps it from being written. */
export async function writePlan(
  store: Store,
  plan: ImportPlan,
  now: number,
): Promise<ImportReport> {
  const nextId = await usageIds(store)
  return changeAtOnce(store, async (tx) => {
    const within = { ...store, db: tx }
    const writing = { store: within, tx, now, problems: new Problems(), kept: new Listed() }
    const report = await new PlanWriter(writing, nextId).write(plan)
    const problems = writing.problems.list()
    if (problems.length > 0) throw new ImportError(problems)
    await bumpRevision(store, tx)
    return report
  })
}

const PAGE = 500

class PlanWriter {
  readonly #with: Writing
  readonly #nextId: () => number
  /** The groups here by the ids of their teams. */
  readonly #groups = new Map<string, string>()
  /** Those that this run made. */
  readonly #newGroups = new Set<string>()

  constructor(writing: Writing, nextId: () => number) {
    this.#with = writing
    this.#nextId = nextId
  }

  async write(plan: ImportPlan): Promise<ImportReport> {
    const { store, tx, now, kept } = this.#with
    if (store.kind === 'postgres') await lockImported(tx)
    const groups = await this.#writeGroups(plan.groups)
    let people = 0
    for await (const page of pagesOf(plan.people())) people += await this.#writePeople(page)
    await this.#writeMembers(plan.groups)
    const keys = { made: 0, changed: 0 }
    for await (const all of pagesOf(plan.keys())) {
      // Whose group could not be written, a problem names already.
      const page = all.filter(({ teamId }) => teamId === null || this.#groups.has(teamId))
      const owners = page.flatMap(({ ownerId }) => ownerId ?? [])
      const to = { groups: this.#groups, people: await foundBefore(tx, 'person', owners) }
      const written = await writeKeys(this.#with, page, to)
      keys.made += written.made
      keys.changed += written.changed
    }
    const spend = await this.#recordSpent(plan)
    const gone = new Listed()
    for (const name of await keysUnseenSince(tx, now)) gone.add(name)
    return { keys, groups, people, kept, gone, ...spend }
  }

  async #writeGroups(planned: readonly PlannedGroup[]): Promise<Written> {
    const { tx, now, problems } = this.#with
    const written = { made: 0, changed: 0 }
    for (const page of chunk(planned, PAGE)) {
      const known = await foundBefore(
        tx,
        'group',
        page.map(({ teamId }) => teamId),
      )
      const rows: Imported[] = []
      for (const each of page) {
        const before = known.get(each.teamId)
        try {
          const { id, version } = await (before === undefined
            ? this.#makeGroup(each)
            : this.#bringUp(each, before))
          if (before === undefined) written.made++
          else if (version > before.version) written.changed++
          this.#groups.set(each.teamId, id)
          const mark = { kind: 'group', foreign_id: each.teamId, usage_id: null } as const
          rows.push({ ...mark, subject_id: id, version, seen_at: now })
        } catch (error) {
          if (!(error instanceof StoreError)) throw error
          const at = `LiteLLM_TeamTable, team_alias ${JSON.stringify(each.name)}`
          problems.add(`${at}: ${error.message}`)
        }
      }
      await remember(tx, rows)
    }
    return written
  }

  async #makeGroup(planned: PlannedGroup) {
    const { store, tx } = this.#with
    const { name } = planned
    // Beforehand: PostgreSQL takes nothing more in a transaction in which the index has refused.
    const taken = await tx.selectFrom('groups').select('id').where('name', '=', name).execute()
    if (taken.length > 0) {
      throw new StoreError('duplicate_name', sentence('group_name_taken', { name }))
    }
    const made = await createGroup(store, groupSettings(planned))
    this.#newGroups.add(planned.teamId)
    return planned.isArchived ? archiveGroup(store, made.id) : made
  }

  /** Returns the version that an import left it at last. */
  async #bringUp(planned: PlannedGroup, { subject_id: id, version: left }: Imported) {
    const { store, kept } = this.#with
    const group = await findGroup(store, id)
    const changed = changesOf(groupSettings(planned), group)
    const isOther = planned.isArchived !== (group.status === 'archived')
    const fields = [...Object.keys(changed), ...(isOther ? ['status'] : [])]
    if (fields.length === 0) return { id, version: left }
    if (group.version !== left) {
      kept.add(`${group.name} (${fields.map((field) => WORDS[field] ?? field).join(', ')})`)
      return { id, version: left }
    }
    const after = isEmpty(changed) ? group : await updateGroup(store, id, changed)
    if (!isOther) return after
    return planned.isArchived ? archiveGroup(store, id) : activateGroup(store, id)
  }

  /** Somebody with the same address here is the same person. */
  async #writePeople(page: readonly PlannedPerson[]): Promise<number> {
    const { store, tx, now } = this.#with
    const known = await foundBefore(
      tx,
      'person',
      page.map(({ userId }) => userId),
    )
    const rows: Imported[] = []
    const changes: Change[] = []
    for (const { userId, email, name, role } of page) {
      if (known.has(userId)) continue
      const present = await findPerson(tx, { email })
      const id = present?.id ?? newId('person', store.clock)
      const { id: roleId, name: roleName } =
        BUILT_IN_ROLES.find((each) => each.name === role) ?? MEMBER_ROLE
      if (present === undefined) {
        await insertPerson(tx, { id, email, name: name ?? '', roleId }, now)
        const after = { email, name: name ?? '', role: roleName, status: 'invited' }
        const about = { action: 'person.invite', subject: 'person', subjectId: id } as const
        changes.push({ ...about, subjectName: email, before: null, after })
      }
      const mark = { kind: 'person', version: 1, usage_id: null, seen_at: now } as const
      rows.push({ ...mark, foreign_id: userId, subject_id: id })
    }
    if (changes.length > 0) await recordChanges(store, tx, changes)
    await remember(tx, rows)
    return changes.length
  }

  /** Where the group or the person is new: who was taken out of a group here stays out. */
  async #writeMembers(planned: readonly PlannedGroup[]): Promise<void> {
    const { store, tx, now } = this.#with
    for (const { teamId, name, members } of planned) {
      const id = this.#groups.get(teamId)
      if (id === undefined) continue
      for (const page of chunk(members, PAGE)) {
        const ids = page.map(({ userId }) => userId)
        const people = await foundBefore(tx, 'person', ids)
        for (const { userId, isAdmin } of page) {
          const row = people.get(userId)
          const isNew = row?.seen_at === now || this.#newGroups.has(teamId)
          const person = row && isNew ? await findPerson(tx, { id: row.subject_id }) : undefined
          if (person === undefined) continue
          const role = isAdmin ? MANAGER_ROLE : MEMBER_ROLE
          await addMember(store, { group: { id, name }, person, roleName: (each) => each }, role)
        }
      }
    }
  }

  /** Last, because every request waits for the frame from here on. */
  async #recordSpent(plan: ImportPlan): Promise<Pick<ImportReport, 'spentNanodollars' | 'apart'>> {
    const { store, tx, now } = this.#with
    const sums = new Map<string | null, Nanodollars>()
    let sum: Nanodollars = 0n
    for await (const page of pagesOf(plan.keys())) {
      const known = await foundBefore(
        tx,
        'key',
        page.map(({ hash }) => hash),
      )
      const spent = page.flatMap(
        ({ hash, spentNanodollars, spentSince: since }): SpentElsewhere[] => {
          const row = known.get(hash)
          if (row === undefined || (spentNanodollars === 0n && row.usage_id === null)) return []
          return [{ keyId: row.subject_id, usageId: row.usage_id, spentNanodollars, since }]
        },
      )
      for (const { teamId, spentNanodollars } of page) {
        sums.set(teamId, (sums.get(teamId) ?? 0n) + spentNanodollars)
        sum += spentNanodollars
      }
      if (spent.length === 0) continue
      const rows = await recordSpentElsewhere(store, tx, { spent, nextId: this.#nextId })
      const marked = [...known.values()].flatMap((row) => {
        const usageId = rows.get(row.subject_id)
        return usageId === undefined ? [] : [{ ...row, usage_id: usageId, seen_at: now }]
      })
      await remember(tx, marked)
    }
    const apart = new Listed()
    for (const { teamId, name, spentNanodollars: there } of plan.groups) {
      const here = sums.get(teamId) ?? 0n
      const difference = here > there ? here - there : there - here
      if (difference >= CENT) {
        apart.add(`${name} (${formatUsd(there)} USD there, ${formatUsd(here)} USD by its keys)`)
      }
    }
    return { spentNanodollars: sum, apart }
  }
}

const CENT: Nanodollars = 10_000_000n

/** Of those who administer a team there. */
const MANAGER_ROLE = { id: 'manager', name: 'Manager' }

function groupSettings({ name, models, limitNanodollars, period, ...limits }: PlannedGroup) {
  const { rpm, tpm, concurrency } = limits
  const sorted = models && models.toSorted()
  return { name, models: sorted, limitNanodollars, period, rpm, tpm, concurrency }
}

/** Some hundreds at a time, however many there are. */
async function* pagesOf<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[]> {
  let page: Item[] = []
  for await (const item of items) {
    page.push(item)
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

// Keys, some hundreds at a time: new ones by the hashes of their secrets, known ones where the plan
// says something new, unless people have changed them here.

type Writing = {
  /** Every change is a part of `tx`, which is also its database. */
  readonly store: Store
  readonly tx: Tx
  readonly now: number
  readonly problems: Problems
  /** Names of what people have changed here, each with what the plan would have changed. */
  readonly kept: Listed
}

/** How many keys of a plan were new, and how many known ones changed. */
type Written = { made: number; changed: number }

/** The ids here of what keys refer to, by the ids there. */
type References = {
  readonly groups: ReadonlyMap<string, string>
  readonly people: ReadonlyMap<string, Imported>
}

async function writeKeys(
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
    settings: keySettings(planned, to),
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
function keySettings(planned: PlannedKey, { people }: References) {
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
function changesOf<Settings extends object>(
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
const WORDS: Readonly<Record<string, string>> = {
  limitNanodollars: 'budget',
  expiresAt: 'expiry',
  ownerPersonId: 'owner',
  alertThresholds: 'alerts',
  modelBudgets: 'budgets of models',
  groupId: 'group',
}
