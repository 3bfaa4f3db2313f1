// Several keys of one provider: requests take turns among them. A key that the provider turns away cools down,
// and the request is sent with the next one. The refused request did no work, so nothing is paid twice. A request that
// is refused for its content is not sent again.
import type { Clock } from '../../core/clock.ts'
import { parseObject } from '../../core/json.ts'
import type { Log } from '../../telemetry/log.ts'
import { decodeErrorBody, refusesContent } from '../../wire/contract/errors.ts'
import { discard, FAILURE_BYTES_MAX, inOnePiece, readWhole, retryAfterOf } from './http.ts'
import type { UpstreamAnswer } from './provider.ts'

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
