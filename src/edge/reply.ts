// A Reply over node:http: headers, back-pressure, keep-alive and the family's error bodies. Never splits an event over
// two writes.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Family } from '../core/endpoints.ts'
import { CLIENT_GONE_STATUS, retryAfterText, type GatewayError } from '../core/errors.ts'
import type { Link } from '../core/runtime.ts'
import { ClientGone, LINGER_MS, type Reply, type StreamEncoder } from '../exchange/reply.ts'
import { encodeError } from '../wire/contract/errors.ts'
import { writeSse } from '../wire/contract/sse.ts'
import { discardRest, isSoonOver, type ConnectionWatch, type Watched } from './connection.ts'

/** A stream that is silent for this long sends a keep-alive. */
const SILENCE_MS = 15_000
/** A client that reads nothing for this long is cut: it ties up a provider's stream and memory. */
const BLOCKED_MS_MAX = 60_000
/** A larger whole answer is sent in pieces: each piece that a client takes shows that it is still reading. */
const PIECE_BYTES = 256 * 1024

export class HttpReply implements Reply {
  readonly #response: ServerResponse
  readonly #watch: ConnectionWatch
  /** Its link in the shared timer's list. */
  #link: Link<Watched> | undefined
  /** Names and values in turn, as node takes them. */
  #headers: string[] = []
  /** Set by `#finish`, and called when the response closes. */
  #onClosed: (() => void) | undefined
  /** Made on first use: most refusals need none. */
  #closing: AbortController | undefined
  #gone: ClientGone | undefined
  #isLingering = false
  #encoder: StreamEncoder | undefined
  #hasBegun = false
  #lastWriteMs = 0
  #isRestDiscarded = false
  #sentBytes = -1
  #progressMs = 0

  constructor(response: ServerResponse, watch: ConnectionWatch) {
    this.#response = response
    this.#watch = watch
    response.on('close', () => {
      this.#link?.remove()
      if (!response.writableFinished) this.#leave()
      this.#onClosed?.()
    })
  }

