// Creates, changes, archives and activates groups: each change is one transaction that locks the group's account first,
// as the ledger does, raises the version that admission compares, and ends with the revision that servers watch.
import { newId } from '../../core/ids.ts'
import { GROUP_ID_SHAPE, NAME_LENGTH_MAX } from '../../core/limits.ts'
import type { PeriodRule } from '../../core/periods.ts'
import { sentence } from '../../core/sentences.ts'
import { label } from '../../core/text.ts'
import {
  accountColumns,
  accountOf,
  lockAccount,
  movedPeriodEnd,
  ofFrame,
} from '../accounts/accounts.ts'
import { checkLegs, legColumns, type LegsChange } from '../accounts/budget-changes.ts'
import {
  ACCOUNT_CHECKS,
  atMost,
  checkBy,
  checkDescription,
  checkModels,
  checkReason,
  invalid,
  type Checks,
  type Some,
} from '../accounts/settings.ts'
import { lapseAlerts } from '../alerts/give.ts'
import { recordChange, type AuditAction } from '../audit/record.ts'
import { checkAll, isDuplicate, requireVersion, StoreError } from '../database/errors.ts'
import { bumpRevision } from '../database/revision.ts'
import { inTransaction, type Store } from '../database/store.ts'
import { FRAME_ID, type Row, type Tx } from '../database/tables.ts'
import {
  checkKeyRules,
  findGroup,
  groupSettingsJson,
  keyRulesJson,
  NO_KEY_RULES,
  type Group,
  type GroupSettings,
  type KeyRules,
} from './groups.ts'

/** Its second window, and what one request of its keys may cost. */
type GroupLegs = Pick<LegsChange, 'window' | 'requestCostMaxNanodollars'>

type NewGroup = Pick<GroupSettings, 'name'> &
  Some<GroupSettings> & { readonly legs?: GroupLegs | undefined }

type GroupChange = Some<Omit<GroupSettings, 'keyRules'>> & {
  /** The rules that change; the others stay. */
  readonly keyRules?: Some<KeyRules> | undefined
  readonly legs?: GroupLegs | undefined
  readonly addModels?: readonly string[] | undefined
  readonly removeModels?: readonly string[] | undefined
  /** Only if nobody has changed the group since this version was read. */
  readonly ifVersion?: number | undefined
  /** Why, for the record. */
  readonly reason?: string | undefined
}

const CHECKS: Checks<GroupSettings> = {
  ...ACCOUNT_CHECKS,
  name: checkName,
  description: checkDescription,
  models: (models) => models && checkModels(models),
  keyRules: checkKeyRules,
}

/** Throws invalid_value, with all that is wrong. */
export function checkGroup<Given extends Some<GroupSettings>>(given: Given) {
  return checkBy<GroupSettings, Given>(CHECKS, given)
}

