// What the books say, as far as the database's thread knows it from its own last batches: accounts and open holds that
// need not be read again. Worth nothing once anybody else has written, and then forgotten as a whole.
import type { Account, Hold, Writes } from './books.ts'
import { ageWindow } from './rates.ts'

/** Enough for the keys that are busy at the same time. */
const ACCOUNTS_MAX = 10_000

export class KnownBooks {
  readonly holds = new Map<number, Hold>()
  /** The node of the last batch, which nobody has taken for dead since. */
  liveNode: number | undefined
  readonly #accounts = new Map<string, Account>()
  #version: unknown

  /** SQLite counts the commits of other connections: another number than before means that there was one. */
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

  /** Takes over what a batch read and wrote. If it is not committed after all, everything must be forgotten. */
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
