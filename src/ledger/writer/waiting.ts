// Asks that only holds in flight keep out wait here, first come first served, until something is freed or their time
// is up. Waiting grants nothing by itself: each turn is an ask like any other. Waiting asks go before new ones, but do
// not keep out a new one that needs less: one large ask would stop all the others.
import type { Clock } from '../../core/clock.ts'
import type { Ask, Refused, Reserved } from '../ledger.ts'

export type ReserveResult = Reserved | Refused

/** Asks the books once; `first` = ahead of everything that has not waited. */
type AskOnce = (ask: Ask, first: boolean) => Promise<ReserveResult>

/** The only refusal that waiting can change. */
type HeldUp = Extract<Refused, { readonly shortage: unknown }>

type Waiter = {
  readonly ask: Ask
  readonly since: number
  readonly refusal: HeldUp
  readonly resolve: (answer: ReserveResult) => void
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
  async reserve(ask: Ask): Promise<ReserveResult> {
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
  async #lastTry(ask: Ask, refusal: HeldUp): Promise<ReserveResult> {
    return ask.candidates.length === 1 ? refusal : this.#askOnce({ ...ask, isLastTry: true }, true)
  }

  #stopPolling(): void {
    clearInterval(this.#poll)
    this.#poll = undefined
  }
}
