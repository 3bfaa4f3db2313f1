// Prints a key, a group or the frame on standard output: as JSON for programs, else as text for people.
import type { FurtherBudget } from '../../admin/contract/values.ts'
import {
  frameOutput,
  groupOutput,
  keyOutput,
  type KeyListing,
  type ListedKey,
  type ShownFrame,
  type ShownGroup,
  type ShownKey,
  type ShownKeyWithSecret,
} from './gateway.ts'
import {
  block,
  bold,
  moment,
  printJson,
  printText,
  relativeTime,
  table,
  type Column,
} from '../terminal/output.ts'

/** Whether a program reads it, and when a person does. */
type Form = { readonly json?: true; readonly now: number }

export function printKey(key: ShownKey, { json, now }: Form): void {
  if (json) printJson(keyOutput(key))
  else printText(keyBlock(key, now))
}

export function printFrame(frame: ShownFrame, { json, now }: Form): void {
  if (json) printJson(frameOutput(frame))
  else printText(frameText(frame, now))
}

export function printGroup(group: ShownGroup, { json, now }: Form): void {
  if (json) printJson(groupOutput(group))
  else printText(groupBlock(group, now))
}

type Pairs = Parameters<typeof block>[0]

export function keyTable({ keys, frame }: KeyListing, now: number): string {
  const above = `Frame: ${typeof frame === 'string' ? FRAME_STATES[frame] : leftText(frame)}`
  if (keys.length === 0) {
    return `There are no keys yet. Create one:\n  tollgate keys create --name demo --models sandbox-chat --budget 1\n\n${above}`
  }
  const rows = table<ListedKey>(keys, [
    ['NAME', (key) => key.name],
    ...groupColumn(keys),
    ['ID', (key) => key.id],
    ['MODE', (key) => key.mode],
    ['STATUS', (key) => key.status],
    ['MODELS', (key) => String(key.model_count), 'right'],
    ['BUDGET', (key) => budgetText(key)],
    ['SPENT', (key) => key.spent, 'right'],
    ['HELD', (key) => key.held, 'right'],
    [
      'LAST USED',
      ({ last_used_at: at }) => (at === null ? 'never' : relativeTime(Date.parse(at), now)),
    ],
  ])
  return `${rows}\n\n${above}`
}

const FRAME_STATES = { has_room: 'has room', exhausted: 'exhausted' } as const

/** Only where there are groups. */
function groupColumn(keys: readonly ListedKey[]): readonly Column<ListedKey>[] {
  if (keys.every(({ group }) => group === null)) return []
  return [['GROUP', ({ group }) => group?.name ?? '-']]
}

export function groupTable(groups: readonly ShownGroup[]): string {
  if (groups.length === 0) {
    return 'There are no groups. Create one:\n  tollgate groups create --name search --budget 500'
  }
  return table<ShownGroup>(groups, [
    ['NAME', (each) => each.name],
    ['ID', (each) => each.id],
    ['STATUS', (each) => each.status],
    ['KEYS', (each) => String(each.keys), 'right'],
    ['BUDGET', (each) => budgetText(each)],
    ['SPENT', (each) => each.spent, 'right'],
    ['HELD', (each) => each.held, 'right'],
  ])
}

function groupBlock(group: ShownGroup, now: number): string {
  return [
    bold(group.name),
    block([
      ['id', group.id],
      ['status', group.status],
      ['description', group.description],
      ['created', when(group.created_at, now)],
      ['keys', String(group.keys)],
      ['members', String(group.members)],
      ...accountPairs(group, now),
      ['allocated', `${group.allocated} USD, the sum of its keys' budgets`],
      ...ratePairs(group),
      ...rulePairs(group),
    ]),
    group.models === null
      ? '  models       no ceiling: what the allowlists of its keys say'
      : modelsText(group.models),
  ].join('\n')
}

