// The rows of the ledger: their types, their columns in both databases, and how a hold ends as a usage row. All money is
// nano-USD; a name says so where it is used outside this folder.
import { compileFunction } from 'node:vm'
import type { Endpoint } from '../../core/endpoints.ts'
import { CLIENT_GONE_STATUS } from '../../core/errors.ts'
import { NO_USAGE, type Usage } from '../../core/events.ts'
import type { Nanodollars } from '../../core/money.ts'
import type { PeriodRule } from '../../core/periods.ts'
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

/** What a request cost and how it went. Its texts are storable, its price is named by version. */
export type UsageRow = Omit<Settlement, 'holdId' | 'tokens' | 'price' | 'tags' | 'attempts'> &
  Required<Omit<Usage, 'audioTokens' | 'webSearches'>> & {
    readonly id: HoldId
    readonly state: UsageState
    readonly keyPeriod: number
    readonly framePeriod: number
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
  'state' | 'keyPeriod' | 'framePeriod' | 'heldNanodollars' | 'at' | 'settledAt'
>

/** Changes to a closed period of an account. */
export type PeriodDelta = {
  readonly accountId: string
  readonly seq: number
  spent: Nanodollars
  held: Nanodollars
  overrun: Nanodollars
}

export type ClosedPeriod = Readonly<PeriodDelta> & {
  readonly startsAt: number
  readonly endsAt: number
  readonly limit: Nanodollars | null
  readonly grantedLimit: Nanodollars | null
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

/** What a database takes. It gives every integer as a bigint; money stays one, the rest become numbers. */
export type Stored = string | number | bigint | null
export type StoredRow = Readonly<Record<string, unknown>>

/** A field of a row: its column, and how its values get into a database, or to another thread, and back. */
type Column<Value> = {
  readonly name: string
  readonly type: 'bigint' | 'text'
  /** Whether a value is stored, and packed, as it is. */
  readonly isPlain: boolean
  write(value: Value): Stored
  /** `now` is the time of the database. */
  read(stored: unknown, now: number): Value
}

type Columns<Row> = { readonly [Field in keyof Row]-?: Column<Exclude<Row[Field], undefined>> }

type FieldColumn<Row> = Column<Row[keyof Row]> & { readonly field: keyof Row }

/** The columns of a row, in their order; reading, writing and packing it follow from them. */
type Layout<Row> = {
  readonly columns: readonly FieldColumn<Row>[]
  readonly names: readonly string[]
  readonly read: (stored: StoredRow, now: number) => Row
  readonly write: (row: Row) => Stored[]
  /** For JSON, which has no big integers: an amount that a number cannot hold exactly becomes a string of digits. */
  readonly pack: (row: Row) => Packed[]
  readonly unpack: (values: readonly Packed[]) => Row
}

export function layout<Row extends object>(byField: Columns<Row>): Layout<Row> {
  const fields = Object.keys(byField) as (keyof Row & string)[]
  const columns = fields.map((field) => ({ ...byField[field], field }))
  return { columns, names: columns.map(({ name }) => name), ...writtenOut(columns) }
}

type Functions = 'read' | 'write' | 'pack' | 'unpack'

/** As code, once for each layout: loops over the columns took 4 µs more for every request. */
function writtenOut<Row>(columns: readonly FieldColumn<Row>[]): Pick<Layout<Row>, Functions> {
  type Written = { readonly field: string; readonly name: string; readonly isPlain: boolean }
  const each = (code: (column: Written, index: number) => string): string =>
    columns
      .map(({ field, name, isPlain }, index) =>
        code({ field: String(field), name, isPlain }, index),
      )
      .join(', ')
  const code = `
    const [${each(({ field }) => field)}] = columns
    return {
      read: (stored, now) => ({ ${each(({ field, name }) => `${field}: ${field}.read(stored.${name}, now)`)} }),
      write: (row) => [${each(({ field, isPlain }) => (isPlain ? `row.${field}` : `${field}.write(row.${field})`))}],
      pack: (row) => [${each(({ field, isPlain }) => (isPlain ? `row.${field}` : `packed(${field}.write(row.${field}))`))}],
      unpack: (values) => ({ ${each(({ field, isPlain }, index) => `${field}: ${isPlain ? `values[${index}]` : `${field}.read(values[${index}], 0)`}`)} }),
    }`
  return compileFunction(code, ['columns', 'packed'])(columns, packed)
}

export type Packed = Exclude<Stored, bigint>

function packed(value: Stored): Packed {
  return typeof value === 'bigint' ? packAmount(value) : value
}

export function packAmount(amount: bigint): number | string {
  const number = Number(amount)
  return Number.isSafeInteger(number) ? number : String(amount)
}

export function text<Value extends string>(name: string): Column<Value> {
  const read = (stored: unknown): Value => {
    if (typeof stored !== 'string') throw new TypeError(`column ${name} holds ${String(stored)}`)
    return stored as Value
  }
  return { name, type: 'text', isPlain: true, read, write: (value) => value }
}

export function integer(name: string): Column<number> {
  const read = (stored: unknown): number => {
    const value = Number(stored)
    if (!Number.isSafeInteger(value)) throw new RangeError(`column ${name} holds ${String(stored)}`)
    return value
  }
  return { name, type: 'bigint', isPlain: true, read, write: (value) => value }
}

export function flag(name: string): Column<boolean> {
  const column = integer(name)
  return {
    name,
    type: 'bigint',
    isPlain: false,
    read: (stored) => column.read(stored, 0) === 1,
    write: (value) => (value ? 1 : 0),
  }
}

/** A number or digits only where it was packed. */
export function money(name: string): Column<bigint> {
  const read = (stored: unknown): bigint => {
    if (typeof stored === 'bigint') return stored
    if (typeof stored === 'number' || typeof stored === 'string') return BigInt(stored)
    throw new TypeError(`column ${name} holds ${String(stored)}`)
  }
  return { name, type: 'bigint', isPlain: false, read, write: (amount) => amount }
}

export function nullable<Value>(column: Column<Value>): Column<Value | null> {
  return {
    ...column,
    read: (stored, now) => (stored === null ? null : column.read(stored, now)),
    write: (value) => (value === null ? null : column.write(value)),
  }
}

type AccountChange = Omit<
  Account,
  | ('status' | 'expiresAt' | 'allowVersion' | 'limit' | 'rpm' | 'tpm' | 'concurrency')
  | ('period' | 'timezone' | 'weekStart')
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
}

/** Its id, then what a batch may change of it. */
export const ACCOUNT_CHANGE = layout(accountChange)

export const ACCOUNT = layout<Account>({
  ...accountChange,
  status: text('status'),
  expiresAt: nullable(integer('expires_at')),
  allowVersion: integer('allow_version'),
  limit: nullable(money('limit_nanodollars')),
  rpm: nullable(integer('rpm')),
  tpm: nullable(integer('tpm')),
  concurrency: nullable(integer('concurrency')),
  period: text('period'),
  timezone: text('timezone'),
  weekStart: text('week_start'),
})

const periodDelta: Columns<PeriodDelta> = {
  accountId: text('account_id'),
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

export const HOLD = layout<Hold>({
  id: integer('id'),
  requestId: text('request_id'),
  keyId: text('key_id'),
  keyPeriod: integer('key_period'),
  framePeriod: integer('frame_period'),
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
  endUser: nullable(text('end_user')),
  tags: text('tags'),
  attempts: text('attempts'),
}

export const CHARGE = layout(charge)

export const USAGE = layout<UsageRow>({
  ...charge,
  state: text('state'),
  keyPeriod: integer('key_period'),
  framePeriod: integer('frame_period'),
  heldNanodollars: money('held_nanodollars'),
  at: integer('reserved_at'),
  settledAt: integer('settled_at'),
})

export const ROLLUP = layout<Rollup>({
  span: text('span'),
  startsAt: integer('starts_at'),
  keyId: text('key_id'),
  model: text('model'),
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
})

/** The first columns of ROLLUP; the others are sums. */
export const ROLLUP_KEYS = 4

export const ENTRY = layout<LedgerEntry>({
  id: text('id'),
  at: integer('created_at'),
  kind: text('kind'),
  accountId: text('account_id'),
  periodSeq: integer('period_seq'),
  holdId: nullable(integer('hold_id')),
  before: money('before_nanodollars'),
  after: money('after_nanodollars'),
  actor: text('actor'),
  reason: text('reason'),
  origin: nullable(text('origin')),
})

export const PRICE = layout<PriceRow>({ version: text('version'), figures: text('figures') })

/** What the reservation fixed, whether it is still a hold or already an orphan's row. */
type Reservation = Omit<Hold, 'outputTokens' | 'capped' | 'estimatedTokens'>

export function settledRow(charge: Charge, reservation: Reservation, settledAt: number): UsageRow {
  const { keyPeriod, framePeriod, heldNanodollars, at } = reservation
  return { ...charge, state: 'settled', keyPeriod, framePeriod, heldNanodollars, at, settledAt }
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
    ...NO_USAGE,
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
