// How many requests may be sent a second time: a fifth of all that arrive, so that a provider in trouble does not get
// twice the work. Unused retries are saved up, because a target that dies fails all its requests at once.

const EARNED_PER_REQUEST = 0.2
const SAVED_AT_FIRST = 100
const SAVED_MAX = 1_000

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
