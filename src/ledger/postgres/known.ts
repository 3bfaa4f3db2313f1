// What a node knows of the books from its own recent batches, so that it need not read before it decides: accounts and
// the versions of their rows, the holds it made, and the time of the database. The statement that writes checks whether
// that is still true. Whoever changes a hold changes the frame as well: once another has, no hold is known any more.
import { FRAME_ID } from '../../store/database/tables.ts'
import type { Batch, Item, Snapshot, Writes } from '../rules/batch.ts'
import { accountsOf, knownHoldOf } from '../rules/decide.ts'
import { ageWindow } from '../rules/rates.ts'
import type { Account, Hold } from '../rules/rows.ts'
import { BatchCache } from '../rules/working-set.ts'

/** After so many batches in a row that found the frame as the one before had left it, no other node seems to be busy. */
const UNDISTURBED_MIN = 3

/** The time of the database is reckoned for so long, and so much slower than it goes: never ahead of it. */
const RECKONED_MS_MAX = 60_000
const RECKONED_PACE = 0.999

/** What a batch is decided on, with the version of each account's row. */
export type VersionedSnapshot = {
  readonly snapshot: Snapshot
  readonly versions: readonly string[]
}

export class Known {
  readonly #cache = new BatchCache()
  /** Of the rows of its accounts, by their ids. */
  readonly #versions = new Map<string, string>()
  #time: { readonly databaseMs: number; readonly atMs: number } | undefined
  /** Remembered longer than the frame itself. */
  #frameVersion: string | undefined
  #undisturbed = UNDISTURBED_MIN

  /** What the batch may be decided on without reading; undefined when it must read. `atMs` is the node's own time. */
  snapshotFor(batch: Batch, atMs: number): VersionedSnapshot | undefined {
    const now = this.#reckon(atMs)
    const mayBeKnown = !batch.isRetry && batch.nodeId !== null && batch.prices.length === 0
    if (now === undefined || !mayBeKnown || this.#undisturbed < UNDISTURBED_MIN) return undefined
    const holds = this.#holdsOf(batch.items)
    const accounts = this.#accountsOf(batch.items)
    if (holds === undefined || accounts === undefined) return undefined
    for (const account of accounts) account.rateWindow = ageWindow(account.rateWindow, now)
    const versions = accounts.map(({ id }) => this.#versions.get(id) ?? '')
    return { snapshot: { now, accounts, holds, usage: [] }, versions }
  }

  /** Takes note of what a batch had to read. */
  sawSnapshot({ snapshot, versions }: VersionedSnapshot, atMs: number): void {
    this.#time = { databaseMs: snapshot.now, atMs }
    const frame = versions.at(-1)
    const isAsLeft = this.#frameVersion === undefined || this.#frameVersion === frame
    this.#undisturbed = isAsLeft ? this.#undisturbed + 1 : 0
    if (!isAsLeft) this.#cache.holds.clear()
  }

  /** Takes note of what a batch has committed; `version` is that of all rows of accounts that it changed. */
  committed({ snapshot, versions }: VersionedSnapshot, writes: Writes, version: string): void {
    if (this.#cache.isFull) this.#versions.clear()
    this.#cache.remember(snapshot.accounts, writes)
    for (const [index, { id }] of snapshot.accounts.entries())
      this.#versions.set(id, versions[index] ?? '')
    for (const { id } of writes.accounts) this.#versions.set(id, version)
    this.#frameVersion = this.#versions.get(FRAME_ID)
  }

  /** What the database's clock said when an answer came at this time of the node. */
  sawTime(databaseMs: number, atMs: number): void {
    this.#time = { databaseMs, atMs }
  }

  /** A decision changes accounts in place: one that is not committed leaves nothing that can be trusted. */
  forget(): void {
    this.#cache.forget()
    this.#versions.clear()
  }

  #reckon(atMs: number): number | undefined {
    if (this.#time === undefined) return undefined
    const passedMs = atMs - this.#time.atMs
    if (passedMs > RECKONED_MS_MAX) return undefined
    return this.#time.databaseMs + Math.floor(passedMs * RECKONED_PACE)
  }

  /** Undefined when an item may concern a hold that is not known. */
  #holdsOf(items: readonly Item[]): readonly Hold[] | undefined {
    const holds: Hold[] = []
    for (const item of items) {
      if (!USUAL.has(item.kind)) return undefined
      const id = knownHoldOf(item, false)
      if (id === undefined) continue
      const hold = this.#cache.holds.get(id)
      if (hold === undefined) return undefined
      holds.push(hold)
    }
    return holds
  }

  #accountsOf(items: readonly Item[]): readonly Account[] | undefined {
    const accounts: Account[] = []
    for (const id of accountsOf(items)) {
      const account = this.#cache.accounts.get(id)
      if (account === undefined) return undefined
      accounts.push(account)
    }
    return accounts
  }
}

const USUAL: ReadonlySet<Item['kind']> = new Set([
  'reserve',
  'dry-run',
  'settle',
  'void',
  'refused',
])

/** Whether the statements for what nearly every batch writes write all of it. */
export function isUsual(writes: Writes): boolean {
  const { closedPeriods, periodDeltas, holdsChanged, usageCorrected, keyDays, entries } = writes
  const others = [closedPeriods, periodDeltas, holdsChanged, usageCorrected, keyDays, entries]
  return others.every(({ length }) => length === 0)
}
