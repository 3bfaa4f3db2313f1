// The Ledger that keeps real books: turns calls into items for the writer, and the writer's outcomes into answers.
// It remembers which open holds belong to this process, and which asks wait until budget is freed; everything else it
// knows is in the database.
import type { Clock } from '../../core/clock.ts'
import { CLIENT_GONE_STATUS } from '../../core/errors.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Nanodollars } from '../../core/money.ts'
import { OUTAGE_MS_MAX } from '../../store/database/outage.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import type {
  Ask,
  Balance,
  Balances,
  HoldId,
  Ledger,
  Refusable,
  Refused,
  Reserved,
  Settled,
  Settlement,
  Shortage,
} from '../ledger.ts'
import { LatencyCounts } from '../reports/latencies.ts'
import type { Item, Outcome } from '../rules/batch.ts'
import { accountsOf } from '../rules/decide.ts'
import type { Charge } from '../rules/rows.ts'
import { assertNanodollars, checkedAsk, toCharge, toPriceRow } from '../rules/validation.ts'
import type { Spool, Spooled } from './spool.ts'
import { type Submission, type Writer, Unavailable } from './writer.ts'

/** With the new balance; undefined = it is not at hand, that of a group which the key has left meanwhile. */
export type OnSettled = (accountId: string, balance: Balance | undefined) => void

type DatabaseLedgerParts = {
  readonly clock: Clock
  readonly writer: Writer
  readonly readBalances: (keyId: string) => Promise<Balances | undefined>
  /** Takes settlements and voids that the database does not take; without it settlements fail. */
  readonly spool: Spool | undefined
  readonly writeLatencies: (counts: ReturnType<LatencyCounts['take']>) => Promise<void>
  /** Called for each account when a charge is in the database. */
  readonly onSettled?: OnSettled | undefined
  /** Called when spending keeps a request out. */
  readonly onRefused?: ((ask: Refusable, shortage: Shortage) => void) | undefined
  /** Whether the database took the node's last beat. */
  readonly isBeating: () => boolean
  /** Stops the node's background duties; they submit nothing afterwards. */
  readonly stopMaintenance: () => Promise<void>
  /** Leaves the list of live nodes and the database. */
  readonly leave: () => Promise<void>
}

const SETTLE_MS_MAX = 2000

/** An open hold: what its void needs. */
type Open = Pick<Ask, 'requestId' | 'keyId' | 'groupId' | 'endpoint' | 'modelAsked'> & {
  voided?: Promise<void>
}

/** Enough for a `finally` to repeat a settlement made a moment ago without asking the database. */
const SETTLED_KEPT = 256

export class DatabaseLedger implements Ledger {
  readonly #parts: DatabaseLedgerParts
  readonly #waiting: Waiting
  /** The open holds of this process, each until its end is in the books. */
  readonly #open = new Map<HoldId, Open>()
  /** Recent settlements, in two generations: the older one is dropped as a whole, at no cost. */
  #settled = new Map<HoldId, Promise<Settled>>()
  #settledBefore = new Map<HoldId, Promise<Settled>>()
  readonly #latencies = new LatencyCounts()
  #refused = new Map<string, Refusable & { count: number }>()

