// What the flow writes its answer into, and those that are being written. The edge implements it over HTTP; nothing here
// or in the flow knows sockets.
import { revokedKey } from '../access/refusal.ts'
import type { GatewayError } from '../core/errors.ts'
import { LinkedList, type Link } from '../core/runtime.ts'
import type { SseEvent } from '../wire/contract/sse.ts'

export interface Reply {
  /**
   * Aborted when the answer will not be completed: with a ClientGone if the client has left, else with why it was cut.
   * If a client leaves a stream midway, the abort comes a moment later: a provider's usage often follows its last word.
   */
  readonly closed: AbortSignal
  /** Set as soon as the client has left. */
  readonly gone: ClientGone | undefined
  /** Ends the work on the answer, and gives the client the reason. */
  cut(why: GatewayError): void
  /** Whether the client has been sent any part of an answer. Headers and keep-alives do not count. */
  readonly hasBegun: boolean
  /** Headers that go out with the first byte; without effect afterwards. */
  setHeader(name: string, value: string): void
  /**
   * Makes the answer a stream in the words of this encoder; another may replace it while nothing has been sent. The
   * headers go out with the first event, or after a silence so long that a proxy might take the connection for dead.
   * From then on errors, too, are events of the stream.
   */
  beginStream(encoder: StreamEncoder): void
  /** Sends whole events. Resolves when the client has room for more; rejects once the answer is closed. */
  write(events: string): Promise<void>
  /** Sends the end: the last events of a stream that has begun, or a whole JSON answer with status 200. */
  end(last: string): Promise<void>
}

/** What a stream sends of its own accord: while the provider is silent, and when the answer will not complete. */
export interface StreamEncoder {
  readonly keepAlive: string
  fail(error: GatewayError): readonly SseEvent[]
}

/** Why a request is given up after its client has left. It is still settled. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
  constructor() {
    super('the client closed the connection before the answer was complete')
  }
}

type Running = { readonly keyId: string; readonly reply: Pick<Reply, 'cut'> }

/** The running exchanges by key, so that a revoked key gets no further byte. */
export class RunningExchanges {
  readonly #all = new LinkedList<Running>()

  /** The caller removes the link when the exchange has ended. */
  begin(keyId: string, reply: Pick<Reply, 'cut'>): Link<Running> {
    return this.#all.add({ keyId, reply })
  }

  /** The keys that have running exchanges. */
  keyIds(): readonly string[] {
    return [...new Set(this.#all.members().map(({ keyId }) => keyId))]
  }

  cutRevoked(keyIds: readonly string[]): void {
    if (keyIds.length === 0) return
    const revoked = new Set(keyIds)
    const why = revokedKey()
    for (const { keyId, reply } of this.#all.members()) {
      if (revoked.has(keyId)) reply.cut(why)
    }
  }

  cutAll(why: GatewayError): void {
    for (const { reply } of this.#all.members()) reply.cut(why)
  }
}
