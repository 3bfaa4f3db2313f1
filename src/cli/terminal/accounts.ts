// Prints a key, a group or the frame on standard output: as JSON for programs, else as text for people.
import { formatUsd, type Nanodollars } from '../../core/money.ts'
import type { AccountView, BudgetView } from '../../store/accounts/accounts.ts'
import type { Store } from '../../store/database/store.ts'
import { frameJson, type Frame } from '../../store/frame.ts'
import {
  groupJson,
  groupTotals,
  NO_TOTALS,
  type Group,
  type GroupTotals,
} from '../../store/groups/groups.ts'
import { keyRulesJson } from '../../store/groups/key-rules.ts'
import { readAllocated } from '../../store/keys/counts.ts'
import { callableModels, keyJson, type Key } from '../../store/keys/keys.ts'
import type { KeyWithSecret } from '../../store/keys/lifecycle.ts'
import { findOldSecret, type OldSecret } from '../../store/keys/secrets.ts'
import {
  block,
  bold,
  moment,
  printJson,
  printText,
  relativeTime,
  table,
  type Column,
  usd,
} from './output.ts'

export async function printKey(store: Store, key: Key, { json }: Form): Promise<void> {
  if (json) printJson(keyJson(key))
  else printText(keyBlock(key, store.clock.now(), await findOldSecret(store, key.id)))
}

export async function printFrame(store: Store, frame: Frame, { json }: Form): Promise<void> {
  const allocated = await readAllocated(store)
  if (json) printJson(frameJson(frame, allocated))
  else printText(frameText(frame, allocated, store.clock.now()))
}

export async function printGroup(store: Store, group: Group, { json }: Form): Promise<void> {
  const totals = (await groupTotals(store, group.id)).get(group.id) ?? NO_TOTALS
  if (json) printJson(groupJson(group, totals))
  else printText(groupBlock(group, totals, store.clock.now()))
}

/** Whether a program reads it. */
type Form = { readonly json?: true }

type Pairs = Parameters<typeof block>[0]

export function keyTable(keys: readonly Key[], frame: Frame, now: number): string {
  const above = `Frame: ${budgetText(frame)}, ${usd(frame.remainingNanodollars)} remaining`
  if (keys.length === 0) {
    return `There are no keys yet. Create one:\n  tollgate keys create --name demo --models sandbox-chat --budget 1\n\n${above}`
  }
  const rows = table<Key>(keys, [
    ['NAME', (key) => key.name],
    ...groupColumn(keys),
    ['ID', (key) => key.id],
    ['MODE', (key) => key.mode],
    ['STATUS', (key) => key.status],
    ['MODELS', (key) => String(callableModels(key).length), 'right'],
    ['BUDGET', (key) => budgetText(key)],
    ['SPENT', (key) => formatUsd(key.spentNanodollars), 'right'],
    ['HELD', (key) => formatUsd(key.heldNanodollars), 'right'],
    ['LAST USED', ({ lastUsedAt: at }) => (at === null ? 'never' : relativeTime(at, now))],
  ])
  return `${rows}\n\n${above}`
}

/** Only where there are groups. */
function groupColumn(keys: readonly Key[]): readonly Column<Key>[] {
  if (keys.every(({ group }) => group === null)) return []
  return [['GROUP', ({ group }) => group?.name ?? '-']]
}

export function groupTable(
  groups: readonly Group[],
  totals: ReadonlyMap<string, GroupTotals>,
): string {
  if (groups.length === 0) {
    return 'There are no groups. Create one:\n  tollgate groups create --name search --budget 500'
  }
  return table<Group>(groups, [
    ['NAME', (each) => each.name],
    ['ID', (each) => each.id],
    ['STATUS', (each) => each.status],
    ['KEYS', ({ id }) => String(totals.get(id)?.keys ?? 0), 'right'],
    ['BUDGET', (each) => budgetText(each)],
    ['SPENT', (each) => formatUsd(each.spentNanodollars), 'right'],
    ['HELD', (each) => formatUsd(each.heldNanodollars), 'right'],
  ])
}

function groupBlock(group: Group, totals: GroupTotals, now: number): string {
  const { keys, members, allocatedNanodollars } = totals
  return [
    bold(group.name),
    block([
      ['id', group.id],
      ['status', group.status],
      ['description', group.description],
      ['created', moment(group.createdAt, now)],
      ['keys', String(keys)],
      ['members', String(members)],
      ...accountPairs(group, now),
      ['allocated', `${usd(allocatedNanodollars)}, the sum of its keys' budgets`],
      ...ratePairs(group),
      ...rulePairs(group),
    ]),
    group.models === null
      ? '  models       no ceiling: what the allowlists of its keys say'
      : modelsText(group.models),
  ].join('\n')
}

/** The rules for keys of members, as far as there are any. */
function rulePairs({ keyRules }: Group): Pairs {
  const { budget_max: most, environments, self_service: isOn, ...counts } = keyRulesJson(keyRules)
  return [
    ['self-service', isOn ? 'on' : 'off'],
    ['budget max', most && `${most.budget} USD per ${most.period}`],
    ['environments', environments && environments.join(', ')],
    ...Object.entries(counts).map(([rule, count]): [string, string | null] => [
      rule.replaceAll('_', ' '),
      count === null ? null : String(count),
    ]),
  ]
}