  constructor(parts: DatabaseLedgerParts) {
    this.#parts = parts
    this.#waiting = new Waiting((ask, first) => this.#ask(ask, first), parts.clock)
    parts.writer.onFreed = (items) => {
      if (!this.#waiting.isEmpty) this.#waiting.freed(new Set(accountsOf(items)))
    }
  }

  async reserve(ask: Ask): Promise<Reserved | Refused> {
    const answer = await this.#waiting.reserve(ask)
    const isRefused = !answer.reserved && answer.reason === 'budget'
    if (isRefused) this.#parts.onRefused?.(ask, answer.shortage)
    return answer
  }

  async dryRun(ask: Ask): Promise<Reserved | Refused> {
    const item: Item = { kind: 'dry-run', ask: checkedAsk(ask) }
    return this.#judge({ item, timeoutMs: OUTAGE_MS_MAX }, ask)
  }

  async trim(holdId: HoldId, amountNanodollars: Nanodollars): Promise<void> {
    assertNanodollars('hold', amountNanodollars)
    const open = this.#open.get(holdId)
    if (open === undefined) return
    const { keyId, groupId } = open
    await this.#change({ kind: 'trim', holdId, keyId, groupId, amount: amountNanodollars })
  }

  async extend(holdId: HoldId, extraNanodollars: Nanodollars): Promise<boolean> {
    assertNanodollars('extension', extraNanodollars)
    const open = this.#open.get(holdId)
    if (open === undefined) return false
    const { keyId, groupId } = open
    return this.#change({ kind: 'extend', holdId, keyId, groupId, extra: extraNanodollars })
  }

  async settle(settlement: Settlement): Promise<Settled> {
    const { holdId, price } = settlement
    const known = this.#settled.get(holdId) ?? this.#settledBefore.get(holdId)
    if (known !== undefined) return known
    const charge = toCharge(settlement)
    const settled = this.#settle({ charge, price: price === null ? undefined : toPriceRow(price) })
    this.#settled.set(holdId, settled)
    if (this.#settled.size >= SETTLED_KEPT) {
      this.#settledBefore = this.#settled
      this.#settled = new Map()
    }
    return settled
  }

  async void(holdId: HoldId, reason: string): Promise<void> {
    const open = this.#open.get(holdId)
    if (open === undefined) return
    open.voided ??= this.#void(holdId, open, reason)
    await open.voided
  }

  async balances(keyId: string): Promise<Balances | undefined> {
    return this.#parts.readBalances(keyId)
  }

  countRefused({ keyId, groupId, endpoint, modelAsked }: Refusable): void {
    const name = `${keyId} ${groupId} ${endpoint} ${modelAsked}`
    const known = this.#refused.get(name)
    if (known !== undefined) known.count += 1
    else this.#refused.set(name, { keyId, groupId, endpoint, modelAsked, count: 1 })
  }

  async close(): Promise<void> {
    await this.#parts.stopMaintenance()
    await this.flushCounts()
    await this.#parts.writer.close()
    await this.#parts.spool?.close()
    await this.#parts.leave()
  }

  /** False while the database has not taken this node's last write: then no request can be admitted. */
  canWrite(): boolean {
    return this.#parts.isBeating() && !this.#parts.writer.isFailing
  }

  /** Brings settlements spooled by other processes into the books; false when one of them has no hold there. */
  async replay(settlements: readonly Spooled[]): Promise<boolean> {
    const answers = await Promise.allSettled(
      settlements.map((spooled) => this.#charge(spooled, Infinity)),
    )
    return answers.every((answer) => answer.status === 'fulfilled')
  }

  /** Whether a request of this process still owns the hold. */
  owns(holdId: HoldId): boolean {
    return this.#open.has(holdId)
  }

  /** Writes the refusals and latencies counted since the last call. */
  async flushCounts(): Promise<void> {
    const counts = [...this.#refused.values()]
    this.#refused = new Map()
    await Promise.allSettled([
      ...counts.map((count) => this.#change({ kind: 'refused', ...count })),
      this.#parts.writeLatencies(this.#latencies.take()),
    ])
  }

  async #ask(ask: Ask, first: boolean): Promise<Reserved | Refused> {
    const { signal } = ask
    if (signal?.aborted) return { reserved: false, reason: 'abandoned' }
    const holdId = this.#parts.writer.newHoldId()
    const item: Item = { kind: 'reserve', holdId, ask: checkedAsk(ask) }
    const answer = await this.#judge({ item, timeoutMs: OUTAGE_MS_MAX, first }, ask)
    if (!answer.reserved) return answer
    const { requestId, keyId, groupId, endpoint, modelAsked } = ask
    this.#open.set(answer.holdId, { requestId, keyId, groupId, endpoint, modelAsked })
    if (!signal?.aborted) return answer
    // The client has gone or its answer was cut, so nothing will be dispatched on it.
    await this.void(answer.holdId, 'abandoned')
    return { reserved: false, reason: 'abandoned' }
  }

  async #judge(submission: Submission, { groupId }: Ask): Promise<Reserved | Refused> {
    try {
      const { outcome, balances } = await this.#parts.writer.submit(submission)
      const { answer } = expect('judged', outcome)
      // Only refusals caused by the accounts' figures carry balances.
      if (!answer.reserved && answer.reason !== 'rate' && !('shortage' in answer)) return answer
      if (balances === undefined) throw new Error('an account that was judged has balances')
      // Granted means that the group asked for is the key's.
      if (answer.reserved) return { ...answer, groupId, waitedMs: 0, balances }
      return { ...answer, balances }
    } catch (error) {
      if (error instanceof Unavailable) return { reserved: false, reason: 'unavailable' }
      throw error
    }
  }

  async #void(holdId: HoldId, open: Open, reason: string): Promise<void> {
    const { keyId, groupId } = open
    const item: Item = { kind: 'void', holdId, keyId, groupId, reason }
    try {
      await this.#release(item, SETTLE_MS_MAX)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      // It stays in the queue until it is in the books; the spool is for the next process, if this one dies before.
      const trying = this.#release(item, Infinity)
      trying.catch(() => {})
      const charge = nothingCharged(holdId, open, reason)
      await this.#keep({ charge, price: undefined }, trying).catch(() => {})
    }
  }

  async #release(item: Extract<Item, { kind: 'void' }>, timeoutMs: number): Promise<void> {
    try {
      await this.#parts.writer.submit({ item, timeoutMs })
    } catch (error) {
      if (error instanceof Unavailable) throw error
      // The database refused it, and would again: the sweep charges the hold in full.
      this.#open.delete(item.holdId)
      throw error
    }
    // Even if it found no hold: then somebody else has ended it.
    this.#open.delete(item.holdId)
  }

