// One timer for all open streams: a stream that has been silent for a while says that it is still there, so that no
// proxy on the way takes it for dead. Its coarse clock also saves every write from asking for the time.
import type { Clock } from '../core/clock.ts'

interface Stream {
  keepAlive(silenceMs: number): void
}

const SILENCE_MS = 15_000
const LOOK_EVERY_MS = 1_000

export class KeepAlive {
  readonly #clock: Clock
  readonly #streams = new Set<Stream>()
  readonly #timer: NodeJS.Timeout
  nowMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.nowMs = clock.monotonicMs()
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  add(stream: Stream): void {
    this.#streams.add(stream)
  }

  remove(stream: Stream): void {
    this.#streams.delete(stream)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    this.nowMs = this.#clock.monotonicMs()
    for (const stream of this.#streams) stream.keepAlive(SILENCE_MS)
  }
}
