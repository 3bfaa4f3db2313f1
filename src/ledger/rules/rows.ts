// The rows of the ledger: their types, their columns in both databases, and how a hold ends as a usage row. All money is
// nano-USD; a name says so where it is used outside this folder.
import type { Endpoint } from '../../core/endpoints.ts'
import { CLIENT_GONE_STATUS } from '../../core/errors.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Nanodollars } from '../../core/money.ts'
import type { Period, PeriodRule, WeekStart } from '../../core/periods.ts'
import type { UsageState } from '../../store/database/tables.ts'
import type { HoldId, Settlement } from '../ledger.ts'
import type { RateWindow } from './rates.ts'
import { packWindow, unpackWindow } from './rates.ts'

/** What a key may spend, or all keys together (the frame). Only a decision changes it. */
export type Account = PeriodRule & {
  readonly id: string
  readonly status: string
  readonly expiresAt: number | null
  readonly allowVersion: number
  readonly limit: Nanodollars | null
  /** Added to the limit until the period ends. */
  topUp: Nanodollars
  spent: Nanodollars
  held: Nanodollars
  overrun: Nanodollars
  /** The highest limit a hold of this period was granted under; null = one was granted without a limit. */
  grantedLimit: Nanodollars | null
  inFlight: number
  readonly rpm: number | null
  readonly tpm: number | null
  readonly concurrency: number | null
  periodSeq: number
  periodStartsAt: number
  periodEndsAt: number | null
  /** What the key has spent in the frame's period of this number, the latest in which it spent anything. */
  framePeriodSeq: number
  frameSpent: Nanodollars
  /** The last minute's admissions; kept only for keys with a rate limit. */
  rateWindow: RateWindow
}

/** A hold that is open. Closed ones live on as usage rows under the same id. */
export type Hold = {
  readonly id: HoldId
  readonly requestId: string
  readonly keyId: string
  /** A hold belongs to the periods it was reserved in, however late it is settled. */
  readonly keyPeriod: number
  readonly framePeriod: number
  readonly heldNanodollars: Nanodollars
  readonly outputTokens: number
  readonly capped: boolean
  readonly estimatedTokens: number
  readonly at: number
  readonly endpoint: Endpoint
  readonly modelAsked: string
}

/** A settlement as the books store it: flat, its texts storable, its price named by version. */
export type Charge = Omit<Settlement, 'price' | 'tags' | 'attempts'> & {
  readonly priceVersion: string | null
  /** JSON texts. */
  readonly tags: string
  readonly attempts: string
}

export type UsageRow = Omit<Charge, 'holdId'> & {
  readonly id: HoldId
  readonly state: UsageState
  readonly keyPeriod: number
  readonly framePeriod: number
  /** The size of the hold when it ended. */
  readonly heldNanodollars: Nanodollars
  /** When it was reserved; rollups and periods count it at this time. */
  readonly at: number
  readonly settledAt: number
}

export type ClosedPeriod = {
  readonly accountId: string
  readonly seq: number
  readonly startsAt: number
  readonly endsAt: number
  readonly limit: Nanodollars | null
  readonly spent: Nanodollars
  readonly held: Nanodollars
  readonly overrun: Nanodollars
  readonly grantedLimit: Nanodollars | null
}

/** Changes to a closed period of an account. */
export type PeriodDelta = {
  readonly accountId: string
  readonly seq: number
  spent: Nanodollars
  held: Nanodollars
  overrun: Nanodollars
}

/** Figures are kept once per version, as JSON text. */
export type PriceRow = { readonly version: string; readonly figures: string }

export type RollupSpan = 'hour' | 'day'

/** Sums over the requests of one key (under the frame's id, of all keys) for one model in one hour or day (UTC). */
export type Rollup = {
  readonly span: RollupSpan
  readonly startsAt: number
  readonly keyId: string
  readonly model: string
  requests: number
  errors: number
  refused: number
  estimated: number
  inputTokens: number
  cachedTokens: number
  cacheWriteTokens: number
  outputTokens: number
  reasoningTokens: number
  cost: Nanodollars
}

export type LedgerEntry = {
  readonly id: string
  readonly at: number
  readonly kind: 'top_up' | 'reset' | 'adjust'
  readonly accountId: string
  readonly periodSeq: number
  readonly holdId: HoldId | null
  readonly before: Nanodollars
  readonly after: Nanodollars
  readonly actor: string
  readonly reason: string
  readonly origin: string | null
}

