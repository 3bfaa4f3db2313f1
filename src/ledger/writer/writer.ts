// The node's one writer: whatever arrives while a batch is being committed becomes the next batch. One batch in flight,
// and no timer delays it. Decides nothing; makes sure that every item gets exactly one answer, whatever the database
// does. A batch frees before it grants, and offers what it frees to waiting asks first.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import type { Balances, HoldId } from '../ledger.ts'
import type { Batch, BatchResult, Item, Outcome } from '../rules/batch.ts'
import { isDemand, keyOf } from '../rules/decide.ts'
import type { PriceRow } from '../rules/rows.ts'

/** Runs a batch as one transaction: the seam between the writer and the two databases. */
export interface BatchRunner {
  /** Throws Unavailable when it is unknown whether the batch was committed; any other error means that it was not. */
  run(batch: Batch): Promise<BatchResult>
  close(): Promise<void>
}

export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

export type Done = {
  readonly outcome: Outcome
  readonly balances: Balances | undefined
}

type WriterOptions = {
  readonly runner: BatchRunner
  readonly clock: Clock
  /**
   * Joins the nodes and returns the new number, which must be above `former`; called again when another node has taken
   * this one for dead, or its hold ids run out.
   */
  readonly join: (former: number) => Promise<number>
  /** How many hold ids belong to one number. */
  readonly holdsPerNode: number
  /** Called with the time that each batch took which ran: how long a failure took says nothing about commits. */
  readonly onCommit?: ((durationMs: number) => void) | undefined
}

export type Submission = {
  readonly item: Item
  readonly timeoutMs: number
  /** The price a charge names. */
  readonly price?: PriceRow | undefined
  /** Ahead of everything that has not waited, in the order of these calls. */
  readonly first?: boolean
}

type Entry = {
  item: Item
  readonly price: PriceRow | undefined
  readonly deadlineMs: number
  /** An earlier try may have committed. */
  isRetry: boolean
  /** The caller has its answer, or there is no caller. */
  isAnswered: boolean
  readonly resolve: (done: Done) => void
  readonly reject: (error: unknown) => void
}

/** Asks that have waited come on top: they are few, and must not crowd new items out of every batch. */
const ITEMS_MAX = 256
/** More than a database can work off within any deadline; beyond it, waiting only wastes memory. */
const QUEUE_MAX = 20_000
const WATCH_MS = 100
const CLOSE_MS_MAX = 5000
const RETRY_MS = { first: 40, max: 500 }

export class Writer {
  /** Called while a batch is formed with those of its items that may free budget: asks submitted `first` now join it. */
  onFreed: (items: readonly Item[]) => void = () => {}
  readonly #options: WriterOptions
  readonly #watch: NodeJS.Timeout
  readonly #knownPrices = new Set<string>()
  #nodeId: number
  #holdCount = 0
  #queue: Entry[] = []
  #urgent: Entry[] = []
  #sent: readonly Entry[] = []
  #isBusy = false
  /** The last batch had one item: nobody else is likely to come, so the next one does not wait for others. */
  #isQuiet = true
  #isFailing = false
  #isClosed = false
  #idle: (() => void) | undefined

  static async start(options: WriterOptions): Promise<Writer> {
    return new Writer(options, await options.join(0))
  }

  private constructor(options: WriterOptions, nodeId: number) {
    this.#options = options
    this.#nodeId = nodeId
    this.#watch = setInterval(() => this.#giveUpLate(), WATCH_MS)
    this.#watch.unref()
  }

  get nodeId(): number {
    return this.#nodeId
  }

