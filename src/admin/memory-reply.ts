// An answer that goes to nobody's socket: what the flow would have sent, kept to be read here.
import type { GatewayError } from '../core/errors.ts'
import type { Reply } from '../exchange/reply.ts'

export class MemoryReply implements Reply {
  readonly #gone = new AbortController()
  readonly gone = undefined
  readonly closed = this.#gone.signal
  hasBegun = false
  #body = ''

  get body(): unknown {
    return JSON.parse(this.#body)
  }

  cut(why: GatewayError): void {
    this.#gone.abort(why)
  }

  setHeader(): void {}

  /** Only whole answers are asked for here. */
  beginStream(): void {}

  async write(event: string): Promise<void> {
    this.hasBegun = true
    this.#body += event
  }

  async end(last: string): Promise<void> {
    this.#body += last
  }
}