/** As a database gives it. Every integer arrives as a bigint; money stays one, the rest become numbers. */
export type Row = Readonly<Record<string, unknown>>
export type Value = string | number | bigint | null

export const ACCOUNT_COLUMNS = [
  'id',
  'status',
  'expires_at',
  'allow_version',
  'limit_nanodollars',
  'top_up_nanodollars',
  'spent_nanodollars',
  'held_nanodollars',
  'overrun_nanodollars',
  'granted_limit_nanodollars',
  'in_flight',
  'rpm',
  'tpm',
  'concurrency',
  'period',
  'timezone',
  'week_start',
  'period_seq',
  'period_starts_at',
  'period_ends_at',
  'frame_period_seq',
  'frame_spent_nanodollars',
  'rate_window',
] as const

export function toAccount(row: Row, now: number): Account {
  return {
    id: text(row, 'id'),
    status: text(row, 'status'),
    expiresAt: maybe(number, row, 'expires_at'),
    allowVersion: number(row, 'allow_version'),
    limit: maybe(money, row, 'limit_nanodollars'),
    topUp: money(row, 'top_up_nanodollars'),
    spent: money(row, 'spent_nanodollars'),
    held: money(row, 'held_nanodollars'),
    overrun: money(row, 'overrun_nanodollars'),
    grantedLimit: maybe(money, row, 'granted_limit_nanodollars'),
    inFlight: number(row, 'in_flight'),
    rpm: maybe(number, row, 'rpm'),
    tpm: maybe(number, row, 'tpm'),
    concurrency: maybe(number, row, 'concurrency'),
    period: text(row, 'period') as Period,
    timezone: text(row, 'timezone'),
    weekStart: text(row, 'week_start') as WeekStart,
    periodSeq: number(row, 'period_seq'),
    periodStartsAt: number(row, 'period_starts_at'),
    periodEndsAt: maybe(number, row, 'period_ends_at'),
    framePeriodSeq: number(row, 'frame_period_seq'),
    frameSpent: money(row, 'frame_spent_nanodollars'),
    rateWindow: unpackWindow(text(row, 'rate_window'), now),
  }
}

/** The columns of an account that a batch may change, after its id. */
export const ACCOUNT_CHANGE_COLUMNS = [
  'id',
  'top_up_nanodollars',
  'spent_nanodollars',
  'held_nanodollars',
  'overrun_nanodollars',
  'granted_limit_nanodollars',
  'in_flight',
  'period_seq',
  'period_starts_at',
  'period_ends_at',
  'frame_period_seq',
  'frame_spent_nanodollars',
  'rate_window',
] as const

/** In the order of ACCOUNT_CHANGE_COLUMNS. */
export function accountValues(account: Account): Value[] {
  return [
    account.id,
    account.topUp,
    account.spent,
    account.held,
    account.overrun,
    account.grantedLimit,
    account.inFlight,
    account.periodSeq,
    account.periodStartsAt,
    account.periodEndsAt,
    account.framePeriodSeq,
    account.frameSpent,
    packWindow(account.rateWindow),
  ]
}

export const PERIOD_COLUMNS = [
  'account_id',
  'seq',
  'starts_at',
  'ends_at',
  'limit_nanodollars',
  'spent_nanodollars',
  'held_nanodollars',
  'overrun_nanodollars',
  'granted_limit_nanodollars',
] as const

/** In the order of PERIOD_COLUMNS. */
export function periodValues(period: ClosedPeriod): Value[] {
  return [
    period.accountId,
    period.seq,
    period.startsAt,
    period.endsAt,
    period.limit,
    period.spent,
    period.held,
    period.overrun,
    period.grantedLimit,
  ]
}

export const HOLD_COLUMNS = [
  'id',
  'request_id',
  'key_id',
  'key_period',
  'frame_period',
  'amount_nanodollars',
  'output_tokens',
  'capped',
  'estimated_tokens',
  'reserved_at',
  'endpoint',
  'model_asked',
] as const

/** In the order of HOLD_COLUMNS. */
export function holdValues(hold: Hold): Value[] {
  return [
    hold.id,
    hold.requestId,
    hold.keyId,
    hold.keyPeriod,
    hold.framePeriod,
    hold.heldNanodollars,
    hold.outputTokens,
    hold.capped ? 1 : 0,
    hold.estimatedTokens,
    hold.at,
    hold.endpoint,
    hold.modelAsked,
  ]
}