export function keyBlock(key: Key, now: number, old?: OldSecret): string {
  const overlap =
    old === undefined || key.status === 'revoked'
      ? null
      : `${old.masked} works until ${moment(old.validUntil, now)}, last used ${whenUsed(old, now)}`
  return [
    bold(key.name),
    block([
      ...identityPairs(key, now),
      ['old secret', overlap],
      ...accountPairs(key, now),
      ...limitPairs(key),
    ]),
    modelsText(key.models),
    ...ceilingText(key),
  ].join('\n')
}

function frameText(frame: Frame, allocated: Nanodollars, now: number): string {
  return [
    bold('Frame above all keys'),
    block([
      ...accountPairs(frame, now),
      ['allocated', `${usd(allocated)}, the sum of what groups and keys outside groups may spend`],
    ]),
  ].join('\n')
}

/** The only time a secret is shown. */
export function secretText(headline: string, { key, secret }: KeyWithSecret, now: number): string {
  return [
    headline,
    '',
    `  ${bold(secret)}`,
    '',
    'This is the only time the secret is shown. Keep it in a secret store and hand it to the application as an',
    'environment variable; never put it in source code, tickets, chat or logs.',
    '',
    keyBlock(key, now),
  ].join('\n')
}

function identityPairs(key: Key, now: number): Pairs {
  const status = key.revokedReason === null ? key.status : `${key.status}: ${key.revokedReason}`
  return [
    ['id', key.id],
    ['group', key.group && groupText(key.group)],
    ['status', status],
    ['mode', key.mode],
    ['environment', key.environment],
    ['owner', key.owner],
    ['person', key.ownerPerson && key.ownerPerson.email],
    ['description', key.description],
    ['tags', key.tags.join(', ') || null],
    ['created', moment(key.createdAt, now)],
    ['revoked', key.revokedAt === null ? null : moment(key.revokedAt, now)],
    ['expires', key.expiresAt === null ? null : moment(key.expiresAt, now)],
    ['last used', whenUsed(key, now)],
  ]
}

function whenUsed({ lastUsedAt }: { readonly lastUsedAt: number | null }, now: number): string {
  return lastUsedAt === null ? 'never' : moment(lastUsedAt, now)
}

function accountPairs(account: AccountView, now: number): Pairs {
  const { topUpNanodollars: topUp, remainingNanodollars: remaining, resetsAt, timezone } = account
  return [
    ['budget', budgetText(account)],
    ['topped up', topUp === 0n ? null : `${usd(topUp)} more in this period`],
    ['spent', usd(account.spentNanodollars)],
    ['held', usd(account.heldNanodollars)],
    ['remaining', remaining === null ? null : usd(remaining)],
    ['resets', resetsAt === null ? null : `${moment(resetsAt, now)}, midnight in ${timezone}`],
    ['window', account.window && furtherText(account.window, now)],
    ...account.modelBudgets.map((cap): [string, string] => [
      `for ${cap.model}`,
      furtherText(cap, now),
    ]),
    ['one request', atMostText(account.requestCostMaxNanodollars)],
  ]
}

function furtherText(budget: BudgetView, now: number): string {
  const left = usd(budget.remainingNanodollars)
  const resets = budget.resetsAt === null ? '' : `, resets ${moment(budget.resetsAt, now)}`
  return `${budgetText(budget)}, ${left} remaining${resets}`
}

function atMostText(amount: Nanodollars | null): string | null {
  return amount === null ? null : `at most ${usd(amount)}`
}

function groupText({ name, status }: NonNullable<Key['group']>): string {
  return status === 'active' ? name : `${name} (archived: its keys are refused)`
}

function limitPairs(key: Key): Pairs {
  return [
    ...ratePairs(key),
    ['when tight', key.whenTight === 'cap' ? 'cap the output' : 'refuse'],
    ['permissions', key.permissions.join(', ') || 'none: it can call nothing'],
  ]
}

function ratePairs(account: AccountView): Pairs {
  const limit = (count: number | null, unit: string): string =>
    count === null ? 'no limit' : `${count} ${unit}`
  return [
    ['requests', limit(account.rpm, 'per minute')],
    ['tokens', limit(account.tpm, 'per minute')],
    ['concurrency', limit(account.concurrency, 'at a time')],
  ]
}

function modelsText(models: readonly string[]): string {
  if (models.length === 0) return '  models       none: it can call nothing'
  return [`  models (${models.length})`, ...models.map((model) => `    ${model}`)].join('\n')
}

/** Which of its models the group of a key leaves out. */
function ceilingText(key: Key): readonly string[] {
  const callable = new Set(callableModels(key))
  const left = key.models.filter((model) => !callable.has(model))
  return left.length === 0 ? [] : [`  not among those of its group: ${left.join(', ')}`]
}

function budgetText({ limitNanodollars, period }: BudgetView): string {
  if (limitNanodollars === null) return 'none: only the frame limits it'
  return period === 'never' ? usd(limitNanodollars) : `${usd(limitNanodollars)} per ${period}`
}
