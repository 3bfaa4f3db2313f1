// The rows of the ledger: their types, and their columns in both databases. All money is nano-USD; a name says so where it
// is used outside this folder.
import type { Endpoint } from '../../core/endpoints.ts'
import type { Usage } from '../../core/events.ts'
import type { Nanodollars } from '../../core/money.ts'
import type { PeriodRule } from '../../core/periods.ts'
import {
  packBudgets,
  unpackBudgets,
  type Budget,
  type BudgetName,
  type ClosedBudget,
  type FurtherBudget,
} from '../../store/accounts/budgets.ts'
import {
  flag,
  integer,
  layout,
  money,
  nullable,
  text,
  type Columns,
} from '../../store/database/layout.ts'
import type { TAKEN_OVER, UsageState } from '../../store/database/tables.ts'
import type { HoldId, Settlement } from '../ledger.ts'
import type { RateWindow } from './rates.ts'
import { packWindow, unpackWindow } from './rates.ts'

/** What a key may spend, or the keys of a group, or all keys together (the frame). Only a decision changes it. */
export type Account = PeriodRule &
  Budget & {
    readonly id: string
    readonly status: string
    readonly expiresAt: number | null
    readonly allowVersion: number
    /** The group of a key; null = it has none, or is no key. */
    readonly groupId: string | null
    /** The most that one request may cost, failed attempts included; null = whatever the budgets have room for. */
    readonly requestCostMax: Nanodollars | null
    inFlight: number
    readonly rpm: number | null
    readonly tpm: number | null
    readonly concurrency: number | null
    /** What the key has spent in the frame's period of this number, the latest in which it spent anything. */
    framePeriodSeq: number
    frameSpent: Nanodollars
    /** Of the frame: days before this one are summed up (KeyDay), and of this one the keys up to `summedKey`. */
    readonly summedDay: number
    readonly summedKey: string
    /** The last minute's admissions; kept only for accounts with a rate limit. */
    rateWindow: RateWindow
    /** Beside the main one, which is the account itself. */
    readonly budgets: readonly FurtherBudget[]
  }

/** The budgets that an entry of the books belongs to (`legsOf`): by the period of each, null where it has none. */
export type LegPeriods = {
  readonly keyId: string
  /** The group that the key was in when it asked. */
  readonly groupId: string | null
  /** Its public name; the key's cap goes by it. */
  readonly modelAsked: string
  /** A hold belongs to the periods it was reserved in, however late it is settled. */
  readonly keyPeriod: number
  readonly keyWindow: number | null
  readonly modelCap: number | null
  readonly groupPeriod: number | null
  readonly groupWindow: number | null
  readonly framePeriod: number
  readonly frameWindow: number | null
}

/** A hold that is open. Closed ones live on as usage rows under the same id. */
export type Hold = LegPeriods & {
  readonly id: HoldId
  readonly requestId: string
  readonly heldNanodollars: Nanodollars
  readonly outputTokens: number
  readonly capped: boolean
  readonly estimatedTokens: number
  readonly at: number
  readonly endpoint: Endpoint
}

/** What a request cost and how it went. Its texts are storable, its price is named by version. */
export type UsageRow = Omit<
  Settlement,
  'holdId' | 'tokens' | 'price' | 'tags' | 'attempts' | 'endpoint'
> &
  Required<Omit<Usage, 'audioTokens' | 'webSearches'>> &
  LegPeriods & {
    readonly id: HoldId
    readonly endpoint: Endpoint | typeof TAKEN_OVER
    readonly state: UsageState
    /** The size of the hold when it ended. */
    readonly heldNanodollars: Nanodollars
    readonly priceVersion: string | null
    /** JSON texts. */
    readonly tags: string
    readonly attempts: string
    /** When it was reserved; rollups and periods count it at this time. */
    readonly at: number
    readonly settledAt: number
  }

/** A settlement in the form of its usage row, before it meets its hold. */
export type Charge = Omit<
  UsageRow,
  | ('state' | 'heldNanodollars' | 'at' | 'settledAt')
  | Exclude<keyof LegPeriods, 'keyId' | 'groupId' | 'modelAsked'>
>

/** Changes to a closed period of a budget. */
export type PeriodDelta = {
  readonly accountId: string
  readonly budget: BudgetName
  readonly seq: number
  spent: Nanodollars
  held: Nanodollars
  overrun: Nanodollars
}

