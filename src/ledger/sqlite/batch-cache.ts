// Accounts and open holds of recent batches, which need not be read again: of the serving thread, which decides with them,
// and of the database's thread, which writes them. Worthless once anyone else has written, and then dropped as a whole.
import type { HoldId } from '../ledger.ts'
import type { HoldChanges } from '../rules/batch.ts'
import type { Account, Hold } from '../rules/rows.ts'

/** Enough for the keys that are busy at the same time. */
const ACCOUNTS_MAX = 10_000

export class BatchCache {
  readonly holds = new Map<HoldId, Hold>()
  /** As they stand now; a decision changes them in place. */
  readonly accounts = new Map<string, Account>()
  /** The node of the last batch, known to be live still. */
  liveNode: number | undefined

  forget(): void {
    this.holds.clear()
    this.accounts.clear()
    this.liveNode = undefined
  }

  /** Keeps what a batch read and decided. If that is then not committed, everything must be forgotten. */
  remember(accounts: readonly Account[], changes: HoldChanges): void {
    if (this.accounts.size > ACCOUNTS_MAX) this.accounts.clear()
    for (const account of accounts) this.accounts.set(account.id, account)
    for (const hold of changes.holdsInserted) this.holds.set(hold.id, hold)
    for (const { id, heldNanodollars } of changes.holdsChanged) {
      const hold = this.holds.get(id)
      if (hold !== undefined) this.holds.set(id, { ...hold, heldNanodollars })
    }
    for (const id of changes.holdsDeleted) this.holds.delete(id)
  }
}
