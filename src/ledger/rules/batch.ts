// A batch as plain data: what it asks, what both databases read before the decision (`Snapshot`), what they write after it
// (`Writes`), and what they answer. No logic, so that a decision cannot depend on a database.
import type { Nanodollars } from '../../core/money.ts'
import type { BudgetName } from '../../store/accounts/budgets.ts'
import type { Ask, Balances, HoldId, Refusable, Refused, Reserved } from '../ledger.ts'
import type {
  Account,
  Charge,
  ClosedPeriod,
  Hold,
  KeyDay,
  LedgerEntry,
  PeriodDelta,
  PriceRow,
  Rollup,
  UsageRow,
} from './rows.ts'

/** A hold, and the accounts it is on: one statement locks everything that a batch moves. */
export type OnHold = {
  readonly keyId: string
  readonly groupId: string | null
  readonly holdId: HoldId
}
/** May also be on a group or the frame, by its id. */
type Adjustment = { readonly keyId: string; readonly budget: BudgetName; readonly note: Note }

export type Item =
  | { readonly kind: 'reserve'; readonly holdId: HoldId; readonly ask: CheckedAsk }
  | { readonly kind: 'dry-run'; readonly ask: CheckedAsk }
  | { readonly kind: 'settle'; readonly charge: Charge }
  | (OnHold & { readonly kind: 'void'; readonly reason: string })
  | (OnHold & { readonly kind: 'trim'; readonly amount: Nanodollars })
  | (OnHold & { readonly kind: 'extend'; readonly extra: Nanodollars })
  | (OnHold & { readonly kind: 'orphan' })
  | (OnHold & { readonly kind: 'adjust'; readonly cost: Nanodollars; readonly note: Note })
  | (Adjustment & { readonly kind: 'top-up'; readonly amount: Nanodollars })
  | (Adjustment & { readonly kind: 'reset' })
  | (Refusable & { readonly kind: 'refused'; readonly count: number })

/** Who changed the books by hand, and why. */
export type Note = {
  readonly entryId: string
  readonly actor: string
  readonly reason: string
  /** JSON: where the actor made the change from. */
  readonly origin?: string
}

/** An ask that can cross to another thread. */
export type CheckedAsk = Omit<Ask, 'signal'>

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

export type Granted = Omit<Reserved, 'groupId' | 'waitedMs' | 'balances'>
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
export type Snapshot = {
  /** The database's clock, taken under the locks. */
  readonly now: number
  readonly accounts: readonly Account[]
  readonly holds: readonly Hold[]
  /** The usage rows of holds that the batch names and that are already closed. */
  readonly usage: readonly UsageRow[]
}

/** What became of holds. */
export type HoldChanges = {
  readonly holdsInserted: readonly Hold[]
  readonly holdsChanged: readonly { readonly id: HoldId; readonly heldNanodollars: Nanodollars }[]
  readonly holdsDeleted: readonly HoldId[]
}

export type Writes = HoldChanges & {
  readonly accounts: readonly Account[]
  readonly closedPeriods: readonly ClosedPeriod[]
  readonly periodDeltas: readonly PeriodDelta[]
  readonly usageInserted: readonly UsageRow[]
  readonly usageCorrected: readonly UsageRow[]
  readonly rollups: readonly Rollup[]
  readonly keyDays: readonly KeyDay[]
  readonly entries: readonly LedgerEntry[]
}
