// The calling keys, in memory: a bounded copy of what the store has, dropped at once when the store changes.
import type { Caller } from './caller.ts'

const KEYS_MAX = 100_000
/** Unknown secrets are remembered for a while, so that repeated guesses do not reach the database each time. */
const UNKNOWN_MAX = 10_000

export class KeyDirectory {
  readonly #load: (hash: string) => Promise<Caller | undefined>
  readonly #callers = new Map<string, Caller>()
  readonly #unknown = new Set<string>()
  /** Grows with every change, so that a look-up that began before a change does not put back what it read. */
  #version = 0

  constructor(load: (hash: string) => Promise<Caller | undefined>) {
    this.#load = load
  }

  findBySecretHash(hash: string): Promise<Caller | undefined> | Caller {
    return this.#callers.get(hash) ?? this.#find(hash)
  }

  /** Something in the store changed: what is remembered may be out of date. */
  forget(): void {
    this.#version++
    this.#callers.clear()
    this.#unknown.clear()
  }

  async #find(hash: string): Promise<Caller | undefined> {
    if (this.#unknown.has(hash)) return undefined
    const version = this.#version
    const caller = await this.#load(hash)
    if (version !== this.#version) return caller
    if (caller === undefined) {
      if (this.#unknown.size >= UNKNOWN_MAX) this.#unknown.clear()
      this.#unknown.add(hash)
    } else {
      const oldest = this.#callers.keys().next()
      if (this.#callers.size >= KEYS_MAX && !oldest.done) this.#callers.delete(oldest.value)
      this.#callers.set(hash, caller)
    }
    return caller
  }
}
