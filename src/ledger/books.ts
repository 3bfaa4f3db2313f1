// The rows of the ledger. All money is nano-USD; a name says so where it is used outside this folder.
import type { Endpoint } from '../core/endpoints.ts'
import type { Nanodollars } from '../core/money.ts'
import type { PeriodRule } from '../core/periods.ts'
import type { UsageState } from '../store/tables.ts'
import type { HoldId, Settlement } from './ledger.ts'
import type { RateWindow } from './rates.ts'

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
