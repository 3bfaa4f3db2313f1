// Prints a key or the frame on standard output: as JSON for programs, else as text for people.
import { formatUsd, type Nanodollars } from '../core/money.ts'
import type { AccountView } from '../store/accounts/accounts.ts'
import type { Store } from '../store/database/store.ts'
import { frameJson, type Frame } from '../store/frame.ts'
import { readAllocated } from '../store/keys/counts.ts'
import { keyJson, type Key } from '../store/keys/keys.ts'
import type { KeyWithSecret } from '../store/keys/lifecycle.ts'
import { findOldSecret, type OldSecret } from '../store/keys/secrets.ts'
import type { CommonOptions } from './context.ts'
import {
  block,
  bold,
  moment,
  printJson,
  printText,
  relativeTime,
  table,
  usd,
} from './terminal/output.ts'

export async function printKey(store: Store, key: Key, { json }: CommonOptions): Promise<void> {
  if (json) printJson(keyJson(key))
  else printText(keyBlock(key, store.clock.now(), await findOldSecret(store, key.id)))
}

export async function printFrame(
  store: Store,
  frame: Frame,
  { json }: CommonOptions,
): Promise<void> {
  const allocated = await readAllocated(store)
  if (json) printJson(frameJson(frame, allocated))
  else printText(frameText(frame, allocated, store.clock.now()))
}

type Pairs = Parameters<typeof block>[0]

export function keyTable(keys: readonly Key[], frame: Frame, now: number): string {
  const above = `Frame: ${budgetText(frame)}, ${usd(frame.remainingNanodollars)} remaining`
  if (keys.length === 0) {
    return `There are no keys yet. Create one:\n  tollgate keys create --name demo --models sandbox-chat --budget 1\n\n${above}`
  }
  const rows = table<Key>(keys, [
    ['NAME', (key) => key.name],
    ['ID', (key) => key.id],
    ['MODE', (key) => key.mode],
    ['STATUS', (key) => key.status],
    ['MODELS', (key) => String(key.models.length), 'right'],
    ['BUDGET', (key) => budgetText(key)],
    ['SPENT', (key) => formatUsd(key.spentNanodollars), 'right'],
    ['HELD', (key) => formatUsd(key.heldNanodollars), 'right'],
    ['LAST USED', ({ lastUsedAt: at }) => (at === null ? 'never' : relativeTime(at, now))],
  ])
  return `${rows}\n\n${above}`
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
    modelsText(key),
  ].join('\n')
}

function frameText(frame: Frame, allocated: Nanodollars, now: number): string {
  return [
    bold('Frame above all keys'),
    block([
      ...accountPairs(frame, now),
      ['allocated', `${usd(allocated)}, the sum of all keys' budgets`],
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
    ['status', status],
    ['mode', key.mode],
    ['environment', key.environment],
    ['owner', key.owner],
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
  ]
}

function limitPairs(key: Key): Pairs {
  const limit = (count: number | null, unit: string): string =>
    count === null ? 'no limit' : `${count} ${unit}`
  return [
    ['requests', limit(key.rpm, 'per minute')],
    ['tokens', limit(key.tpm, 'per minute')],
    ['concurrency', limit(key.concurrency, 'at a time')],
    ['when tight', key.whenTight === 'cap' ? 'cap the output' : 'refuse'],
    ['permissions', key.permissions.join(', ') || 'none: it can call nothing'],
  ]
}

function modelsText(key: Key): string {
  if (key.models.length === 0) return '  models       none: it can call nothing'
  return [`  models (${key.models.length})`, ...key.models.map((model) => `    ${model}`)].join(
    '\n',
  )
}

function budgetText({ limitNanodollars, period }: AccountView): string {
  if (limitNanodollars === null) return 'none: only the frame limits it'
  return period === 'never' ? usd(limitNanodollars) : `${usd(limitNanodollars)} per ${period}`
}