export type ClosedPeriod = Readonly<PeriodDelta> & ClosedBudget

/** Figures are kept once per version, as JSON text. */
export type PriceRow = { readonly version: string; readonly figures: string }

export type RollupSpan = 'hour' | 'day'

/**
 * Sums over the requests of one key for one model in one hour or day (UTC); under the id of a group or of the frame, of
 * the keys below it.
 */
export type Rollup = RollupOf &
  RollupSums & {
    readonly span: RollupSpan
    readonly startsAt: number
  }

/** The day rollups of a key within a group together, kept once the day is over: a report over all keys reads no more. */
export type KeyDay = RollupSums & Pick<Rollup, 'keyId' | 'startsAt' | 'groupId'>

export type RollupSums = {
  requests: number
  failed: number
  refused: number
  estimated: number
  inputTokens: number
  cachedTokens: number
  cacheWriteTokens: number
  outputTokens: number
  reasoningTokens: number
  cost: Nanodollars
}

/** What a rollup is about. Texts are empty where a sum is over all groups, or no provider was called. */
export type RollupOf = {
  readonly keyId: string
  readonly model: string
  readonly groupId: string
  readonly provider: string
  readonly endpoint: string
}

export type LedgerEntry = {
  readonly id: string
  readonly at: number
  readonly kind: 'top_up' | 'reset' | 'adjust'
  readonly accountId: string
  readonly budget: BudgetName
  readonly periodSeq: number
  readonly holdId: HoldId | null
  readonly before: Nanodollars
  readonly after: Nanodollars
  readonly actor: string
  readonly reason: string
  readonly origin: string | null
  /** The group itself, or that of the key then. */
  readonly groupId: string | null
}

type AccountChange = Omit<
  Account,
  | ('status' | 'expiresAt' | 'allowVersion' | 'groupId' | 'requestCostMax' | 'limit')
  | ('summedDay' | 'summedKey')
  | ('rpm' | 'tpm' | 'concurrency' | 'period' | 'timezone' | 'weekStart')
>

const accountChange: Columns<AccountChange> = {
  id: text('id'),
  topUp: money('top_up_nanodollars'),
  spent: money('spent_nanodollars'),
  held: money('held_nanodollars'),
  overrun: money('overrun_nanodollars'),
  grantedLimit: nullable(money('granted_limit_nanodollars')),
  inFlight: integer('in_flight'),
  periodSeq: integer('period_seq'),
  periodStartsAt: integer('period_starts_at'),
  periodEndsAt: nullable(integer('period_ends_at')),
  framePeriodSeq: integer('frame_period'),
  frameSpent: money('frame_spent_nanodollars'),
  rateWindow: {
    ...text('rate_window'),
    isPlain: false,
    read: (stored, now) => unpackWindow(String(stored), now),
    write: packWindow,
  },
  budgets: {
    ...text('budgets'),
    isPlain: false,
    read: (stored) => unpackBudgets(String(stored)),
    write: packBudgets,
  },
}

/** Its id, then what a batch may change of it. */
export const ACCOUNT_CHANGE = layout(accountChange)

export const ACCOUNT = layout<Account>({
  ...accountChange,
  status: text('status'),
  expiresAt: nullable(integer('expires_at')),
  allowVersion: integer('allow_version'),
  groupId: nullable(text('group_id')),
  requestCostMax: nullable(money('request_cost_max_nanodollars')),
  limit: nullable(money('limit_nanodollars')),
  summedDay: integer('summed_day'),
  summedKey: text('summed_key'),
  rpm: nullable(integer('rpm')),
  tpm: nullable(integer('tpm')),
  concurrency: nullable(integer('concurrency')),
  period: text('period'),
  timezone: text('timezone'),
  weekStart: text('week_start'),
})

const periodDelta: Columns<PeriodDelta> = {
  accountId: text('account_id'),
  budget: text('budget'),
  seq: integer('seq'),
  spent: money('spent_nanodollars'),
  held: money('held_nanodollars'),
  overrun: money('overrun_nanodollars'),
}

export const PERIOD_DELTA = layout(periodDelta)

export const CLOSED_PERIOD = layout<ClosedPeriod>({
  ...periodDelta,
  startsAt: integer('starts_at'),
  endsAt: integer('ends_at'),
  limit: nullable(money('limit_nanodollars')),
  grantedLimit: nullable(money('granted_limit_nanodollars')),
})

