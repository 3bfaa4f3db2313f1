// Access tokens that expire: fetched on demand, kept until shortly before they expire, and fetched once however many
// requests are waiting. A token that is refused before it expires has been revoked, and is replaced.
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { numberOf, stringOf } from '../../core/json.ts'
import { failed, fetchJson } from './fetch-json.ts'
import { discard, type HttpClient } from './http.ts'
import type { UpstreamAnswer } from './provider.ts'

type AccessToken = { readonly value: string; readonly expiresInSeconds: number }

/** A request must not carry a token that expires in transit. */
const MARGIN_MS = 300_000
/** A provider that refuses a token younger than this would refuse the next one too. */
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

  /** Sends a request, and once more with a fresh token if the first is refused: a refused request did no work. */
  async send(send: (token: string) => Promise<UpstreamAnswer>): Promise<UpstreamAnswer> {
    const token = await this.current()
    const answer = await send(token)
    if (answer.status !== 401 || !this.#withdraw(token)) return answer
    await discard(answer)
    return send(await this.current())
  }

  /** Forgets a refused token. False if it is so young that another would be refused too. */
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
      // No request has reached a model yet.
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

/** Fetches an access token by OAuth 2: posts a form with the credentials, gets a token with its lifetime. */
export async function fetchToken(
  http: HttpClient,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<AccessToken> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const call = { url, headers, body: new URLSearchParams(form) }
  // Many requests may wait for one token, so none of them may abort the call.
  const answer = await fetchJson(http, call, new AbortController().signal)
  const value = stringOf(answer['access_token'])
  if (value === undefined) throw failed(`${new URL(url).host} gave no access token`)
  return { value, expiresInSeconds: numberOf(answer['expires_in']) ?? 0 }
}
