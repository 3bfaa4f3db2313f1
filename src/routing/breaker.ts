// What protects a provider in trouble: one circuit breaker per target, and a budget of retries per model. A breaker opens
// after repeated failures, or when the provider says how long to wait; then it is half-open: single requests probe the
// target until one succeeds. Keeps no timers: its state follows from the clock.
import type { Clock } from '../core/clock.ts'

/** This many failures in a row are no accident. */
const FAILURES_MAX = 5
/** Four answers make up for a failure: a target that fails more often uses up the whole retry budget. */
const MADE_UP_PER_ANSWER = 0.25
const UNSTABLE_MS = 10_000
const OPEN_MS_FIRST = 1_000
const OPEN_MS_MAX = 30_000

/** accepted = the answer has begun; answered = it is complete. */
export type Outcome = 'accepted' | 'answered' | Failure
type Failure = {
  readonly failed: string
  readonly retryAfterSeconds?: number
  /** How the provider refused the gateway's own account, for the log: no wait fixes that. */
  readonly refusal?: string
}

/** What the calls so far say about a target, as the admin API and /metrics name it. Resting = its breaker is open. */
export type Health =
  | { readonly name: 'uncalled' | 'answering' }
  | { readonly name: 'failing'; readonly why: Why }
  | { readonly name: 'resting'; readonly why: Why; readonly forMs: number }
export const HEALTH_NAMES = [
  'uncalled',
  'answering',
  'failing',
  'resting',
] as const satisfies readonly Health['name'][]

type Opening = {
  /** Half-open from then on. */
  readonly untilMs: number
  readonly why: Why
  /** The provider itself said for how long: then the first answer that begins closes it. */
  readonly asked: boolean
}

type Why = { readonly reason: string; readonly refusal?: string }

export class Breaker {
  readonly #clock: Clock
  #hasAnswered = false
  #failuresInARow = 0
  /** Of the last failure, until there is an answer. */
  #why: Why | undefined
  /** Failures that answers have not made up for. */
  #failuresLeft = 0
  #unstableUntilMs = 0
  #openMs = OPEN_MS_FIRST
  /** Undefined = closed. */
  #opening: Opening | undefined
  /** Grows with each change of state: the outcome of a request counts only in the state in which it began. */
  #era = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why the breaker is open, so that the target gets no request now, and for how long; undefined = it may be sent one. */
  whyOpen(): (Why & { readonly forMs: number }) | undefined {
    if (this.#opening === undefined) return undefined
    const forMs = this.#opening.untilMs - this.#clock.monotonicMs()
    return forMs > 0 ? { ...this.#opening.why, forMs } : undefined
  }

  health(): Health {
    const open = this.whyOpen()
    if (open !== undefined) {
      const { forMs, ...why } = open
      return { name: 'resting', why, forMs }
    }
    if (this.#why !== undefined) return { name: 'failing', why: this.#why }
    return { name: this.#hasAnswered ? 'answering' : 'uncalled' }
  }

  /** Whether other targets should be tried first: it is open, or failed often lately. */
  isUnstable(): boolean {
    return this.whyOpen() !== undefined || this.#unstableUntilMs > this.#clock.monotonicMs()
  }

  /** A request goes to the target now. The caller reports its outcome, unless that says nothing about the target. */
  begin(): (outcome: Outcome) => void {
    // Half-open, so this is a probe: the next one waits as long as after a failure.
    if (this.#opening !== undefined) {
      this.#opening = { ...this.#opening, untilMs: this.#in(this.#openMs) }
    }
    const era = this.#era
    return (outcome) => {
      if (era !== this.#era) return
      if (outcome === 'answered') this.#recover()
      else if (outcome !== 'accepted') this.#fail(outcome)
      else if (this.#opening?.asked === true) this.#recover()
    }
  }

  #recover(): void {
    if (this.#opening !== undefined) this.#era += 1
    this.#opening = undefined
    this.#openMs = OPEN_MS_FIRST
    this.#hasAnswered = true
    this.#failuresInARow = 0
    this.#why = undefined
    this.#failuresLeft = Math.max(0, this.#failuresLeft - MADE_UP_PER_ANSWER)
  }

  #fail({ failed: reason, retryAfterSeconds, refusal }: Failure): void {
    const why = { reason, ...(refusal === undefined ? {} : { refusal }) }
    this.#why = why
    this.#failuresInARow += 1
    this.#failuresLeft += 1
    const isProbe = this.#opening !== undefined
    if (isProbe) this.#openMs = Math.min(this.#openMs * 2, OPEN_MS_MAX)
    if (retryAfterSeconds !== undefined) {
      this.#openAs({ untilMs: this.#in(retryAfterSeconds * 1000), why, asked: true })
    } else if (isProbe || this.#failuresInARow >= FAILURES_MAX) {
      this.#openAs({ untilMs: this.#in(this.#openMs), why, asked: false })
    } else if (this.#failuresLeft >= FAILURES_MAX) {
      this.#failuresLeft = 0
      this.#unstableUntilMs = this.#in(UNSTABLE_MS)
    }
  }

  #openAs(opening: Opening): void {
    this.#opening = opening
    this.#era += 1
    this.#failuresLeft = 0
  }

  #in(ms: number): number {
    return this.#clock.monotonicMs() + ms
  }
}

const EARNED_PER_REQUEST = 0.2
const SAVED_AT_FIRST = 100
const SAVED_MAX = 1_000

/**
 * How many requests may be sent a second time: a fifth of all that arrive, so that a provider in trouble does not get
 * twice the work. Unused retries are saved up, because a target that dies fails all its requests at once.
 */
export class RetryBudget {
  #saved = SAVED_AT_FIRST

  /** A request has arrived. */
  earn(): void {
    this.#saved = Math.min(this.#saved + EARNED_PER_REQUEST, SAVED_MAX)
  }

  /** Whether a request may be sent once more. */
  take(): boolean {
    if (this.#saved < 1) return false
    this.#saved -= 1
    return true
  }
}
