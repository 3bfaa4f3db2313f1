// When each key was last used, and each of its secrets during a rotation. Gathered, and written every few seconds: it
// helps people find unused keys, and is not worth a write per request.
import type { Clock } from '../core/clock.ts'
import type { Used } from '../store/last-use.ts'
import type { Caller } from './caller.ts'

const WRITE_EVERY_MS = 5_000

export class LastUse {
  readonly #clock: Clock
  readonly #write: (used: Used) => Promise<void>
  readonly #timer: NodeJS.Timeout
  #keys = new Map<string, number>()
  #secrets = new Map<string, number>()

  constructor(clock: Clock, write: (used: Used) => Promise<void>) {
    this.#clock = clock
    this.#write = write
    this.#timer = setInterval(() => void this.#flush(), WRITE_EVERY_MS)
    this.#timer.unref()
  }

  note({ keyId, secretHash }: Pick<Caller, 'keyId' | 'secretHash'>): void {
    const now = this.#clock.now()
    this.#keys.set(keyId, now)
    if (secretHash !== null) this.#secrets.set(secretHash, now)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#keys.size === 0) return
    const used = { keys: this.#keys, secrets: this.#secrets }
    this.#keys = new Map()
    this.#secrets = new Map()
    try {
      await this.#write(used)
    } catch {
      // The database is away. Keys in use will be noted again; of the others these few seconds of use go unrecorded.
    }
  }
}
