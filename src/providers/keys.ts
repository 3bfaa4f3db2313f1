// Several keys of one provider: requests take turns among them, and a key that the provider turns away is left alone for
// a while and the request sent with the next one. Nothing was worked on, so nothing is paid twice.
import type { Clock } from '../core/clock.ts'
import { discard } from './discard.ts'
import type { UpstreamAnswer } from './provider.ts'
import { retryAfterOf } from './retry-after.ts'

/** Too many requests with this key, or it is not valid. */
const TURNED_AWAY = [401, 403, 429]
/** Where the provider does not say for how long. */
const REST_MS = 10_000
const REST_MS_MAX = 600_000

type Send = (key: string | undefined) => Promise<UpstreamAnswer>

export class Keys {
  readonly #keys: readonly string[]
  readonly #clock: Clock
  readonly #restsUntilMs = new Map<string, number>()
  #turn = 0

  constructor(keys: readonly string[] | undefined, clock: Clock) {
    this.#keys = keys ?? []
    this.#clock = clock
  }

  /** The key whose turn it is; undefined for a provider that asks for none. */
  next(): string | undefined {
    return this.#inTurn()[0]
  }

  /** Sends a request with the key whose turn it is, and again with others for as long as keys are turned away. */
  send(send: Send): Promise<UpstreamAnswer> {
    return this.#keys.length < 2 ? send(this.#keys[0]) : this.#sendInTurn(send)
  }

  async #sendInTurn(send: Send): Promise<UpstreamAnswer> {
    const [first, ...others] = this.#inTurn()
    let answer = await send(first)
    let used = first
    for (const key of others) {
      if (used === undefined || !TURNED_AWAY.includes(answer.status)) return answer
      this.#rest(used, answer)
      if (this.#isResting(key)) return answer
      await discard(answer)
      answer = await send(key)
      used = key
    }
    return answer
  }

  /** All keys from the one whose turn it is, those that rest last. */
  #inTurn(): readonly string[] {
    const keys = this.#keys
    if (keys.length < 2) return keys
    const start = this.#turn++ % keys.length
    const turn = [...keys.slice(start), ...keys.slice(0, start)]
    return [
      ...turn.filter((key) => !this.#isResting(key)),
      ...turn.filter((key) => this.#isResting(key)),
    ]
  }

  #isResting(key: string): boolean {
    return (this.#restsUntilMs.get(key) ?? 0) > this.#clock.monotonicMs()
  }

  #rest(key: string, { headers }: UpstreamAnswer): void {
    const seconds = retryAfterOf(headers)
    const ms = seconds === undefined ? REST_MS : Math.min(seconds * 1000, REST_MS_MAX)
    this.#restsUntilMs.set(key, this.#clock.monotonicMs() + ms)
  }
}
