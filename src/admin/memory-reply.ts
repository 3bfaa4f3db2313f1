// A reply without a socket: keeps in memory what the flow would have sent.
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

  /** Never called: only whole answers are requested here. */
  beginStream(): void {}

  async write(event: string): Promise<void> {
    this.hasBegun = true
    this.#body += event
  }

  async end(last: string): Promise<void> {
    this.#body += last
  }
}
