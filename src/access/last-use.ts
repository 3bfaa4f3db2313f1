// When each key was last used, gathered and written every few seconds: for people who look for keys nobody needs, not
// worth a write per request.
import type { Clock } from '../core/clock.ts'

const WRITE_EVERY_MS = 5_000

export class LastUse {
  readonly #clock: Clock
  readonly #write: (usedAt: ReadonlyMap<string, number>) => Promise<void>
  readonly #timer: NodeJS.Timeout
  #usedAt = new Map<string, number>()

  constructor(clock: Clock, write: (usedAt: ReadonlyMap<string, number>) => Promise<void>) {
    this.#clock = clock
    this.#write = write
    this.#timer = setInterval(() => void this.#flush(), WRITE_EVERY_MS)
    this.#timer.unref()
  }

  note(keyId: string): void {
    this.#usedAt.set(keyId, this.#clock.now())
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#usedAt.size === 0) return
    const usedAt = this.#usedAt
    this.#usedAt = new Map()
    try {
      await this.#write(usedAt)
    } catch {
      // The database is away. The keys that are used will be used again; the others lose a few seconds.
    }
  }
}
