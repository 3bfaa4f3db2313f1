// Writes the plan of an import: groups, people, keys and what they have spent, in one transaction. An import that is
// repeated brings what it made to the new plan; what people have changed here since stays, and is named.
import { BUILT_IN_ROLES, MEMBER_ROLE } from '../../admin/contract/permissions.ts'
import { newId } from '../../core/ids.ts'
import { isEmpty } from '../../core/json.ts'
import { formatUsd, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { chunk } from '../../core/text.ts'
import { takeOver, usageIds, type SpentElsewhere } from '../../ledger/nodes/take-over.ts'
import { recordChanges, type Change } from '../../store/audit/record.ts'
import { changeAtOnce } from '../../store/backup/transaction.ts'
import { StoreError } from '../../store/database/errors.ts'
import { bumpRevision } from '../../store/database/revision.ts'
import type { Store } from '../../store/database/store.ts'
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
import { findPerson, insertPerson } from '../../store/people/people.ts'
import { ImportError } from '../source.ts'
import { Listed, Problems, type PlannedGroup, type PlannedPerson } from './plan.ts'
import type { ImportPlan } from './read-plan.ts'
import { changesOf, WORDS, writeKeys, type Writing, type Written } from './write-keys.ts'

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
    const spend = await this.#takeOver(plan)
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
    const made = await createGroup(store, settingsOf(planned))
    this.#newGroups.add(planned.teamId)
    return planned.isArchived ? archiveGroup(store, made.id) : made
  }

  /** Returns the version that an import left it at last. */
  async #bringUp(planned: PlannedGroup, { subject_id: id, version: left }: Imported) {
    const { store, kept } = this.#with
    const group = await findGroup(store, id)
    const changed = changesOf(settingsOf(planned), group)
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
  async #takeOver(plan: ImportPlan): Promise<Pick<ImportReport, 'spentNanodollars' | 'apart'>> {
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
      const rows = await takeOver(store, tx, { spent, nextId: this.#nextId })
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

function settingsOf({ name, models, limitNanodollars, period, ...limits }: PlannedGroup) {
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
