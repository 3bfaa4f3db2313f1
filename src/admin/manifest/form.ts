// Groups, keys, alert destinations and the frame in the form of a manifest: what an export writes, and what a plan compares with.
import { ENDPOINTS } from '../../core/endpoints.ts'
import { USUAL_REMINDERS, USUAL_THRESHOLDS } from '../../core/limits.ts'
import { iso, usd } from '../../core/units.ts'
import { budgetText, type AccountView } from '../../store/accounts/accounts.ts'
import type { BudgetAmount } from '../../store/accounts/budget-changes.ts'
import {
  listDestinations,
  shownAddress,
  type Destination,
} from '../../store/alerts/destinations.ts'
import type { Store } from '../../store/database/store.ts'
import { readFrame, type Frame } from '../../store/frame.ts'
import { groupNames, keyRulesJson, listGroups, type Group } from '../../store/groups/groups.ts'
import { listKeys, type Key } from '../../store/keys/keys.ts'
import type { DestinationEntry, FrameEntry, GroupEntry, KeyEntry } from '../contract/manifest.ts'

/** Every field has a value, null where it is not set. */
type Whole<Entry> = { readonly [Field in keyof Entry]-?: Exclude<Entry[Field], undefined> }

export function frameForm(frame: Frame): Whole<FrameEntry> {
  return { ...rulesForm(frame), budget: usd(frame.limitNanodollars) }
}

export function groupForm(group: Group): Whole<GroupEntry> {
  const { budget_max: most, environments, ...others } = keyRulesJson(group.keyRules)
  return {
    name: group.name,
    description: group.description,
    status: group.status,
    ...rulesForm(group),
    ...limitsForm(group),
    models: group.models && group.models.toSorted(),
    key_rules: { ...others, budget_max: most && `${most.budget}/${most.period}`, environments },
  }
}

export function keyForm(key: Key): Whole<KeyEntry> {
  return {
    name: key.name,
    group: key.group && key.group.name,
    mode: key.mode,
    status: key.status === 'paused' ? 'paused' : 'active',
    models: [...key.models],
    ...rulesForm(key),
    ...limitsForm(key),
    model_budgets: Object.fromEntries(
      key.modelBudgets
        .map((budget) => [budget.model, budgetText(budget)] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
    permissions: [...key.permissions],
    environment: key.environment,
    owner: key.owner,
    owner_person: key.ownerPerson && key.ownerPerson.email,
    description: key.description,
    tags: [...key.tags],
    expires_at: iso(key.expiresAt),
    when_tight: key.whenTight,
    alert_thresholds: [...key.alertThresholds],
    expiry_reminders: [...key.expiryReminders],
  }
}

function rulesForm(account: AccountView) {
  return {
    budget: usd(account.limitNanodollars),
    period: account.period,
    timezone: account.timezone,
    week_start: account.weekStart,
    window: account.window && budgetText(account.window),
  }
}

function limitsForm(account: AccountView) {
  return {
    request_cost_max: usd(account.requestCostMaxNanodollars),
    rpm: account.rpm,
    tpm: account.tpm,
    concurrency: account.concurrency,
  }
}

/** The names of groups by their ids. */
type Names = ReadonlyMap<string, string>

type Addressed = Omit<Whole<DestinationEntry>, 'webhook' | 'email'> &
  Readonly<Record<'webhook' | 'email', string | null>>

/** Of a webhook no more than people see: whoever knows the rest can post there. */
export function destinationForm(destination: Destination, names: Names): Addressed {
  const { name, kind, enabled, taken } = destination
  const { kinds, groupIds, tags, environments } = taken
  const address = shownAddress(destination)
  return {
    name,
    webhook: kind === 'webhook' ? address : null,
    email: kind === 'email' ? address : null,
    enabled,
    kinds: kinds && kinds.toSorted(),
    groups: groupIds && groupIds.map((id) => names.get(id) ?? id).toSorted(),
    tags: tags && tags.toSorted(),
    environments: environments && environments.toSorted(),
  }
}

type Written = Record<string, unknown>
type Exported = { frame: Written; groups: Written[]; keys: Written[]; destinations: Written[] }

/** By name, without what is revoked, and without what a new one would be anyway. */
export async function exportManifest(store: Store): Promise<Exported> {
  const frame = frameForm(await readFrame(store))
  const groups = (await listGroups(store)).map(groupForm)
  const keys = (await listKeys(store)).filter(({ status }) => status !== 'revoked').map(keyForm)
  const names = await groupNames(store)
  const destinations = await listDestinations(store)
  const { timezone, week_start } = frame
  const usual = { status: 'active', timezone, week_start }
  const byName = (a: KeyEntry, b: KeyEntry): number =>
    compare(a.group ?? '', b.group ?? '') || compare(a.name, b.name)
  return {
    frame: without(frame, {}),
    groups: groups.map(({ key_rules: rules, ...group }) => ({
      ...without(group, usual),
      ...rulesOf(rules),
    })),
    keys: keys.toSorted(byName).map((key) => ({
      ...without(key, { ...usual, ...USUAL_OF_KEYS }),
      budget: key.budget ?? 'none',
    })),
    destinations: destinations.map((destination) =>
      without(destinationForm(destination, names), { enabled: true }),
    ),
  }
}

const USUAL_OF_KEYS = {
  mode: 'live',
  model_budgets: {},
  tags: [],
  permissions: ENDPOINTS,
  when_tight: 'cap',
  alert_thresholds: USUAL_THRESHOLDS,
  expiry_reminders: USUAL_REMINDERS,
}

function rulesOf(rules: Whole<GroupEntry>['key_rules']): Written {
  const set = without(rules, { self_service: false })
  return Object.keys(set).length === 0 ? {} : { key_rules: set }
}

function without(entry: object, usual: Readonly<Record<string, unknown>>): Written {
  const isUsual = ([field, value]: [string, unknown]): boolean =>
    value === null || JSON.stringify(usual[field]) === JSON.stringify(value)
  return Object.fromEntries(Object.entries(entry).filter((each) => !isUsual(each)))
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

type AmountForPeriod = { readonly budget: string; readonly period: BudgetAmount['period'] }

/** `5/day`, in the terms of the admin API; null = there is to be none, undefined = it stays as it is. */
export function amountForPeriod<Nothing extends null | undefined>(
  text: string | Nothing,
): AmountForPeriod | Nothing {
  if (typeof text !== 'string') return text
  const [budget = '', period = ''] = text.split('/')
  return { budget, period: period as BudgetAmount['period'] }
}