export function toHold(row: Row): Hold {
  return {
    id: number(row, 'id'),
    requestId: text(row, 'request_id'),
    keyId: text(row, 'key_id'),
    keyPeriod: number(row, 'key_period'),
    framePeriod: number(row, 'frame_period'),
    heldNanodollars: money(row, 'amount_nanodollars'),
    outputTokens: number(row, 'output_tokens'),
    capped: number(row, 'capped') === 1,
    estimatedTokens: number(row, 'estimated_tokens'),
    at: number(row, 'reserved_at'),
    endpoint: text(row, 'endpoint') as Endpoint,
    modelAsked: text(row, 'model_asked'),
  }
}

export const USAGE_COLUMNS = [
  'id',
  'request_id',
  'key_id',
  'key_period',
  'frame_period',
  'state',
  'held_nanodollars',
  'cost_nanodollars',
  'price_version',
  'endpoint',
  'model_asked',
  'model_served',
  'provider',
  'status',
  'error_code',
  'input_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_long_tokens',
  'output_tokens',
  'reasoning_tokens',
  'estimated',
  'latency_ms',
  'first_token_ms',
  'end_user',
  'tags',
  'attempts',
  'reserved_at',
  'settled_at',
] as const

/** In the order of USAGE_COLUMNS. */
export function usageValues(row: UsageRow): Value[] {
  return [
    row.id,
    row.requestId,
    row.keyId,
    row.keyPeriod,
    row.framePeriod,
    row.state,
    row.heldNanodollars,
    row.costNanodollars,
    row.priceVersion,
    row.endpoint,
    row.modelAsked,
    row.modelServed,
    row.provider,
    row.status,
    row.errorCode,
    row.tokens.inputTokens,
    row.tokens.cachedTokens,
    row.tokens.cacheWriteTokens,
    row.tokens.cacheWriteLongTokens,
    row.tokens.outputTokens,
    row.tokens.reasoningTokens,
    row.estimated ? 1 : 0,
    row.latencyMs,
    row.firstTokenMs,
    row.endUser,
    row.tags,
    row.attempts,
    row.at,
    row.settledAt,
  ]
}

export function toUsageRow(row: Row): UsageRow {
  return {
    id: number(row, 'id'),
    requestId: text(row, 'request_id'),
    keyId: text(row, 'key_id'),
    keyPeriod: number(row, 'key_period'),
    framePeriod: number(row, 'frame_period'),
    state: text(row, 'state') as UsageState,
    heldNanodollars: money(row, 'held_nanodollars'),
    costNanodollars: money(row, 'cost_nanodollars'),
    priceVersion: maybe(text, row, 'price_version'),
    endpoint: text(row, 'endpoint') as Endpoint,
    modelAsked: text(row, 'model_asked'),
    modelServed: maybe(text, row, 'model_served'),
    provider: maybe(text, row, 'provider'),
    status: number(row, 'status'),
    errorCode: maybe(text, row, 'error_code'),
    tokens: {
      inputTokens: number(row, 'input_tokens'),
      cachedTokens: number(row, 'cached_tokens'),
      cacheWriteTokens: number(row, 'cache_write_tokens'),
      cacheWriteLongTokens: number(row, 'cache_write_long_tokens'),
      outputTokens: number(row, 'output_tokens'),
      reasoningTokens: number(row, 'reasoning_tokens'),
    },
    estimated: number(row, 'estimated') === 1,
    latencyMs: number(row, 'latency_ms'),
    firstTokenMs: maybe(number, row, 'first_token_ms'),
    endUser: maybe(text, row, 'end_user'),
    tags: text(row, 'tags'),
    attempts: text(row, 'attempts'),
    at: number(row, 'reserved_at'),
    settledAt: number(row, 'settled_at'),
  }
}

export const ROLLUP_KEY_COLUMNS = ['span', 'starts_at', 'key_id', 'model'] as const
export const ROLLUP_SUM_COLUMNS = [
  'requests',
  'errors',
  'refused',
  'estimated',
  'input_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_nanodollars',
] as const