  async #settle(spooled: Spooled): Promise<Settled> {
    try {
      return await this.#charge(spooled, SETTLE_MS_MAX)
    } catch (error) {
      return this.#spool(spooled, error)
    }
  }

  /** Spools a settlement that the database did not take. If that fails too, the caller may settle again. */
  async #spool({ charge, price }: Spooled, error: unknown): Promise<Settled> {
    try {
      if (!(error instanceof Unavailable) || this.#parts.spool === undefined) throw error
      // The writer keeps trying for as long as this process lives; the spool is for the next process.
      const trying = this.#charge({ charge, price }, Infinity)
      trying.catch(() => {})
      await this.#keep({ charge, price }, trying)
      return { durableIn: 'spool', costNanodollars: charge.costNanodollars, overrunNanodollars: 0n }
    } catch (failure) {
      this.#settled.delete(charge.id)
      this.#settledBefore.delete(charge.id)
      // The database refused it, and would again: the sweep charges the hold in full.
      if (!(failure instanceof Unavailable)) this.#open.delete(charge.id)
      throw failure
    }
  }

  /** Keeps a settlement for the next process, until it is in the books. */
  async #keep(spooled: Spooled, inBooks: Promise<unknown>): Promise<void> {
    const { spool } = this.#parts
    await spool?.append(spooled)
    inBooks.then(
      () => spool?.done(),
      () => {},
    )
  }

  async #charge({ charge, price }: Spooled, timeoutMs: number): Promise<Settled> {
    const { outcome, balances } = await this.#parts.writer.submit({
      item: { kind: 'settle', charge },
      timeoutMs,
      price,
    })
    const { found, cost, overrun } = expect('settled', outcome)
    if (found === 'unknown') throw new Error(`hold ${charge.id} is not in the books`)
    // Not before the charge is in the books: the sweep charges a hold that nobody owns in full.
    this.#open.delete(charge.id)
    if (found === 'open') this.#latencies.add(charge, this.#parts.clock.now())
    if (balances !== undefined) {
      this.#parts.onSettled?.(charge.keyId, balances.key)
      if (balances.groupId !== null && balances.group !== null) {
        this.#parts.onSettled?.(balances.groupId, balances.group)
      }
      this.#parts.onSettled?.(FRAME_ID, balances.frame)
      // The key was moved meanwhile, and the charge stays with the group that it was reserved under.
      if (charge.groupId !== null && charge.groupId !== balances.groupId) {
        this.#parts.onSettled?.(charge.groupId, undefined)
      }
    }
    return {
      durableIn: 'database',
      costNanodollars: cost,
      overrunNanodollars: overrun,
      ...(balances !== undefined && { balances }),
    }
  }

  /** False when the change was not made, or may not have been: the books are safe without any of these changes. */
  async #change(item: Item): Promise<boolean> {
    try {
      const { outcome } = await this.#parts.writer.submit({ item, timeoutMs: SETTLE_MS_MAX })
      return expect('changed', outcome).done
    } catch (error) {
      if (error instanceof Unavailable) return false
      throw error
    }
  }
}

/** A void as the next process can make it: only a settlement says whose hold it means, after a restore as well. */
function nothingCharged(holdId: HoldId, open: Open, reason: string): Charge {
  return toCharge({
    ...open,
    holdId,
    modelServed: null,
    provider: null,
    status: CLIENT_GONE_STATUS,
    errorCode: reason,
    tokens: NO_USAGE,
    costNanodollars: 0n,
    price: null,
    estimated: false,
    latencyMs: 0,
    firstTokenMs: null,
    traceId: null,
    endUser: null,
    tags: {},
    attempts: [],
  })
}

