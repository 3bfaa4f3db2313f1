// One timer for all that is open: a stream that has been silent for a while says that it is still there, so that no proxy
// on the way takes it for dead, and a client that takes nothing for long, or sends its body too slowly, is cut. Its coarse
// clock also saves every write from asking for the time.
import type { Clock } from '../core/clock.ts'
import { LinkedList, type Link } from '../core/linked-list.ts'

export interface Watched {
  look(nowMs: number, silenceMs: number): void
}

const SILENCE_MS = 15_000
const LOOK_EVERY_MS = 1_000

export class KeepAlive {
  readonly #clock: Clock
  readonly #watched = new LinkedList<Watched>()
  readonly #timer: NodeJS.Timeout
  nowMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.nowMs = clock.monotonicMs()
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  /** To be removed when it is closed. */
  add(one: Watched): Link<Watched> {
    return this.#watched.add(one)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    this.nowMs = this.#clock.monotonicMs()
    for (const one of this.#watched.members()) one.look(this.nowMs, SILENCE_MS)
  }
}
