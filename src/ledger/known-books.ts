// The database thread's cache of the books: accounts and open holds of its own recent batches, which need not be read
// again. Worthless once anyone else has written, and then dropped as a whole.
import type { Writes } from './batch.ts'
import type { Account, Hold } from './books.ts'
import type { HoldId } from './ledger.ts'
import { ageWindow } from './rates.ts'

/** Enough for the keys that are busy at the same time. */
const ACCOUNTS_MAX = 10_000

export class KnownBooks {
  readonly holds = new Map<HoldId, Hold>()
  /** The node of the last batch, known to be live still. */
  liveNode: number | undefined
  readonly #accounts = new Map<string, Account>()
  #version: unknown

  /** SQLite changes its data_version when another connection commits: then everything known is stale. */
  assumeVersion(version: unknown): void {
    if (version !== this.#version) this.forget()
    this.#version = version
  }

  forget(): void {
    this.holds.clear()
    this.#accounts.clear()
    this.liveNode = undefined
  }

  /** As it stands now; a decision changes it in place. */
  account(id: string, now: number): Account | undefined {
    const account = this.#accounts.get(id)
    if (account !== undefined) account.rateWindow = ageWindow(account.rateWindow, now)
    return account
  }

  /** Keeps what a batch read and wrote. If the commit then fails, everything must be forgotten. */
  remember(accounts: readonly Account[], writes: Writes): void {
    if (this.#accounts.size > ACCOUNTS_MAX) this.#accounts.clear()
    for (const account of accounts) this.#accounts.set(account.id, account)
    for (const hold of writes.holdsInserted) this.holds.set(hold.id, hold)
    for (const { id, heldNanodollars } of writes.holdsChanged) {
      const hold = this.holds.get(id)
      if (hold !== undefined) this.holds.set(id, { ...hold, heldNanodollars })
    }
    for (const id of writes.holdsDeleted) this.holds.delete(id)
  }
}