  get closed(): AbortSignal {
    this.#closing ??= new AbortController()
    if (this.#gone !== undefined && !this.#isLingering) this.#closing.abort(this.#gone)
    return this.#closing.signal
  }

  get gone(): ClientGone | undefined {
    return this.#gone
  }

  cut(why: GatewayError): void {
    this.#closing ??= new AbortController()
    this.#closing.abort(why)
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  get status(): number {
    return this.#gone === undefined ? this.#response.statusCode : CLIENT_GONE_STATUS
  }

  setHeader(name: string, value: string): void {
    const headers = this.#headers
    for (let index = 0; index < headers.length; index += 2) {
      if (headers[index] === name) {
        headers[index + 1] = value
        return
      }
    }
    headers.push(name, value)
  }

  /** Whether it is the answer to a request of this connection. */
  isOn(socket: Socket): boolean {
    return this.#response.req.socket === socket
  }

  /** Called when the answer begins, also where other code writes it. */
  discardRest(): void {
    const { complete, destroyed } = this.#response.req
    if (complete || destroyed || this.#isRestDiscarded) return
    this.#isRestDiscarded = true
    discardRest(this.#response)
  }

  /**
   * A client that has stopped sending may wait for its answer or be gone, and only writing to it tells: its system
   * refuses what comes after it is gone. Returns whether it may still be there.
   */
  probe(): boolean {
    const response = this.#response
    if (!response.req.socket.readableEnded || response.destroyed) return false
    if (response.writableEnded || response.writableLength > 0) return true
    if (response.headersSent) {
      if (this.#encoder !== undefined) this.#writeNow(this.#encoder.keepAlive)
    } else if (response.req.httpVersion === '1.1') response.writeContinue()
    return true
  }

  /** From now on cuts a client that reads nothing, also where other code writes the response. Not if it has left. */
  watch(): void {
    if (!this.#response.destroyed) this.#link ??= this.#watch.add(this)
  }

  beginStream(encoder: StreamEncoder): void {
    if (this.#encoder === undefined) {
      this.#lastWriteMs = this.#watch.nowMs
      this.watch()
    }
    this.#encoder = encoder
  }

  write(events: string): Promise<void> {
    if (this.#closing?.signal.aborted === true) return Promise.reject(this.#closing.signal.reason)
    if (this.#response.destroyed) return this.#isLingering ? DONE : Promise.reject(new ClientGone())
    this.#hasBegun = true
    return this.#writeNow(events) ? DONE : this.#room()
  }

  end(last: string): Promise<void> {
    if (this.#encoder === undefined) return this.sendJson(200, last)
    this.#sendStreamHead()
    return this.#finish(last)
  }

  sendJson(status: number, body: string): Promise<void> {
    this.setHeader('content-type', 'application/json')
    this.setHeader('content-length', String(Buffer.byteLength(body)))
    this.#sendHead(status)
    if (body.length <= PIECE_BYTES) return this.#finish(body)
    return this.#finishInPieces(Buffer.from(body))
  }

  /** Ends the answer with an error: as a status and a body, or as an event of the stream when it has begun. */
  async fail(error: GatewayError, family: Family, requestId: string): Promise<void> {
    if (this.#response.destroyed) return
    if (this.#encoder !== undefined && this.#response.headersSent) {
      await this.#finish(this.#encoder.fail(error).map(writeSse).join(''))
      return
    }
    const { retryAfterSeconds, shouldRetry } = error.details
    if (retryAfterSeconds !== undefined) {
      this.setHeader('retry-after', retryAfterText(retryAfterSeconds))
    }
    this.setHeader('x-should-retry', String(shouldRetry ?? error.retry !== 'never'))
    if (error.details.allow !== undefined) this.setHeader('allow', error.details.allow.join(', '))
    await this.sendJson(error.status, JSON.stringify(encodeError(family, error, requestId)))
  }

  /** Called by the shared timer: cuts a client that reads nothing, and sends a keep-alive after a silence. */
  look(nowMs: number): void {
    const response = this.#response
    const sentBytes = response.socket?.bytesWritten ?? 0
    if (sentBytes !== this.#sentBytes || response.writableLength === 0) {
      this.#sentBytes = sentBytes
      this.#progressMs = nowMs
    }
    if (nowMs - this.#progressMs >= BLOCKED_MS_MAX) return void response.destroy()
    if (this.#encoder === undefined || response.writableEnded || response.writableLength > 0) return
    if (nowMs - this.#lastWriteMs >= SILENCE_MS) this.#writeNow(this.#encoder.keepAlive)
  }

  #leave(): void {
    const gone = new ClientGone()
    this.#gone = gone
    if (!this.#hasBegun) return this.#closing?.abort(gone)
    this.#isLingering = true
    setTimeout(() => {
      this.#isLingering = false
      this.#closing?.abort(gone)
    }, LINGER_MS).unref()
  }

  /** False = the client has no room for more. */
  #writeNow(text: string): boolean {
    this.#lastWriteMs = this.#watch.nowMs
    const response = this.#response
    if (response.headersSent) return response.write(text)
    // In one write, but the headers as a separate string: joined with the text, node would keep them in pieces.
    const { socket } = response
    socket?.cork()
    this.#sendStreamHead()
    response.flushHeaders()
    const hasRoom = response.write(text)
    socket?.uncork()
    return hasRoom
  }

  #sendStreamHead(): void {
    if (this.#response.headersSent) return
    this.setHeader('content-type', 'text/event-stream; charset=utf-8')
    this.setHeader('cache-control', 'no-cache')
    this.setHeader('x-accel-buffering', 'no')
    this.#sendHead(200)
  }

  /** All headers in one list: passing them to node one by one costs several times as much. */
  #sendHead(status: number): void {
    this.discardRest()
    this.#response.writeHead(status, this.#headers)
    // A stream may be open for long: headers that were sent are not kept.
    this.#headers = []
  }

  #finish(last: Uint8Array | string): Promise<void> {
    if (this.#response.destroyed) return Promise.reject(new ClientGone())
    this.#response.end(last)
    if (this.#response.writableLength > 0) this.watch()
    return new Promise((resolve) => (this.#onClosed = resolve))
  }

  async #finishInPieces(body: Buffer): Promise<void> {
    this.watch()
    let start = 0
    for (; body.length - start > PIECE_BYTES; start += PIECE_BYTES) {
      if (this.#response.destroyed) throw new ClientGone()
      const hasRoom = this.#response.write(body.subarray(start, start + PIECE_BYTES))
      if (!hasRoom) await this.#room()
    }
    await this.#finish(body.subarray(start))
  }

  #room(): Promise<void> {
    const response = this.#response
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const settle = (): void => {
      response.off('drain', settle)
      response.off('close', settle)
      if (response.destroyed && !this.#isLingering) reject(new ClientGone())
      else resolve()
    }
    response.on('drain', settle)
    response.on('close', settle)
    // A response counts bytes, its socket characters: if the response is full but the socket is not, nothing drains.
    process.nextTick(() => {
      if (response.socket?.writableNeedDrain === false) settle()
    })
    return promise
  }
}

/** Refuses a request of which nothing but its head was read. Leaves out what an answer needs that takes a while. */
export function refuseAtOnce(
  response: ServerResponse,
  error: GatewayError,
  { family, requestId }: { readonly family: Family; readonly requestId: string },
): void {
  const body = JSON.stringify(encodeError(family, error, requestId))
  const headers = ['content-type', 'application/json', 'content-length']
  headers.push(String(Buffer.byteLength(body)), 'x-request-id', requestId)
  if (family === 'messages') headers.push('request-id', requestId)
  const { retryAfterSeconds = 1 } = error.details
  headers.push('retry-after', retryAfterText(retryAfterSeconds), 'x-should-retry', 'true')
  const { req: message } = response
  if (!message.complete && !isSoonOver(message)) discardRest(response)
  response.writeHead(error.status, headers)
  response.end(body)
}

const DONE = Promise.resolve()
