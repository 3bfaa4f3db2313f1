// Work that falls due again and again. A round that falls due while another runs is left out, so that a slow database
// piles up none.

export class Rounds {
  readonly #work: () => Promise<void>
  /** Called when a round fails and the one before it did not: an outage is reported once. */
  readonly #onFailing: (error: unknown) => void
  #running: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(work: () => Promise<void>, onFailing: (error: unknown) => void) {
    this.#work = work
    this.#onFailing = onFailing
  }

  begin(): void {
    this.#running ??= this.#go().finally(() => {
      this.#running = undefined
    })
  }

  /** Why the last round failed; undefined when it did not. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  /** Returns when no round runs. */
  async finish(): Promise<void> {
    await this.#running
  }

  async #go(): Promise<void> {
    try {
      await this.#work()
      this.#failure = undefined
    } catch (error) {
      if (this.#failure === undefined) this.#onFailing(error)
      this.#failure = { error }
    }
  }
}
