// Where the answer of a trial goes: kept whole, or read as it comes, by the provider's half of the codec. No socket.
import type { Format } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { ClientGone, LINGER_MS, type Reply } from '../../exchange/reply.ts'
import { CODECS } from '../../wire/codecs.ts'
import { SseReader } from '../../wire/contract/sse.ts'

/** What a trial asks for follows from where its answer goes. */
export type TrialReply = Reply & { readonly isStream: boolean }

/** Keeps in memory what the flow would have sent. */
export class WholeReply implements TrialReply {
  readonly isStream = false
  readonly #closing = new AbortController()
  readonly gone = undefined
  readonly closed = this.#closing.signal
  hasBegun = false
  #body = ''

  get body(): JsonObject {
    return JSON.parse(this.#body)
  }

  cut(why: GatewayError): void {
    this.#closing.abort(why)
  }

  setHeader(): void {}

  /** Never called: only whole answers are requested. */
  beginStream(): void {}

  async write(part: string): Promise<void> {
    this.hasBegun = true
    this.#body += part
  }

  async end(last: string): Promise<void> {
    this.#body += last
  }
}

/** Tells what the answer means as it comes, until whoever asked for it has left. */
export class StreamReply implements TrialReply {
  readonly isStream = true
  readonly #closing = new AbortController()
  readonly closed = this.#closing.signal
  readonly #reader = new SseReader()
  readonly #decode: (event: ReturnType<SseReader['read']>[number]) => readonly CanonicalEvent[]
  readonly #see: (events: readonly CanonicalEvent[]) => void
  gone: ClientGone | undefined
  hasBegun = false
  /** Its name, once one answers. */
  target: string | undefined

  constructor(format: Format, see: (events: readonly CanonicalEvent[]) => void) {
    this.#decode = CODECS[format].decodeEvents()
    this.#see = see
  }

  cut(why: GatewayError): void {
    this.#closing.abort(why)
  }

  /** As for any client of a stream: it is charged for what it was sent, and for what the provider counts soon after. */
  leave(): void {
    const gone = new ClientGone()
    this.gone = gone
    const end = (): void => this.#closing.abort(gone)
    if (this.hasBegun) setTimeout(end, LINGER_MS).unref()
    else end()
  }

  setHeader(name: string, value: string): void {
    if (name === 'x-tollgate-target') this.target = value
  }

  beginStream(): void {}

  async write(events: string): Promise<void> {
    this.closed.throwIfAborted()
    this.hasBegun = true
    this.#tell(events)
  }

  async end(last: string): Promise<void> {
    this.#tell(last)
  }

  #tell(text: string): void {
    const events = this.#reader.read(Buffer.from(text)).flatMap((event) => this.#decode(event))
    if (events.length > 0 && this.gone === undefined) this.#see(events)
  }
}

/** The words of an answer; null = it has none, such as one that consists of vectors. */
export function textOf(events: readonly CanonicalEvent[]): string | null {
  const words = events.flatMap((event) =>
    event.type === 'text-delta' || event.type === 'refusal-delta' ? event.text : [],
  )
  return words.length === 0 ? null : words.join('')
}
