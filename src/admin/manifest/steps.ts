// One entry of a manifest beside what there is: undefined when nothing differs, else the step that makes them equal.
import { newId } from '../../core/ids.ts'
import { sentence } from '../../core/sentences.ts'
import { checkLegs } from '../../store/accounts/budget-changes.ts'
import { checkSettings, invalid } from '../../store/accounts/settings.ts'
import {
  addDestination,
  changeDestination,
  type Destination,
  shownAddress,
} from '../../store/alerts/destinations.ts'
import type { FieldChange } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { readFrame, setFrame } from '../../store/frame.ts'
import type { Group } from '../../store/groups/groups.ts'
import { NO_KEY_RULES } from '../../store/groups/groups.ts'
import {
  activateGroup,
  archiveGroup,
  checkGroup,
  createGroup,
  updateGroup,
} from '../../store/groups/lifecycle.ts'
import type { Key } from '../../store/keys/keys.ts'
import {
  checkNewKey,
  pauseKey,
  resumeKey,
  type CheckedKey,
  updateKey,
} from '../../store/keys/lifecycle.ts'
import { assertAllowed } from '../alerts/destinations.ts'
import {
  fullNameOf,
  HIDDEN,
  type DestinationEntry,
  type FrameEntry,
  type GroupEntry,
  type KeyEntry,
  type NewSecret,
  type PlanStep,
} from '../contract/manifest.ts'
import {
  changeOf,
  frameChangeOf,
  groupSettingsOf,
  keyRulesOf,
  legsChangeOf,
  settingsOf,
} from '../keys/form.ts'
import { amountForPeriod, destinationForm, frameForm, groupForm, keyForm } from './form.ts'

export type Step = PlanStep & {
  /** The accounts that it changes or refers to, as far as they exist. */
  readonly accounts: readonly string[]
} & (Work | NewKeyWork)

/** In the transaction. */
type Work = { run(within: Store): Promise<unknown> }

/** New keys are written together; each gets the secret that its maker keeps. */
type NewKeyWork = { newKey(secret: NewSecret): CheckedKey }

/** What there is already, by name. */
export type Around = {
  readonly store: Store
  readonly groups: ReadonlyMap<string, Group>
  readonly keys: ReadonlyMap<string, Key>
  readonly people: ReadonlyMap<string, string>
  /** Groups of the same manifest, which are made before the keys. */
  readonly newGroups: ReadonlySet<string>
  /** By name; those that the plan makes are added as it is carried out. */
  readonly groupIds: Map<string, string>
  readonly destinations: ReadonlyMap<string, Destination>
  /** The ids of those that the plan makes, by name, as it is carried out. */
  readonly webhooks: Map<string, string>
}

export async function frameStep(store: Store, entry: FrameEntry): Promise<Step | undefined> {
  const frame = await readFrame(store)
  const fields = difference(entry, frameForm(frame))
  if (fields.length === 0) return undefined
  const { window: text, ...same } = changedIn(entry, fields)
  const { window, ...given } = frameChangeOf({ ...same, window: amountForPeriod(text) })
  const settings = checkSettings(given)
  const legs = { window }
  const from = { budgets: '', period: entry.period ?? frame.period }
  await checkLegs(store, { from, to: legs })
  const about = { subject: 'frame', name: FRAME_ID, fields, accounts: [FRAME_ID] } as const
  const ifVersion = frame.version
  return {
    ...about,
    action: 'change',
    run: (within) => setFrame(within, { ...settings, ...legs, ifVersion }),
  }
}

export async function groupStep(around: Around, entry: GroupEntry): Promise<Step | undefined> {
  const { name } = entry
  const group = around.groups.get(name)
  const fields = difference(flat(entry), group && flat(groupForm(group)))
  if (fields.length === 0 && group !== undefined) return undefined
  const { status, window, key_rules: rules, ...same } = entry
  const body = {
    ...same,
    window: amountForPeriod(window),
    key_rules: rules && {
      ...rules,
      budget_max: amountForPeriod(rules.budget_max),
    },
  }
  const legs = legsChangeOf(body)
  const settings = checkGroup(groupSettingsOf(body))
  const from = { budgets: '', period: entry.period ?? group?.period ?? 'month' }
  await checkLegs(around.store, { from, to: legs })
  const keyRules = keyRulesOf(body)
  const about = { subject: 'group', name, fields } as const
  if (group === undefined) {
    const run = async (within: Store): Promise<void> => {
      const given = { ...settings, name, legs, keyRules: { ...NO_KEY_RULES, ...keyRules } }
      const { id } = await createGroup(within, given)
      around.groupIds.set(name, id)
      if (status === 'archived') await archiveGroup(within, id)
    }
    return { ...about, action: 'create', accounts: [], run }
  }
  const { id, version } = group
  const isStatusNew = fields.some(({ field }) => field === 'status')
  const run = async (within: Store): Promise<void> => {
    await updateGroup(within, id, { ...settings, keyRules, legs, ifVersion: version })
    if (isStatusNew) await (status === 'archived' ? archiveGroup : activateGroup)(within, id)
  }
  return { ...about, action: 'change', accounts: [id], run }
}