/** The rules for keys of members, as far as there are any. */
function rulePairs({ key_rules: rules }: ShownGroup): Pairs {
  const { budget_max: most, environments, self_service: isOn, ...counts } = rules
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

export function keyBlock(key: ShownKey, now: number): string {
  const { old_secret: old } = key
  const overlap =
    old === null || key.status === 'revoked'
      ? null
      : `${old.masked} works until ${when(old.valid_until, now)}, last used ${whenUsed(old, now)}`
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

function frameText(frame: ShownFrame, now: number): string {
  return [
    bold('Frame above all keys'),
    block([
      ...accountPairs(frame, now),
      [
        'allocated',
        `${frame.allocated} USD, the sum of what groups and keys outside groups may spend`,
      ],
    ]),
  ].join('\n')
}

/** The only time a secret is shown. */
export function secretText(
  headline: string,
  { secret, ...key }: ShownKeyWithSecret,
  now: number,
): string {
  return [
    headline,
    '',
    `  ${bold(secret)}`,
    '',
    'This is the only time the secret is shown. Keep it in a secret store and hand it to the application as an',
    'environment variable; never put it in source code, tickets, chat or logs.',
    '',
    keyBlock({ ...key, old_secret: null }, now),
  ].join('\n')
}

function identityPairs(key: ShownKey, now: number): Pairs {
  const status = key.revoked_reason === null ? key.status : `${key.status}: ${key.revoked_reason}`
  return [
    ['id', key.id],
    ['group', key.group && groupText(key.group)],
    ['status', status],
    ['mode', key.mode],
    ['environment', key.environment],
    ['owner', key.owner],
    ['person', key.owner_person && key.owner_person.email],
    ['description', key.description],
    ['tags', key.tags.join(', ') || null],
    ['created', when(key.created_at, now)],
    ['revoked', key.revoked_at && when(key.revoked_at, now)],
    ['expires', key.expires_at && when(key.expires_at, now)],
    ['last used', whenUsed(key, now)],
  ]
}

function whenUsed(
  { last_used_at: at }: { readonly last_used_at: string | null },
  now: number,
): string {
  return at === null ? 'never' : when(at, now)
}

function when(at: string, now: number): string {
  return moment(Date.parse(at), now)
}

/** What keys, groups and the frame have in common; the last only some of it. */
type ShownAccount = ShownFrame | ShownGroup | ShownKey

function accountPairs(account: ShownAccount, now: number): Pairs {
  const { top_up: topUp, remaining, resets_at: resetsAt, timezone } = account
  const caps = 'model_budgets' in account ? account.model_budgets : []
  const most = 'request_cost_max' in account ? account.request_cost_max : null
  return [
    ['budget', budgetText(account)],
    ['topped up', topUp === '0' ? null : `${topUp} USD more in this period`],
    ['spent', `${account.spent} USD`],
    ['held', `${account.held} USD`],
    ['remaining', remaining && `${remaining} USD`],
    ['resets', resetsAt && `${when(resetsAt, now)}, midnight in ${timezone}`],
    ['window', account.window && furtherText(account.window, now)],
    ...caps.map((cap): [string, string] => [`for ${cap.model}`, furtherText(cap, now)]),
    ['one request', most && `at most ${most} USD`],
  ]
}

function furtherText(budget: FurtherBudget, now: number): string {
  const { resets_at: resetsAt } = budget
  const resets = resetsAt === null ? '' : `, resets ${when(resetsAt, now)}`
  return `${leftText(budget)}${resets}`
}

function leftText(budget: Budgeted & { readonly remaining: string }): string {
  return `${budgetText(budget)}, ${budget.remaining} USD remaining`
}

function groupText({ name, status }: NonNullable<ShownKey['group']>): string {
  return status === 'active' ? name : `${name} (archived: its keys are refused)`
}

function limitPairs(key: ShownKey): Pairs {
  return [
    ...ratePairs(key),
    ['when tight', key.when_tight === 'cap' ? 'cap the output' : 'refuse'],
    ['permissions', key.permissions.join(', ') || 'none: it can call nothing'],
  ]
}

function ratePairs(account: ShownKey | ShownGroup): Pairs {
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
function ceilingText(key: ShownKey): readonly string[] {
  const callable = new Set(key.callable_models)
  const left = key.models.filter((model) => !callable.has(model))
  return left.length === 0 ? [] : [`  not among those of its group: ${left.join(', ')}`]
}

type Budgeted = { readonly budget: string | null; readonly period: string }

function budgetText({ budget, period }: Budgeted): string {
  if (budget === null) return 'none: only the frame limits it'
  return period === 'never' ? `${budget} USD` : `${budget} USD per ${period}`
}
