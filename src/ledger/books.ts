// The rows of the books and the batch that changes them, as plain data: what both databases read before a decision
// (`Page`), and what they write after it (`Writes`). No logic, so that a decision cannot depend on a database.
// All money is nano-USD; a name says so where it is used outside this folder.
import type { Endpoint } from '../core/endpoints.ts'
import type { Nanodollars } from '../core/money.ts'
import type { PeriodRule } from '../core/periods.ts'
import type { UsageState } from '../store/tables.ts'
import type { Ask, Balances, HoldId, Refused, Reserved, Settlement } from './ledger.ts'
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

export type Item =
  | { readonly kind: 'reserve'; readonly holdId: HoldId; readonly ask: PlainAsk }
  | { readonly kind: 'dry-run'; readonly ask: PlainAsk }
  | { readonly kind: 'settle'; readonly charge: Charge }
  | {
      readonly kind: 'void'
      readonly keyId: string
      readonly holdId: HoldId
      readonly reason: string
    }
  | {
      readonly kind: 'trim'
      readonly keyId: string
      readonly holdId: HoldId
      readonly amount: Nanodollars
    }
  | {
      readonly kind: 'extend'
      readonly keyId: string
      readonly holdId: HoldId
      readonly extra: Nanodollars
    }
  | { readonly kind: 'orphan'; readonly keyId: string; readonly holdId: HoldId }
  | {
      readonly kind: 'adjust'
      readonly keyId: string
      readonly holdId: HoldId
      readonly cost: Nanodollars
      readonly note: Note
    }
  /** For `top-up` and `reset`, `keyId` may also be the frame's id. */
  | {
      readonly kind: 'top-up'
      readonly keyId: string
      readonly amount: Nanodollars
      readonly note: Note
    }
  | { readonly kind: 'reset'; readonly keyId: string; readonly note: Note }
  | {
      readonly kind: 'refused'
      readonly keyId: string
      readonly model: string
      readonly count: number
    }

/** Who changed the books by hand, and why. */
export type Note = {
  readonly entryId: string
  readonly actor: string
  readonly reason: string
  /** JSON: where the actor made the change from. */
  readonly origin?: string
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

/** An ask that can cross to another thread. */
export type PlainAsk = Omit<Ask, 'signal'>

/** One per item, in the order of the items. Balances come once per key and batch, not with each outcome. */
export type Outcome =
  | { readonly kind: 'judged'; readonly answer: Granted | Refusal }
  | {
      readonly kind: 'settled'
      /** Where the hold was found. unknown = the books have never seen it. */
      readonly found: 'open' | 'corrected' | 'closed' | 'unknown'
      readonly cost: Nanodollars
      readonly overrun: Nanodollars
    }
  | { readonly kind: 'changed'; readonly done: boolean }

type Granted = Omit<Reserved, 'waitedMs' | 'balances'>
export type Refusal = WithoutBalances<Refused>
type WithoutBalances<Answer> = Answer extends unknown ? Omit<Answer, 'balances'> : never

export type Batch = {
  /** The node that must be live for this to commit; null for a command that grants nothing. */
  readonly nodeId: number | null
  readonly items: readonly Item[]
  /** Prices that charges name and that may not be in the books yet. */
  readonly prices: readonly PriceRow[]
  /** An earlier try may have committed without our knowing: look for its holds first. */
  readonly isRetry: boolean
}

export type BatchResult =
  | {
      readonly live: true
      readonly outcomes: readonly Outcome[]
      readonly balances: ReadonlyMap<string, Balances>
    }
  /** The node was taken for dead by another one: nothing was decided. */
  | { readonly live: false }

/** Everything a batch reads, once its accounts are locked. */
export type Page = {
  /** The database's clock, taken under the locks. */
  readonly now: number
  readonly accounts: readonly Account[]
  readonly holds: readonly Hold[]
  /** The usage rows of holds that the batch names and that are already closed. */
  readonly usage: readonly UsageRow[]
}

export type Writes = {
  readonly accounts: readonly Account[]
  readonly closedPeriods: readonly ClosedPeriod[]
  readonly periodDeltas: readonly PeriodDelta[]
  readonly holdsInserted: readonly Hold[]
  readonly holdsChanged: readonly { readonly id: HoldId; readonly heldNanodollars: Nanodollars }[]
  readonly holdsDeleted: readonly HoldId[]
  readonly usageInserted: readonly UsageRow[]
  readonly usageCorrected: readonly UsageRow[]
  readonly rollups: readonly Rollup[]
  readonly entries: readonly LedgerEntry[]
}