export async function keyStep(around: Around, entry: KeyEntry): Promise<Step | undefined> {
  const key = around.keys.get(fullNameOf(entry))
  const fields = difference(entry, key && keyForm(key))
  if (fields.length === 0 && key !== undefined) return undefined
  const body = keyBody(around, entry)
  const step = { subject: 'key', name: fullNameOf(entry), fields } as const
  if (key === undefined) return { ...step, ...(await newKey(around, { entry, body })) }
  const from = { budgets: '', period: entry.period ?? key.period }
  await checkLegs(around.store, { from, to: legsChangeOf(body) })
  return { ...step, ...changedKey({ entry, body, key, fields }) }
}

type KeyBody = ReturnType<typeof keyBody>

/** In the terms of the admin API, but for the group. */
function keyBody({ people }: Around, entry: KeyEntry) {
  const { status: _status, mode: _mode, group: _group, window, ...same } = entry
  const { model_budgets: caps, owner_person: email, ...rest } = same
  const owner = typeof email === 'string' ? people.get(email.toLowerCase()) : email
  if (typeof email === 'string' && owner === undefined) {
    throw invalid('owner_person', sentence('person_unknown', { person: email }))
  }
  return {
    ...rest,
    owner_person: owner,
    window: amountForPeriod(window),
    model_budgets:
      caps &&
      Object.entries(caps).map(([model, text]) => ({ model, ...amountForPeriod<never>(text) })),
  }
}

async function newKey(
  around: Around,
  { entry, body }: { readonly entry: KeyEntry; readonly body: KeyBody },
): Promise<Pick<Step, 'action' | 'accounts'> & NewKeyWork> {
  const { group = null, mode = 'live', status = 'active' } = entry
  const { models, budget } = body
  if (models === undefined) throw invalid('models', sentence('needed'))
  if (budget === undefined) throw invalid('budget', sentence('needed'))
  if (group !== null && !around.groupIds.has(group) && !around.newGroups.has(group)) {
    throw invalid('group', sentence('no_such_group'))
  }
  const legs = legsChangeOf(body)
  const settings = await checkNewKey(around.store, {
    ...settingsOf({ ...body, models, budget }),
    legs,
  })
  const groupId = group === null ? undefined : around.groupIds.get(group)
  return {
    action: 'create',
    accounts: groupId === undefined ? [] : [groupId],
    newKey: (secret) => ({
      ...{ id: newId('key', around.store.clock), settings, mode, status, legs, secret },
      groupId: group === null ? null : (around.groupIds.get(group) ?? null),
      isApplied: true,
    }),
  }
}

type Changed = {
  readonly entry: KeyEntry
  readonly body: KeyBody
  readonly key: Key
  readonly fields: readonly FieldChange[]
}

function changedKey({ entry, body, key, fields }: Changed) {
  const names = fields.map(({ field }) => field)
  if (names.includes('mode')) throw invalid('mode', sentence('mode_fixed'))
  const capped = key.modelBudgets.map(({ model }) => model)
  const given = Object.entries(body).filter(([name]) => names.includes(name))
  const { legs, ...settings } = changeOf(Object.fromEntries(given) as KeyBody, capped)
  checkSettings(settings)
  const { id, version: ifVersion } = key
  return {
    action: 'change' as const,
    accounts: [id, ...(key.groupId === null ? [] : [key.groupId])],
    run: async (within: Store): Promise<void> => {
      if (given.length > 0) await updateKey(within, id, { ...settings, legs, ifVersion })
      if (!names.includes('status')) return
      await (entry.status === 'paused' ? pauseKey : resumeKey)(within, id)
    },
  }
}

