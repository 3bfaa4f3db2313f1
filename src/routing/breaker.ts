// One target's circuit breaker. A target rests after repeated failures, or when it says how long to wait; then single
// requests probe it until one succeeds. A target that fails often is tried after the others for a while. Keeps no
// timers: its state follows from the clock.
import type { Clock } from '../core/clock.ts'

/** This many failures in a row are no accident. */
const FAILURES_MAX = 5
/** Four answers make up for a failure: a target that fails more often uses up the whole retry budget. */
const MADE_UP_PER_ANSWER = 0.25
const SHAKY_MS = 10_000
const REST_MS_FIRST = 1_000
const REST_MS_MAX = 30_000
/** A provider may ask for a longer rest, but is probed after this one. */
export const ASKED_REST_MS_MAX = 600_000

/** accepted = the answer has begun; answered = it is complete. */
export type Outcome = 'accepted' | 'answered' | Failure
type Failure = {
  readonly failed: string
  readonly retryAfterSeconds?: number
  /** How the provider refused the gateway's own account, for the log: no rest fixes that. */
  readonly refusal?: string
}

/** What the calls so far say about a target. Failing = the last one failed, but it does not rest yet, or no longer. */
export type Standing =
  | { readonly name: 'uncalled' | 'answering' }
  | { readonly name: 'failing'; readonly why: Why }
  | { readonly name: 'resting'; readonly why: Why; readonly forMs: number }
export const STANDINGS = [
  'uncalled',
  'answering',
  'failing',
  'resting',
] as const satisfies readonly Standing['name'][]

type Rest = {
  readonly untilMs: number
  readonly why: Why
  /** The provider itself said for how long: then the first answer that begins ends it. */
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
  #shakyUntilMs = 0
  #restMs = REST_MS_FIRST
  /** Undefined = nothing is wrong with it. */
  #rest: Rest | undefined
  /** Grows with each change of state: the outcome of a request counts only in the state in which it began. */
  #era = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why the target gets no request now, and for how long; undefined = it may be sent one. */
  resting(): (Why & { readonly forMs: number }) | undefined {
    if (this.#rest === undefined) return undefined
    const forMs = this.#rest.untilMs - this.#clock.monotonicMs()
    return forMs > 0 ? { ...this.#rest.why, forMs } : undefined
  }

  standing(): Standing {
    const rest = this.resting()
    if (rest !== undefined) {
      const { forMs, ...why } = rest
      return { name: 'resting', why, forMs }
    }
    if (this.#why !== undefined) return { name: 'failing', why: this.#why }
    return { name: this.#hasAnswered ? 'answering' : 'uncalled' }
  }

  /** Whether other targets should be tried first. */
  isShaky(): boolean {
    return this.resting() !== undefined || this.#shakyUntilMs > this.#clock.monotonicMs()
  }

  /** A request goes to the target now. The caller reports its outcome, unless that says nothing about the target. */
  begin(): (outcome: Outcome) => void {
    // A probe: the next one waits as long as after a failure.
    if (this.#rest !== undefined) this.#rest = { ...this.#rest, untilMs: this.#in(this.#restMs) }
    const era = this.#era
    return (outcome) => {
      if (era !== this.#era) return
      if (outcome === 'answered') this.#recover()
      else if (outcome !== 'accepted') this.#fail(outcome)
      else if (this.#rest?.asked === true) this.#recover()
    }
  }

  #recover(): void {
    if (this.#rest !== undefined) this.#era += 1
    this.#rest = undefined
    this.#restMs = REST_MS_FIRST
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
    const isProbe = this.#rest !== undefined
    if (isProbe) this.#restMs = Math.min(this.#restMs * 2, REST_MS_MAX)
    if (retryAfterSeconds !== undefined) {
      const ms = Math.min(retryAfterSeconds * 1000, ASKED_REST_MS_MAX)
      this.#restAs({ untilMs: this.#in(ms), why, asked: true })
    } else if (isProbe || this.#failuresInARow >= FAILURES_MAX) {
      this.#restAs({ untilMs: this.#in(this.#restMs), why, asked: false })
    } else if (this.#failuresLeft >= FAILURES_MAX) {
      this.#failuresLeft = 0
      this.#shakyUntilMs = this.#in(SHAKY_MS)
    }
  }

  #restAs(rest: Rest): void {
    this.#rest = rest
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
