// What the rest of Tollgate may ask of the books, and the answers it gets. Types only: `open.ts` makes a Ledger,
// `rules/` decides. Money is nano-USD, prices are pico-USD, times are the database's milliseconds.
import type { CostLine, Price } from '../catalog/prices.ts'
import type { WorstCase } from '../catalog/worst-case.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { Usage } from '../core/events.ts'
import type { WhenTight } from '../core/limits.ts'
import type { Nanodollars } from '../core/money.ts'
import type { Period } from '../core/periods.ts'

export interface Ledger {
  /**
   * Commits a hold for the worst case of one request on all its legs, or says why not. Nothing may go
   * upstream before this has answered `reserved: true`. Waits up to 5 s for holds in flight and for a database that
   * does not answer. Every hold it grants must end in exactly one `settle` or `void`.
   */
  reserve(ask: Ask): Promise<Reserved | Refused>
  /** The answer `reserve` would give now, from the same code, without writing or waiting. */
  dryRun(ask: Ask): Promise<Reserved | Refused>
  /** Lowers a hold to what the request can still cost, once the provider has reported the true input. */
  trim(holdId: HoldId, amountNanodollars: Nanodollars): Promise<void>
  /** Raises a hold before an attempt that may cost a second time; false = that attempt may not be made. */
  extend(holdId: HoldId, extraNanodollars: Nanodollars): Promise<boolean>
  /**
   * Charges what a dispatched request cost and records it; idempotent, so a `finally` may repeat it. Resolves once
   * the charge is durable (in the database, or in the spool when that does not answer within 2 s); only then may
   * the answer be completed. Rejects when neither took it: the hold then stays and is charged as an orphan.
   */
  settle(settlement: Settlement): Promise<Settled>
  /**
   * Releases the hold of a request that was never dispatched. What was dispatched is settled, even at no cost. Waits up
   * to 2 s for the database; after that the release waits for it alone, in memory and in the spool.
   */
  void(holdId: HoldId, reason: string): Promise<void>
  /** The current figures of a key and of what is above it; a period that has ended already counts as closed. */
  balances(keyId: string): Promise<Balances | undefined>
  /** Counts a request that was turned away; lossy by design, because a refusal must cost next to nothing. */
  countRefused(ask: Refusable): void
  /** Writes what is waiting, leaves the list of live nodes, and stops. */
  close(): Promise<void>
}

/** Names a hold and later its usage row. A safe integer: the node's number times 2^33, plus a count. */
export type HoldId = number

export type Ask = {
  readonly requestId: string
  readonly keyId: string
  /** The group of the key, and the version of its settings (0 without one), that this request was checked against. */
  readonly groupId: string | null
  readonly groupVersion: number
  /** The version of the allowlist this request was checked against; a newer one in the books refuses the hold. */
  readonly allowVersion: number
  readonly endpoint: Endpoint
  /** By its public name, whatever the client called it; empty if the request concerns no model. */
  readonly modelAsked: string
  /** What it can cost at each target it may go to, in the order in which they would be tried; at least one. */
  readonly candidates: readonly WorstCase[]
  readonly whenTight: WhenTight
  /** What counts against tokens per minute until the true total is known. */
  readonly estimatedTokens: number
  /** False while the input is only bounded by its bytes: then an ask that does not fit is answered `recount`. */
  readonly recounted: boolean
  /** What only holds in flight keep out is then skipped like what spending keeps out, as long as another target fits. */
  readonly isLastTry?: boolean
  /** Aborted when the client goes away or its answer is cut; the ledger voids a hold granted after that. */
  readonly signal?: AbortSignal
}

/** As much of a request as is counted when it is turned away. */
export type Refusable = Pick<Ask, 'keyId' | 'groupId' | 'endpoint' | 'modelAsked'>

export type Reserved = {
  readonly reserved: true
  readonly holdId: HoldId
  /** The group that the hold is on as well: its settlement must name it. */
  readonly groupId: string | null
  readonly amountNanodollars: Nanodollars
  /** The output limit the hold pays for at the first target that is not skipped: it must be sent upstream. */
  readonly outputTokens: number
  /** Whether that is less than the client asked for. */
  readonly capped: boolean
  /** What became of each candidate, in their order; absent where there was only one. */
  readonly grants?: readonly Grant[]
  readonly waitedMs: number
  readonly balances: Balances
}

/** The hold pays for a call to this target with this output limit; or it is skipped, for spending or for holds. */
export type Grant = Pick<Reserved, 'outputTokens' | 'capped'> | 'budget' | 'held'