/** For a key that the manifest no longer has. */
export function pauseStep(key: Key): Step {
  const fields = [{ field: 'status', before: key.status, after: 'paused' }]
  return {
    ...{ action: 'pause', subject: 'key', name: fullNameOf(keyForm(key)), fields },
    accounts: [key.id],
    run: (within) => pauseKey(within, key.id),
  }
}

/** What is written and differs; of something new, everything that is written. */
function difference(entry: object, form: object | undefined): FieldChange[] {
  const before = new Map<string, unknown>(Object.entries(form ?? {}))
  return Object.entries(entry).flatMap(([field, after]: [string, unknown]) => {
    if (after === undefined || (form === undefined && NAMES.includes(field))) return []
    const was = before.get(field) ?? null
    return JSON.stringify(was) === JSON.stringify(after) ? [] : [{ field, before: was, after }]
  })
}

const NAMES = ['name', 'group']

/** Each rule for keys as a field of its own. */
function flat({ key_rules: rules = {}, ...entry }: GroupEntry): object {
  const named = Object.entries(rules).map(([rule, value]) => [`key_rules.${rule}`, value])
  return { ...entry, ...Object.fromEntries(named) }
}

function changedIn<Entry extends object>(
  entry: Entry,
  fields: readonly FieldChange[],
): Partial<Entry> {
  const names = fields.map(({ field }) => field)
  const given = Object.entries(entry).filter(([name]) => names.includes(name))
  return Object.fromEntries(given) as Partial<Entry>
}

/** An address that was cut short by an export means the one that the destination has. */
export function destinationStep(around: Around, entry: DestinationEntry): Step | undefined {
  const { name, webhook, email: _email, groups, ...same } = entry
  const there = around.destinations.get(name)
  const address = addressOf(entry, there)
  for (const group of groups ?? []) {
    if (around.groupIds.has(group) || around.newGroups.has(group)) continue
    throw invalid('groups', sentence('no_such_group'))
  }
  const fields = [...addressChange(entry, { there, address }), ...changes(around, entry, there)]
  if (there !== undefined && fields.length === 0) return undefined
  const settings = () => ({
    ...same,
    groupIds: groups && groups.map((group) => around.groupIds.get(group) ?? group),
  })
  const run = async (within: Store): Promise<void> => {
    if (there !== undefined) {
      await changeDestination(within, there.id, { ...settings(), address })
      return
    }
    const kind = webhook === undefined ? 'email' : 'webhook'
    const { enabled, ...taken } = settings()
    const { id } = await addDestination(within, { ...taken, kind, name, address: address ?? '' })
    if (enabled === false) await changeDestination(within, id, { enabled })
    if (kind === 'webhook') around.webhooks.set(name, id)
  }
  const action = there === undefined ? 'create' : 'change'
  return { subject: 'destination', name, action, fields, accounts: [], run }
}

/** In full; undefined = as it is. Throws invalid_value. */
function addressOf(
  { webhook, email }: DestinationEntry,
  there: Destination | undefined,
): string | undefined {
  if (there === undefined && (webhook === undefined) === (email === undefined)) {
    throw invalid('webhook', sentence('destination_address'))
  }
  const [field, other] = there?.kind === 'email' ? ['webhook', webhook] : ['email', email]
  if (there !== undefined && other !== undefined) {
    throw invalid(field ?? '', sentence('destination_kind'))
  }
  if (webhook === undefined) return email
  if (webhook.includes(HIDDEN)) {
    if (there !== undefined && shownAddress(there) === webhook) return undefined
    throw invalid('webhook', sentence('destination_hidden'))
  }
  assertAllowed(new URL(webhook), 'webhook')
  return webhook
}

type Address = { readonly there: Destination | undefined; readonly address: string | undefined }

/** Shown as people see it: it may differ only in what is hidden. */
function addressChange({ webhook }: DestinationEntry, { there, address }: Address): FieldChange[] {
  if (address === undefined || address === there?.address) return []
  const field = webhook === undefined ? 'email' : 'webhook'
  const kind = field
  const before = there === undefined ? null : shownAddress(there)
  return [{ field, before, after: shownAddress({ kind, address }) }]
}

function changes(
  around: Around,
  { webhook: _webhook, email: _email, ...entry }: DestinationEntry,
  there: Destination | undefined,
): readonly FieldChange[] {
  const names = new Map([...around.groupIds].map(([name, id]) => [id, name]))
  return difference(entry, there && destinationForm(there, names))
}
