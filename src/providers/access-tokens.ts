// Access tokens that expire: fetched when they are needed, kept until shortly before their end, and fetched once however
// many requests wait for one. One that is turned away before its end has been withdrawn, and is fetched anew.
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { discard } from './discard.ts'
import type { UpstreamAnswer } from './provider.ts'

export type AccessToken = { readonly value: string; readonly expiresInSeconds: number }

/** A request must not set out with a token that ends on the way. */
const MARGIN_MS = 300_000
/** Whoever turns away a token as young as this would turn away the next one, too. */
const YOUNG_MS = 30_000

type Known = { readonly value: string; readonly sinceMs: number; readonly goodUntilMs: number }

export class AccessTokens {
  readonly #fetch: () => Promise<AccessToken>
  readonly #clock: Clock
  #known: Known | undefined
  #coming: Promise<string> | undefined

  constructor(fetch: () => Promise<AccessToken>, clock: Clock) {
    this.#fetch = fetch
    this.#clock = clock
  }

  async current(): Promise<string> {
    const known = this.#known
    if (known !== undefined && known.goodUntilMs > this.#clock.monotonicMs()) return known.value
    this.#coming ??= this.#renew()
    return this.#coming
  }

  /** Sends a request with the token, and once more with a fresh one when it is turned away: nothing was worked on. */
  async send(send: (token: string) => Promise<UpstreamAnswer>): Promise<UpstreamAnswer> {
    const token = await this.current()
    const answer = await send(token)
    if (answer.status !== 401 || !this.#withdraw(token)) return answer
    await discard(answer)
    return send(await this.current())
  }

  /** Whether there is a better one to be had. */
  #withdraw(token: string): boolean {
    const known = this.#known
    if (known?.value !== token) return true
    if (this.#clock.monotonicMs() - known.sinceMs < YOUNG_MS) return false
    this.#known = undefined
    return true
  }

  async #renew(): Promise<string> {
    try {
      const { value, expiresInSeconds } = await this.#fetch()
      const sinceMs = this.#clock.monotonicMs()
      this.#known = { value, sinceMs, goodUntilMs: sinceMs + expiresInSeconds * 1000 - MARGIN_MS }
      return value
    } catch (cause) {
      // Nothing was sent to any model yet.
      throw new GatewayError('provider_failed', 'the gateway could not sign in to the provider', {
        unbilled: true,
        forOperator: true,
        cause,
      })
    } finally {
      this.#coming = undefined
    }
  }
}