export type Refused = { readonly reserved: false } &
  /** `isFirstFit`: the first target fits as asked, and only later ones do not. */
  (
    | { readonly reason: 'recount'; readonly isFirstFit: boolean }
    | {
        readonly reason: 'key_status'
        /**
         * stale = the key or its group changed since the request was checked: look the key up again. archived = the
         * group of the key is.
         */
        readonly status: 'unknown' | 'paused' | 'revoked' | 'expired' | 'archived' | 'stale'
      }
    | {
        readonly reason: 'rate'
        /** Whose limit it is. */
        readonly scope: 'key' | 'group'
        readonly limit: 'rpm' | 'tpm' | 'concurrency'
        readonly retryAfterSeconds: number
        readonly balances: Balances
      }
    /** budget = spending stands in the way until the period ends; held = only holds in flight do. */
    | {
        readonly reason: 'budget' | 'held'
        readonly shortage: Shortage
        readonly balances: Balances
      }
    | { readonly reason: 'unavailable' }
    | { readonly reason: 'abandoned' }
  )

/** What a budget bounds: `model` = the cap of a key for one model, `request` = what a single request may cost. */
export type BudgetScope = 'key' | 'group' | 'frame' | 'model' | 'request'

/** Why an amount does not fit, in the words of docs/errors.md. */
export type Shortage = ShortLeg & {
  /** The candidate it is about: the cheapest, or the one that is waited for. */
  readonly candidate: number
  readonly limitNanodollars: Nanodollars
  readonly spentNanodollars: Nanodollars
  readonly heldNanodollars: Nanodollars
  readonly requiredNanodollars: Nanodollars
  /** The largest output limit that would be admitted now; null when not even the input fits. */
  readonly affordableOutputTokens: number | null
  /** What else has no room for it: all reset earlier. */
  readonly also: readonly ShortLeg[]
}

export type ShortLeg = {
  readonly scope: BudgetScope
  /** Null for the cost of one request, which has none. */
  readonly period: Period | null
  /** Null = never. */
  readonly resetsAt: number | null
}

/** Every budget of a key and of what is above it, and their rates. */
export type Balances = RateBalances & {
  readonly key: Balance
  readonly keyWindow: Balance | null
  readonly models: readonly ModelBalance[]
  /** Null = the key is in none. */
  readonly groupId: string | null
  readonly group: Balance | null
  readonly groupWindow: Balance | null
  readonly groupRates: RateBalances | null
  readonly frame: Balance
  readonly frameWindow: Balance | null
}

export type Balance = {
  readonly period: Period
  /** Null = nothing but the other budgets limits it. */
  readonly limitNanodollars: Nanodollars | null
  readonly spentNanodollars: Nanodollars
  readonly heldNanodollars: Nanodollars
  /** limit - spent - held, never below 0; null without a limit. */
  readonly remainingNanodollars: Nanodollars | null
  readonly startsAt: number
  readonly resetsAt: number | null
}

/** What is left of a key's cap for one model. */
export type ModelBalance = Balance & { readonly model: string }

export type RateBalances = {
  /** Null where there is no such limit. */
  readonly requests: RateBalance | null
  readonly tokens: RateBalance | null
  readonly concurrency: { readonly limit: number | null; readonly inFlight: number }
}

export type RateBalance = {
  readonly limit: number
  readonly remaining: number
  /** When the whole limit is free again. */
  readonly resetsAt: number
}

/** Everything the books keep of one dispatched request: its usage row. */
export type Settlement = {
  readonly holdId: HoldId
  readonly requestId: string
  readonly keyId: string
  /** The group of the reservation. */
  readonly groupId: string | null
  readonly endpoint: Endpoint
  readonly modelAsked: string
  /** The provider's model that answered, and the provider; null when none did. */
  readonly modelServed: string | null
  readonly provider: string | null
  /** The HTTP status sent to the client; 499 when it had gone. */
  readonly status: number
  readonly errorCode: string | null
  readonly tokens: Usage
  readonly costNanodollars: Nanodollars
  /** The price the cost was computed with, kept once per version, so that `explain` can compute it again. */
  readonly price: Price | null
  /** The provider's usage was missing or impossible, and what was received was charged instead. */
  readonly estimated: boolean
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  /** The trace it belongs to; null where tracing is off. */
  readonly traceId: string | null
  readonly endUser: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly attempts: readonly Attempt[]
}

/** One upstream call of a request, for `tollgate explain`. */
export type Attempt = {
  readonly target: string
  /** Why this target was asked: `target_…` of SENTENCES, with `; ` between several. */
  readonly why: string
  readonly outcome: string
  readonly durationMs: number
  /** What the attempt may have cost although it failed: part of the request's cost, in separate lines. */
  readonly charge?: AttemptCharge
}

/** Amounts as decimal text, because the attempts of a request are kept as JSON. */
export type AttemptCharge = {
  readonly lines: readonly (Omit<CostLine, 'eachPicodollars' | 'list'> & {
    readonly eachPicodollars: string
    readonly list?: { readonly eachPicodollars: string; readonly millionths: number }
  })[]
  readonly costNanodollars: string
}

export type Settled = {
  readonly durableIn: 'database' | 'spool'
  /** The cost in the books: for a repeated settlement, that of the first. */
  readonly costNanodollars: Nanodollars
  readonly overrunNanodollars: Nanodollars
  /** Absent when the database did not answer. */
  readonly balances?: Balances
}