/** In the order of ROLLUP_KEY_COLUMNS, then ROLLUP_SUM_COLUMNS. */
export function rollupValues(rollup: Rollup): Value[] {
  return [
    rollup.span,
    rollup.startsAt,
    rollup.keyId,
    rollup.model,
    rollup.requests,
    rollup.errors,
    rollup.refused,
    rollup.estimated,
    rollup.inputTokens,
    rollup.cachedTokens,
    rollup.cacheWriteTokens,
    rollup.outputTokens,
    rollup.reasoningTokens,
    rollup.cost,
  ]
}

export const ENTRY_COLUMNS = [
  'id',
  'at',
  'kind',
  'account_id',
  'period_seq',
  'hold_id',
  'before_nanodollars',
  'after_nanodollars',
  'actor',
  'reason',
  'origin',
] as const

/** In the order of ENTRY_COLUMNS. */
export function entryValues(entry: LedgerEntry): Value[] {
  return [
    entry.id,
    entry.at,
    entry.kind,
    entry.accountId,
    entry.periodSeq,
    entry.holdId,
    entry.before,
    entry.after,
    entry.actor,
    entry.reason,
    entry.origin,
  ]
}

function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`column ${column} holds ${String(value)}`)
  return value
}

export function number(row: Row, column: string): number {
  const value = Number(row[column])
  if (!Number.isSafeInteger(value))
    throw new RangeError(`column ${column} holds ${String(row[column])}`)
  return value
}

function money(row: Row, column: string): bigint {
  const value = row[column]
  if (typeof value !== 'bigint') throw new TypeError(`column ${column} holds ${String(value)}`)
  return value
}

function maybe<Result>(
  read: (row: Row, column: string) => Result,
  row: Row,
  column: string,
): Result | null {
  return row[column] === null ? null : read(row, column)
}

/** What the reservation fixed, whether it is still a hold or already an orphan's row. */
type Reservation = Pick<
  Hold,
  | 'id'
  | 'requestId'
  | 'keyId'
  | 'keyPeriod'
  | 'framePeriod'
  | 'heldNanodollars'
  | 'at'
  | 'endpoint'
  | 'modelAsked'
>

export function settledRow(charge: Charge, reservation: Reservation, settledAt: number): UsageRow {
  const { holdId: id, ...rest } = charge
  const { keyPeriod, framePeriod, heldNanodollars, at } = reservation
  return { ...rest, id, state: 'settled', keyPeriod, framePeriod, heldNanodollars, at, settledAt }
}

/** No provider was called, so there is no status of an answer: the row gets that of an answer nobody received. */
export function voidedRow(hold: Reservation, reason: string, settledAt: number): UsageRow {
  const row = unservedRow(hold, settledAt)
  return { ...row, state: 'voided', status: CLIENT_GONE_STATUS, errorCode: reason }
}

/** Charged in full: nobody can know how far the dead node's call got. */
export function orphanedRow(hold: Hold, settledAt: number): UsageRow {
  return {
    ...unservedRow(hold, settledAt),
    state: 'orphaned',
    status: 500,
    errorCode: 'orphaned',
    costNanodollars: hold.heldNanodollars,
    estimated: true,
  }
}

/** When a charge is raised, the difference has been free for others in between, so all of it is an overrun. */
export function adjustedRow(row: UsageRow, cost: Nanodollars): UsageRow {
  const isRaise = cost > row.costNanodollars
  const { costNanodollars: charged, heldNanodollars: held } = row
  const heldNanodollars = isRaise && charged < held ? charged : held
  return { ...row, state: 'adjusted', costNanodollars: cost, heldNanodollars }
}

/** A cost above its hold is charged in full; the excess is counted, so that it can be seen. */
export function overrunOf(cost: Nanodollars, held: Nanodollars): Nanodollars {
  return cost > held ? cost - held : 0n
}

function unservedRow(hold: Reservation, settledAt: number): Omit<UsageRow, 'state' | 'status'> {
  return {
    id: hold.id,
    requestId: hold.requestId,
    keyId: hold.keyId,
    keyPeriod: hold.keyPeriod,
    framePeriod: hold.framePeriod,
    heldNanodollars: hold.heldNanodollars,
    endpoint: hold.endpoint,
    modelAsked: hold.modelAsked,
    modelServed: null,
    provider: null,
    errorCode: null,
    tokens: NO_USAGE,
    costNanodollars: 0n,
    priceVersion: null,
    estimated: false,
    latencyMs: settledAt - hold.at,
    firstTokenMs: null,
    endUser: null,
    tags: '{}',
    attempts: '[]',
    at: hold.at,
    settledAt,
  }
}
