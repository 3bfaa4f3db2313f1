// What requests to a provider prove themselves with: one of several keys, or an access token that expires. Where one is
// refused, the request is sent again with another: the refused request did no work, so nothing is paid twice.
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { numberOf, parseObject, stringOf } from '../../core/json.ts'
import type { Log } from '../../telemetry/log.ts'
import { decodeErrorBody, refusesContent } from '../../wire/contract/errors.ts'
import { failed, fetchJson } from './fetch-json.ts'
import {
  discard,
  FAILURE_BYTES_MAX,
  inOnePiece,
  readWhole,
  retryAfterOf,
  type HttpClient,
} from './http.ts'
import type { UpstreamAnswer } from './provider.ts'

// Several keys of one provider: requests take turns among them. A key that the provider turns away cools down, and the
// request is sent with the next one. A request that is refused for its content is not sent again.

/** The key is invalid, or lacks permission. */
const REFUSED = [401, 403]
/** The same, or the key has sent too many requests. */
const TURNED_AWAY = [...REFUSED, 429]
/** Used when the provider does not say how long. */
const COOLDOWN_SECONDS = 10

type Send = (key: string | undefined) => Promise<UpstreamAnswer>

type KeySettings = { readonly name: string; readonly apiKeys?: readonly string[] | undefined }
type KeyTools = { readonly clock: Clock; readonly log: Pick<Log, 'error'> }

export class KeyPool {
  readonly #keys: readonly string[]
  readonly #provider: string
  readonly #clock: Clock
  readonly #log: Pick<Log, 'error'>
  readonly #coolsUntilMs = new Map<string, number>()
  /** Keys already reported to the operator, until they work again. */
  readonly #refused = new Set<string>()
  #turn = 0

  constructor({ name, apiKeys = [] }: KeySettings, { clock, log }: KeyTools) {
    this.#provider = name
    this.#keys = apiKeys
    this.#clock = clock
    this.#log = log
  }

  /** The key whose turn it is; undefined for a provider that needs none. */
  next(): string | undefined {
    return this.#inTurn()[0]
  }

  /** Sends a request with the key whose turn it is; while keys are turned away, with others that do not cool down. */
  send(send: Send): Promise<UpstreamAnswer> {
    const [first, ...others] = this.#inTurn()
    if (first === undefined || others.length === 0) return send(first)
    return this.#sendWith(first, others, send)
  }

  async #sendWith(key: string, others: readonly string[], send: Send): Promise<UpstreamAnswer> {
    const { answer, isForContent } = await read(await send(key))
    if (isForContent) return answer
    this.#note(key, answer)
    if (!TURNED_AWAY.includes(answer.status)) return answer
    this.#coolDown(key, answer)
    const [next, ...afterwards] = others
    if (next === undefined || this.#isCooling(next)) return answer
    await discard(answer)
    return this.#sendWith(next, afterwards, send)
  }

  /** All keys, beginning with the one whose turn it is; those that cool down last. */
  #inTurn(): readonly string[] {
    const keys = this.#keys
    if (keys.length < 2) return keys
    const start = this.#turn++ % keys.length
    const turn = [...keys.slice(start), ...keys.slice(0, start)]
    return [
      ...turn.filter((key) => !this.#isCooling(key)),
      ...turn.filter((key) => this.#isCooling(key)),
    ]
  }

  #isCooling(key: string): boolean {
    return (this.#coolsUntilMs.get(key) ?? 0) > this.#clock.monotonicMs()
  }

  /** Reports a refused key: the others answer in its place, so nothing else would reveal that it is useless. */
  #note(key: string, { status }: UpstreamAnswer): void {
    if (!TURNED_AWAY.includes(status)) this.#refused.delete(key)
    if (!REFUSED.includes(status) || this.#refused.has(key)) return
    this.#refused.add(key)
    this.#log.error('provider_key_refused', {
      provider: this.#provider,
      position: this.#keys.indexOf(key) + 1,
      ends_with: key.slice(-4),
      status,
    })
  }

  #coolDown(key: string, { headers }: UpstreamAnswer): void {
    const seconds = retryAfterOf(headers) ?? COOLDOWN_SECONDS
    this.#coolsUntilMs.set(key, this.#clock.monotonicMs() + seconds * 1000)
  }
}

/** Some providers refuse the content of a request as they refuse a key: only the body tells them apart. */
async function read(
  answer: UpstreamAnswer,
): Promise<{ readonly answer: UpstreamAnswer; readonly isForContent: boolean }> {
  if (!REFUSED.includes(answer.status)) return { answer, isForContent: false }
  // A body that breaks off says nothing, and the status is enough.
  const bytes = await readWhole(answer.body, FAILURE_BYTES_MAX).catch(() => Buffer.alloc(0))
  const complaint = decodeErrorBody(parseObject(bytes.toString('utf8')) ?? {})
  return { answer: { ...answer, body: inOnePiece(bytes) }, isForContent: refusesContent(complaint) }
}

// Access tokens that expire: fetched on demand, kept until shortly before they expire, and fetched once however many
// requests are waiting. A token that is refused before it expires has been revoked, and is replaced.

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