  /** Whether the database did not take the last batch, which is tried again until it is taken. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** Further holds would have the ids of the next number. */
  get #isUsedUp(): boolean {
    return this.#holdCount >= this.#options.holdsPerNode
  }

  /** An id for a hold that does not exist yet. */
  newHoldId(): HoldId {
    return this.#nodeId * this.#options.holdsPerNode + ++this.#holdCount
  }

  /** Resolves once the item is committed; rejects with Unavailable at its deadline, or with the item's own error. */
  submit(submission: Submission): Promise<Done> {
    const { promise, resolve, reject } = Promise.withResolvers<Done>()
    // An item without a deadline ends a hold, which must reach the books, and there are no more of those than open holds.
    const isFull = this.#queue.length >= QUEUE_MAX && submission.timeoutMs !== Infinity
    if (this.#isClosed || isFull) {
      reject(new Unavailable(this.#isClosed ? 'the ledger is closed' : 'the ledger is overloaded'))
      return promise
    }
    const entry: Entry = {
      item: submission.item,
      price: submission.price,
      deadlineMs: this.#options.clock.monotonicMs() + submission.timeoutMs,
      isRetry: false,
      isAnswered: false,
      resolve,
      reject,
    }
    if (submission.first === true) this.#urgent.push(entry)
    else this.#queue.push(entry)
    this.#wake()
    return promise
  }

  /** Takes nothing new, and returns when everything taken is committed, or after CLOSE_MS_MAX. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#isBusy) {
      const idle = new Promise<void>((resolve) => (this.#idle = resolve))
      await Promise.race([idle, pause(CLOSE_MS_MAX)])
    }
    clearInterval(this.#watch)
  }

  #wake(): void {
    if (this.#isBusy) return
    this.#isBusy = true
    void this.#work()
  }

  async #work(): Promise<void> {
    let failures = 0
    do {
      if (!this.#isQuiet) await gather()
      const entries = this.#take()
      this.#isQuiet = entries.length <= 1
      if (entries.length === 0) continue
      this.#sent = entries
      const isAnswered = await this.#commit(entries)
      this.#sent = []
      this.#isFailing = !isAnswered
      failures = isAnswered ? 0 : failures + 1
      if (!isAnswered) await pause(Math.min(RETRY_MS.first * 2 ** (failures - 1), RETRY_MS.max))
    } while (this.#queue.length + this.#urgent.length > 0)
    this.#isBusy = false
    // With nothing left to try again, nothing would show that the database is back.
    this.#isFailing = false
    this.#idle?.()
  }

  #take(): Entry[] {
    const freeing: Entry[] = []
    const others: Entry[] = []
    for (const entry of this.#queue.splice(0, ITEMS_MAX)) {
      const { item } = entry
      // The caller has given up, so if an earlier try did commit the hold, nobody would ever end it.
      if (entry.isAnswered && entry.isRetry && item.kind === 'reserve') entry.item = voidOf(item)
      if (!isWanted(entry)) continue
      if (mayFree(entry.item)) freeing.push(entry)
      else others.push(entry)
    }
    if (freeing.length > 0) this.onFreed(freeing.map(({ item }) => item))
    const urgent = this.#urgent.filter(isWanted)
    this.#urgent = []
    return [...freeing, ...urgent, ...others]
  }

  /** False when the database could not be reached: then the entries are back in the queue. */
  async #commit(entries: readonly Entry[]): Promise<boolean> {
    try {
      const result = this.#isUsedUp ? { live: false as const } : await this.#run(entries)
      if (result.live) this.#deliver(entries, result)
      else await this.#rejoin(entries)
      return true
    } catch (error) {
      if (error instanceof Unavailable) {
        for (const entry of entries) {
          entry.isRetry = true
          // This try may have extended the hold, and another would extend it again. Its caller can do without.
          if (entry.item.kind === 'extend') entry.reject(error)
        }
        const again = entries.filter(({ item }) => item.kind !== 'extend')
        this.#queue = [...again, ...this.#queue]
        return false
      }
      return this.#replay(entries, error)
    }
  }

  /** One item that the database rejects must not fail the others: now each gets its own transaction. */
  async #replay(entries: readonly Entry[], error: unknown): Promise<boolean> {
    const [only, ...others] = entries
    if (only !== undefined && others.length === 0) {
      only.isAnswered = true
      only.reject(error)
      // An earlier try may have committed its hold, and nobody else would ever end it.
      if (only.isRetry && only.item.kind === 'reserve') this.#voidLater(only.item)
      return true
    }
    for (const [index, entry] of entries.entries()) {
      if (await this.#commit([entry])) continue
      this.#queue.push(...entries.slice(index + 1))
      return false
    }
    return true
  }

  async #run(entries: readonly Entry[]): Promise<BatchResult> {
    const { runner, clock, onCommit } = this.#options
    const prices = new Map<string, PriceRow>()
    for (const { price } of entries) {
      if (price !== undefined && !this.#knownPrices.has(price.version)) {
        prices.set(price.version, price)
      }
    }
    const startedMs = clock.monotonicMs()
    const result = await runner.run({
      nodeId: this.#nodeId,
      items: entries.map((entry) => entry.item),
      prices: [...prices.values()],
      isRetry: entries.some((entry) => entry.isRetry),
    })
    onCommit?.(clock.monotonicMs() - startedMs)
    return result
  }

  #deliver(entries: readonly Entry[], result: Extract<BatchResult, { live: true }>): void {
    for (const [index, entry] of entries.entries()) {
      const outcome = result.outcomes[index]
      if (outcome === undefined) throw new Error('a batch must answer every item')
      const { item } = entry
      if (entry.price !== undefined) this.#knownPrices.add(entry.price.version)
      if (!entry.isAnswered) {
        entry.isAnswered = true
        entry.resolve({ outcome, balances: result.balances.get(keyOf(item)) })
      } else if (item.kind === 'reserve' && outcome.kind === 'judged' && outcome.answer.reserved) {
        // Granted after the caller was told that the ledger does not answer.
        this.#voidLater(item)
      }
    }
  }

  /** Joins under a new number: holds of the old one are being charged, or its ids are used up. Asks get new hold ids. */
  async #rejoin(entries: readonly Entry[]): Promise<void> {
    this.#nodeId = await this.#join()
    this.#holdCount = 0
    this.#queue = [...entries, ...this.#urgent, ...this.#queue]
    this.#urgent = []
    for (const entry of this.#queue) {
      const { item } = entry
      if (item.kind !== 'reserve') continue
      if (entry.isRetry) this.#voidLater(item)
      entry.item = { ...item, holdId: this.newHoldId() }
      entry.isRetry = false
    }
  }

  async #join(): Promise<number> {
    try {
      return await this.#options.join(this.#nodeId)
    } catch (cause) {
      throw new Unavailable('this node could not join again', { cause })
    }
  }

  /** No caller waits for the void, but it must reach the books. */
  #voidLater(item: Extract<Item, { kind: 'reserve' }>): void {
    this.#queue.push({
      item: voidOf(item),
      price: undefined,
      deadlineMs: Infinity,
      isRetry: true,
      isAnswered: true,
      resolve: () => {},
      reject: () => {},
    })
  }

  /** No caller waits longer than its deadline, whatever becomes of the batch with its item. */
  #giveUpLate(): void {
    const now = this.#options.clock.monotonicMs()
    for (const entries of [this.#sent, this.#urgent, this.#queue]) {
      for (const entry of entries) {
        if (entry.isAnswered || entry.deadlineMs > now) continue
        entry.isAnswered = true
        entry.reject(new Unavailable('the database does not answer'))
      }
    }
    this.#queue = this.#queue.filter(isWanted)
  }
}

/** False when the caller has given up and no earlier try can have changed anything. */
function isWanted(entry: Entry): boolean {
  return entry.isRetry || !entry.isAnswered
}

/** Settlements and the like, which never depend on asks in the same batch: their holds are older. */
function mayFree(item: Item): boolean {
  return !isDemand(item) && item.kind !== 'refused'
}

function voidOf({ holdId, ask }: Extract<Item, { kind: 'reserve' }>): Item {
  const { keyId, groupId } = ask
  return { kind: 'void', keyId, groupId, holdId, reason: 'abandoned' }
}

/** On an event loop busy with streams, more turns would delay requests for the sake of others that may never come. */
const GATHER_TURNS_MAX = 4

/**
 * Lets requests that have already arrived catch the next commit: the rest of this turn of the event loop, and more turns
 * while they bring events. A commit costs as much for one item as for many, so a busy node makes fewer.
 */
async function gather(): Promise<void> {
  let before = eventCount()
  for (let turn = 0; turn < GATHER_TURNS_MAX; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    const events = eventCount()
    if (events === before) return
    before = events
  }
}

function eventCount(): number {
  return performance.nodeTiming.uvMetricsInfo.events
}
