// How many requests may be sent a second time: a fifth of all that come, so that a provider in trouble does not get
// twice the work. What is not used is saved up, because a target that dies takes all its requests along at once.

const EARNED_PER_REQUEST = 0.2
const SAVED_AT_FIRST = 100
const SAVED_MAX = 1_000

export class RetryBudget {
  #saved = SAVED_AT_FIRST

  /** A request has come. */
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
