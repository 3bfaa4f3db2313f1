// What the flow writes its answer into. The edge implements it over HTTP; nothing here or in the flow knows sockets.
import type { GatewayError } from '../core/errors.ts'
import type { SseEvent } from '../wire/sse.ts'

export interface Reply {
  /**
   * Aborted when the answer will not be completed: with a ClientGone when the client has left, else with why it was cut.
   * Who leaves in the middle of a stream has left a moment later: what the provider counted often follows its last word.
   */
  readonly closed: AbortSignal
  /** Set as soon as the client has left. */
  readonly gone: ClientGone | undefined
  /** Ends the work on the answer, for the reason that its client is then told. */
  cut(why: GatewayError): void
  /** Whether the client has been sent any part of an answer. A head and keep-alives are none. */
  readonly hasBegun: boolean
  /** Headers that go out with the first byte; without effect afterwards. */
  setHeader(name: string, value: string): void
  /**
   * Makes the answer a stream with this voice; another one may take over while nothing has been sent. The head goes out
   * with the first event, or after a silence in which somebody on the way could take the connection for dead. From
   * then on errors are told in the stream's voice, too.
   */
  beginStream(voice: StreamVoice): void
  /** Sends events, each of them whole. Resolves when the client has room for more; rejects once the answer is closed. */
  write(events: string): Promise<void>
  /** Sends the end: the last events of a stream that has begun, or a whole JSON answer with status 200. */
  end(last: string): Promise<void>
}

/** How a stream speaks when it has nothing to pass on: while the provider is silent, and when it will not complete. */
export interface StreamVoice {
  readonly keepAlive: string
  fail(error: GatewayError): readonly SseEvent[]
}

/** Why a request whose client has left is given up. It is still settled. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
  constructor() {
    super('the client closed the connection before the answer was complete')
  }
}