/** A group without a budget is limited by the frame alone. */
export async function createGroup(store: Store, given: NewGroup): Promise<Group> {
  const { legs = {}, ...rest } = given
  const { period = 'month' } = rest
  const [settings] = await checkAll([
    () => checkGroup(rest),
    () => checkLegs(store, { from: { budgets: '', period }, to: legs }),
    () => checkNameFree(store, rest.name),
  ])
  const id = newId('grp', store.clock)
  const created = inTransaction(store.db, async (tx) => {
    const account = await tx
      .insertInto('accounts')
      .values({
        id,
        ...accountColumns(settings),
        limit_nanodollars: settings.limitNanodollars ?? null,
        period,
        timezone: settings.timezone ?? ofFrame('timezone', 'UTC'),
        week_start: settings.weekStart ?? ofFrame('week_start', 'mon'),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    const further = await legColumns(store, tx, { from: account, to: legs })
    await tx
      .updateTable('accounts')
      .set({ ...further, id })
      .where('id', '=', id)
      .execute()
    await tx
      .insertInto('groups')
      .values({
        id,
        name: settings.name,
        description: settings.description ?? null,
        models: ceilingText(settings.models ?? null),
        key_rules: JSON.stringify(keyRulesJson(settings.keyRules ?? NO_KEY_RULES)),
        created_at: store.clock.now(),
      })
      .execute()
    const made = await findGroup({ ...store, db: tx }, id)
    const change = { version: 1, before: null, after: groupSettingsJson(made) }
    await recordChange(store, tx, { ...aboutGroup('group.create', made), ...change })
    await bumpRevision(store, tx)
    return made
  })
  return refusingDuplicates(settings.name, created)
}

export async function updateGroup(
  store: Store,
  idOrName: string,
  change: GroupChange,
): Promise<Group> {
  const { addModels = [], removeModels = [], keyRules, legs = {}, ...others } = change
  const { ifVersion, reason, ...rest } = others
  const known = await findGroup(store, idOrName)
  const { name = known.name } = rest
  const models = ceilingAfter(known, { models: rest.models, addModels, removeModels })
  const wanted = { ...rest, models, keyRules: keyRules && merged(known.keyRules, keyRules) }
  const [settings, why] = await checkAll([
    () => checkGroup(wanted),
    () => (reason === undefined ? undefined : checkReason(reason)),
    async () => {
      const from = await accountOf(store, known.id)
      await checkLegs(store, { from, to: { ...legs, period: rest.period ?? from.period } })
    },
    () => checkNameFree(store, name, known.id),
  ])
  const about = { id: known.id, action: 'group.change', ifVersion, reason: why } as const
  const changed = changeGroup(store, about, async (tx, account) => {
    await tx
      .updateTable('accounts')
      .set({
        ...accountColumns(settings),
        ...(await movedPeriodEnd(store, tx, { from: account, to: settings })),
        ...(await legColumns(store, tx, {
          from: account,
          to: { ...periodRule(settings), ...legs },
        })),
        // At least one column, whatever was changed.
        id: known.id,
      })
      .where('id', '=', known.id)
      .execute()
    const { limitNanodollars: limit = account.limit_nanodollars } = settings
    if (limit !== account.limit_nanodollars) await lapseAlerts({ ...store, db: tx }, known.id)
    await tx
      .updateTable('groups')
      .set({
        name: settings.name,
        description: settings.description,
        models: settings.models === undefined ? undefined : ceilingText(settings.models),
        key_rules: settings.keyRules && JSON.stringify(keyRulesJson(settings.keyRules)),
        id: known.id,
      })
      .where('id', '=', known.id)
      .execute()
  })
  return refusingDuplicates(name, changed)
}

/** Refuses new requests of its keys until it is activated; those that run go on. Its name stays taken. */
export function archiveGroup(store: Store, idOrName: string): Promise<Group> {
  return setStatus(store, idOrName, { status: 'archived', action: 'group.archive' })
}

export function activateGroup(store: Store, idOrName: string): Promise<Group> {
  return setStatus(store, idOrName, { status: 'active', action: 'group.activate' })
}

async function setStatus(
  store: Store,
  idOrName: string,
  { status, action }: { readonly status: Group['status']; readonly action: AuditAction },
): Promise<Group> {
  const { id } = await findGroup(store, idOrName)
  return changeGroup(store, { id, action }, async (tx) => {
    await tx.updateTable('accounts').set({ status }).where('id', '=', id).execute()
  })
}

type About = {
  readonly id: string
  readonly action: AuditAction
  readonly reason?: string | undefined
  readonly ifVersion?: number | undefined
}

/** What every change has in common. */
async function changeGroup(
  store: Store,
  about: About,
  change: (tx: Tx, account: Row<'accounts'>) => Promise<void>,
): Promise<Group> {
  const { id } = about
  return inTransaction(store.db, async (tx) => {
    const account = await lockAccount(tx, id)
    const within = { ...store, db: tx }
    const before = await findGroup(within, id)
    requireVersion(about.ifVersion, {
      version: before.version,
      sentence: sentence('group_changed', { name: before.name }),
    })
    const version = before.version + 1
    await tx.updateTable('groups').set({ version }).where('id', '=', id).execute()
    await change(tx, account)
    const after = await findGroup(within, id)
    await recordChange(store, tx, {
      ...aboutGroup(about.action, after),
      reason: about.reason ?? null,
      version,
      before: groupSettingsJson(before),
      after: groupSettingsJson(after),
    })
    await bumpRevision(store, tx)
    return after
  })
}

export function aboutGroup(action: AuditAction, { id, name }: Pick<Group, 'id' | 'name'>) {
  return { action, subject: 'group', subjectId: id, subjectName: name } as const
}

function periodRule({ period, timezone, weekStart }: Some<PeriodRule>): Partial<PeriodRule> {
  return {
    ...(period !== undefined && { period }),
    ...(timezone !== undefined && { timezone }),
    ...(weekStart !== undefined && { weekStart }),
  }
}

type CeilingChange = {
  readonly models: GroupSettings['models'] | undefined
  readonly addModels: readonly string[]
  readonly removeModels: readonly string[]
}

/** Undefined = it stays as it is. What is added to no ceiling is allowed already; what is removed must be in it. */
function ceilingAfter(
  group: Group,
  { models, addModels, removeModels }: CeilingChange,
): GroupSettings['models'] | undefined {
  if (addModels.length === 0 && removeModels.length === 0) return models
  const before = models === undefined ? group.models : models
  if (before === null && removeModels.length === 0) return models
  const after = new Set([...(before ?? []), ...addModels])
  for (const model of removeModels) {
    if (!after.delete(model)) throw invalid('models', sentence('ceiling_model_missing', { model }))
  }
  return [...after]
}

function merged(before: KeyRules, change: Some<KeyRules>): KeyRules {
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  return { ...before, ...(Object.fromEntries(given) as Partial<KeyRules>) }
}

/** Words that stand for something else where a group is named. */
const RESERVED: readonly string[] = ['none', FRAME_ID]

function checkName(text: string): string {
  const name = label(text)
  if (name === '') throw invalid('name', sentence('group_name_needed'))
  if (GROUP_ID_SHAPE.test(name)) throw invalid('name', sentence('group_name_like_id'))
  if (name.includes('/')) throw invalid('name', sentence('group_name_slash'))
  if (RESERVED.includes(name)) throw invalid('name', sentence('group_name_reserved', { name }))
  return atMost('name', name, NAME_LENGTH_MAX)
}

function ceilingText(models: readonly string[] | null): string | null {
  return models === null ? null : JSON.stringify(models)
}

/** For a refusal that says all that is wrong. */
async function checkNameFree({ db }: Store, name: string, groupId = ''): Promise<void> {
  const another = await db
    .selectFrom('groups')
    .select('id')
    .where('name', '=', label(name))
    .where('id', '<>', groupId)
    .executeTakeFirst()
  if (another !== undefined) throw nameTaken(label(name))
}

function nameTaken(name: string, cause?: unknown): StoreError {
  return new StoreError('duplicate_name', sentence('group_name_taken', { name }), { cause })
}

/** The index decides, not a look beforehand: two callers may take the same name at the same moment. */
async function refusingDuplicates(name: string, written: Promise<Group>): Promise<Group> {
  try {
    return await written
  } catch (error) {
    throw isDuplicate(error, 'groups_name_key') ? nameTaken(name, error) : error
  }
}