const reservedIn: Columns<Omit<LegPeriods, 'keyId' | 'groupId' | 'modelAsked'>> = {
  keyPeriod: integer('key_period'),
  keyWindow: nullable(integer('key_window')),
  modelCap: nullable(integer('model_cap')),
  groupPeriod: nullable(integer('group_period')),
  groupWindow: nullable(integer('group_window')),
  framePeriod: integer('frame_period'),
  frameWindow: nullable(integer('frame_window')),
}

export const HOLD = layout<Hold>({
  id: integer('id'),
  requestId: text('request_id'),
  keyId: text('key_id'),
  groupId: nullable(text('group_id')),
  ...reservedIn,
  heldNanodollars: money('held_nanodollars'),
  outputTokens: integer('output_tokens_max'),
  capped: flag('capped'),
  estimatedTokens: integer('estimated_tokens'),
  at: integer('reserved_at'),
  endpoint: text('endpoint'),
  modelAsked: text('model_asked'),
})

export const HOLD_CHANGE = layout<Pick<Hold, 'id' | 'heldNanodollars'>>({
  id: integer('id'),
  heldNanodollars: money('held_nanodollars'),
})

const charge: Columns<Charge> = {
  id: integer('id'),
  requestId: text('request_id'),
  keyId: text('key_id'),
  groupId: nullable(text('group_id')),
  costNanodollars: money('cost_nanodollars'),
  priceVersion: nullable(text('price_version')),
  endpoint: text('endpoint'),
  modelAsked: text('model_asked'),
  modelServed: nullable(text('model_served')),
  provider: nullable(text('provider')),
  status: integer('status'),
  errorCode: nullable(text('error_code')),
  inputTokens: integer('input_tokens'),
  cachedTokens: integer('cached_tokens'),
  cacheWriteTokens: integer('cache_write_tokens'),
  cacheWriteLongTokens: integer('cache_write_long_tokens'),
  outputTokens: integer('output_tokens'),
  reasoningTokens: integer('reasoning_tokens'),
  estimated: flag('estimated'),
  latencyMs: integer('latency_ms'),
  firstTokenMs: nullable(integer('first_token_ms')),
  traceId: nullable(text('trace_id')),
  endUser: nullable(text('end_user')),
  tags: text('tags'),
  attempts: text('attempts'),
}

export const CHARGE = layout(charge)

export const USAGE = layout<UsageRow>({
  ...charge,
  state: text('state'),
  ...reservedIn,
  heldNanodollars: money('held_nanodollars'),
  at: integer('reserved_at'),
  settledAt: integer('settled_at'),
})

const rollupSums: Columns<RollupSums> = {
  requests: integer('requests'),
  failed: integer('failed'),
  refused: integer('refused'),
  estimated: integer('estimated'),
  inputTokens: integer('input_tokens'),
  cachedTokens: integer('cached_tokens'),
  cacheWriteTokens: integer('cache_write_tokens'),
  outputTokens: integer('output_tokens'),
  reasoningTokens: integer('reasoning_tokens'),
  cost: money('cost_nanodollars'),
}

export const ROLLUP = layout<Rollup>({
  span: text('span'),
  startsAt: integer('starts_at'),
  keyId: text('key_id'),
  model: text('model'),
  groupId: text('group_id'),
  provider: text('provider'),
  endpoint: text('endpoint'),
  ...rollupSums,
})

export const KEY_DAY = layout<KeyDay>({
  keyId: text('key_id'),
  startsAt: integer('starts_at'),
  groupId: text('group_id'),
  ...rollupSums,
})

/** The first columns of each; the others are sums. */
export const ROLLUP_KEYS = 7
export const KEY_DAY_KEYS = 3

export const ENTRY = layout<LedgerEntry>({
  id: text('id'),
  at: integer('created_at'),
  kind: text('kind'),
  accountId: text('account_id'),
  budget: text('budget'),
  periodSeq: integer('period_seq'),
  holdId: nullable(integer('hold_id')),
  before: money('before_nanodollars'),
  after: money('after_nanodollars'),
  actor: text('actor'),
  reason: text('reason'),
  origin: nullable(text('origin')),
  groupId: nullable(text('group_id')),
})

export const PRICE = layout<PriceRow>({ version: text('version'), figures: text('figures') })