function expect<Kind extends Outcome['kind']>(
  kind: Kind,
  outcome: Outcome,
): Extract<Outcome, { readonly kind: Kind }> {
  if (outcome.kind !== kind) throw new Error(`the books answered ${outcome.kind}, not ${kind}`)
  return outcome as Extract<Outcome, { readonly kind: Kind }>
}

// Asks that only holds in flight keep out wait here, first come first served, until something is freed or their time
// is up. Waiting grants nothing by itself: each turn is an ask like any other. Waiting asks go before new ones, but do
// not keep out a new one that needs less: one large ask would stop all the others.

/** Asks the books once; `first` = ahead of everything that has not waited. */
type AskOnce = (ask: Ask, first: boolean) => Promise<Reserved | Refused>

/** The only refusal that waiting can change. */
type HeldUp = Extract<Refused, { readonly shortage: unknown }>

type Waiter = {
  readonly ask: Ask
  readonly since: number
  readonly refusal: HeldUp
  readonly resolve: (answer: Reserved | Refused) => void
  readonly reject: (error: unknown) => void
}

const WAIT_MS_MAX = 5000
const WAITERS_MAX = 256
/** Budget freed by other nodes or by an administrator is not announced to this one. */
const POLL_MS = 100

export class Waiting {
  readonly #askOnce: AskOnce
  readonly #clock: Clock
  #waiters: Waiter[] = []
  #poll: NodeJS.Timeout | undefined

  constructor(askOnce: AskOnce, clock: Clock) {
    this.#askOnce = askOnce
    this.#clock = clock
  }

  /** The final answer, after waiting for as long as waiting can help. */
  async reserve(ask: Ask): Promise<Reserved | Refused> {
    const answer = await this.#askOnce(ask, false)
    if (answer.reserved || answer.reason !== 'held') return answer
    if (this.#waiters.length >= WAITERS_MAX) return this.#lastTry(ask, answer)
    return new Promise((resolve, reject) => {
      this.#wait({ ask, since: this.#clock.monotonicMs(), refusal: answer, resolve, reject })
    })
  }

  get isEmpty(): boolean {
    return this.#waiters.length === 0
  }

  /** Something is being freed on these accounts: asks waiting for it are tried again, in order, ahead of new ones. */
  freed(accountIds: ReadonlySet<string>): void {
    this.#wake(({ ask, refusal: { shortage } }) => {
      const { keyId, groupId } = ask
      if (accountIds.has(keyId) || (groupId !== null && accountIds.has(groupId))) return true
      // What frees any key frees the frame as well.
      return shortage.scope === 'frame' || shortage.also.some(({ scope }) => scope === 'frame')
    })
  }

  #wake(isConcerned: (waiter: Waiter) => boolean): void {
    const waiters = this.#waiters
    this.#waiters = waiters.filter((waiter) => !isConcerned(waiter))
    if (this.#waiters.length === 0) this.#stopPolling()
    for (const waiter of waiters) if (isConcerned(waiter)) this.#askAgain(waiter)
  }

  /** Keeps the order of arrival: another ask may have come while this one was tried again. */
  #wait(waiter: Waiter): void {
    const next = this.#waiters.findIndex(({ since }) => since > waiter.since)
    this.#waiters.splice(next < 0 ? this.#waiters.length : next, 0, waiter)
    this.#poll ??= setInterval(() => this.#wake(() => true), POLL_MS)
  }

  #askAgain(waiter: Waiter): void {
    const { ask, since, resolve } = waiter
    if (ask.signal?.aborted) return resolve({ reserved: false, reason: 'abandoned' })
    const isOver = this.#clock.monotonicMs() - since >= WAIT_MS_MAX
    const asked = isOver ? this.#lastTry(ask, waiter.refusal) : this.#askOnce(ask, true)
    asked.then((answer) => {
      if (answer.reserved) {
        resolve({ ...answer, waitedMs: this.#clock.monotonicMs() - since })
      } else if (answer.reason === 'held' && !isOver) this.#wait({ ...waiter, refusal: answer })
      else resolve(answer)
    }, waiter.reject)
  }

  /** A later target may fit although the one that was waited for does not. */
  async #lastTry(ask: Ask, refusal: HeldUp): Promise<Reserved | Refused> {
    return ask.candidates.length === 1 ? refusal : this.#askOnce({ ...ask, isLastTry: true }, true)
  }

  #stopPolling(): void {
    clearInterval(this.#poll)
    this.#poll = undefined
  }
}
