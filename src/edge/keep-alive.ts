// One timer for everything that is open. A stream that has been silent for a while sends a keep-alive, so that no proxy
// takes it for dead; a client that reads nothing for long, or sends its body too slowly, is cut. The timer's coarse
// clock also saves reading the time on every write.
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { LinkedList, type Link } from '../core/linked-list.ts'

export interface Watched {
  look(nowMs: number): void
}

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

  /** The caller removes the link when `one` closes. */
  add(one: Watched): Link<Watched> {
    return this.#watched.add(one)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    this.nowMs = this.#clock.monotonicMs()
    for (const one of this.#watched.members()) one.look(this.nowMs)
  }
}

export function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'the request took too long to arrive: send it again')
}
