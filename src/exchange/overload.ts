// More requests than can be served: whom the gateway turns away, before it has done anything for them, so that those it
// takes are answered in time. In the manner of CoDel: a queue is too long when even the fastest request of a while waited
// too long in it, and then as many may wait as were let through within the time that they may wait. A request that was
// taken is never turned away.
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { Log } from '../telemetry/log.ts'

type OverloadOptions = {
  readonly clock: Clock
  readonly log: Log
  /** How many requests may wait for their holds at most. */
  readonly waitingMax: number
  /** How long they may wait for them, if more come than can be served. */
  readonly waitingMs: number
}

const LOOK_EVERY_MS = 100
/** A burst, a large body or a commit that takes long is no overload. */
const LATE_LOOKS = 2
/** So many may always wait: a gateway that is slow because of something else still serves. */
const WAITING_LEAST = 32
/** How long nobody must have been turned away until it is over, for the log. */
const OVER_AFTER_MS = 5_000

/** The answer to a request that is turned away. It has no line in the log: there may be thousands of them. */
export class TurnedAway extends GatewayError {
  constructor(message: string, retryAfterSeconds: number) {
    super('overloaded', message, { retryAfterSeconds })
  }
}

export class Overload implements Disposable {
  readonly #options: OverloadOptions
  readonly #timer: NodeJS.Timeout
  /** How many may wait at present. */
  #waitingMax: number
  #waiting = 0
  /** Of those that came through since the last look: their number, and how long the fastest waited. */
  #passed = 0
  #fastestMs = Infinity
  #shed = 0
  /** Whether any of those were turned away because too many waited. */
  #isFull = false
  #lookedMs: number
  #lateLooks = 0
  #passedPerMs = 0
  /** From the first request that is turned away until a while after the last. */
  #episode: { readonly sinceMs: number; lastMs: number; shed: number } | undefined

  constructor(options: OverloadOptions) {
    this.#options = options
    this.#waitingMax = options.waitingMax
    this.#lookedMs = options.clock.monotonicMs()
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  /** Requests that wait for their holds. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether requests are being turned away. */
  get isShedding(): boolean {
    return this.#episode !== undefined
  }

  /** A request waits for its hold from now on; returns what its end must be told. Throws if too many wait. */
  begin(): number {
    // At their heads there may have been room for all that came at once.
    if (this.#waiting >= this.#options.waitingMax) throw this.shed('requests')
    this.#waiting += 1
    return this.#options.clock.monotonicMs()
  }

  /** The ledger has decided. */
  end(sinceMs: number): void {
    const waitedMs = this.#options.clock.monotonicMs() - sinceMs
    if (waitedMs < this.#fastestMs) this.#fastestMs = waitedMs
    this.#waiting -= 1
    this.#passed += 1
  }

  /** Why the next request is turned away; asked before anything is done for it. */
  refusal(): TurnedAway | undefined {
    return this.#waiting < this.#waitingMax ? undefined : this.shed('requests')
  }

  /** Turns a request away, because there are too many of something. */
  shed(tooMany: keyof typeof REFUSALS): TurnedAway {
    const { clock, log } = this.#options
    this.#shed += 1
    if (tooMany === 'requests') this.#isFull = true
    if (this.#episode === undefined) {
      const now = clock.monotonicMs()
      this.#episode = { sinceMs: now, lastMs: now, shed: 0 }
      const waiting = { waiting: this.#waiting, waiting_max: this.#waitingMax }
      log.warn('overloaded', { too_many: tooMany, ...waiting })
    }
    const refusals = REFUSALS[tooMany]
    return refusals[Math.floor(Math.random() * refusals.length)] ?? refusals[0]
  }

  /** Called by the timer. */
  look(): void {
    const { clock, waitingMax, waitingMs } = this.#options
    const now = clock.monotonicMs()
    if (this.#passed > 0) {
      const passedPerMs = this.#passed / Math.max(now - this.#lookedMs, 1)
      this.#passedPerMs = (this.#passedPerMs + passedPerMs) / 2
      this.#lateLooks = this.#fastestMs > waitingMs ? this.#lateLooks + 1 : 0
    }
    // Those that are let in wait no longer than they may; that does not mean that there are not too many.
    const isLimited = this.#waitingMax < waitingMax && this.#isFull
    const inTime = Math.max(Math.ceil(this.#passedPerMs * waitingMs), WAITING_LEAST)
    const isOver = this.#lateLooks >= LATE_LOOKS || isLimited
    this.#waitingMax = isOver ? Math.min(inTime, waitingMax) : waitingMax
    this.#noteEpisode(now)
    this.#lookedMs = now
    this.#passed = 0
    this.#fastestMs = Infinity
    this.#shed = 0
    this.#isFull = false
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #noteEpisode(now: number): void {
    const episode = this.#episode
    if (episode === undefined) return
    episode.shed += this.#shed
    if (this.#shed > 0) episode.lastMs = now
    if (now - episode.lastMs < OVER_AFTER_MS) return
    const seconds = Math.round((episode.lastMs - episode.sinceMs) / 1_000)
    this.#options.log.info('overload_over', { requests: episode.shed, seconds })
    this.#episode = undefined
  }
}

const MORE_THAN_SERVED = 'this gateway has more requests than it can serve: try again shortly'

/** Made once, because a stack costs as much as the rest of a refusal. Those who come back do not all come at once. */
const REFUSALS = {
  requests: refusalsWith(MORE_THAN_SERVED),
  connections: refusalsWith(MORE_THAN_SERVED),
  bodies: refusalsWith('too many large requests at once: try again shortly'),
}

function refusalsWith(message: string): readonly [TurnedAway, TurnedAway, TurnedAway] {
  return [new TurnedAway(message, 1), new TurnedAway(message, 2), new TurnedAway(message, 3)]
}
