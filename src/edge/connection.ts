// What happens on a connection beside its requests: the one timer that watches everything open on it, what becomes of
// bytes that nobody reads, and the answer to those that never become a request.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { LinkedList } from '../core/runtime.ts'
import { formatSize } from '../core/units.ts'
import { encodeError } from '../wire/contract/errors.ts'

export interface Watched {
  look(nowMs: number): void
}

const LOOK_EVERY_MS = 1_000

/**
 * One timer for everything that is open; each removes its link when it closes. A stream that has been silent for a while sends a keep-alive, so that no proxy
 * takes it for dead; a client that reads nothing for long, or sends its body too slowly, is cut. The timer's coarse
 * clock also saves reading the time on every write.
 */
export class ConnectionWatch extends LinkedList<Watched> {
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout
  nowMs: number

  constructor(clock: Clock) {
    super()
    this.#clock = clock
    this.nowMs = clock.monotonicMs()
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    this.nowMs = this.#clock.monotonicMs()
    for (const one of this.members()) one.look(this.nowMs)
  }
}

export function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'the request took too long to arrive: send it again')
}

/** How much of a body that nobody reads is still let in, so that the connection can serve the next request. */
const REST_BYTES_MAX = 64 * 1024
/** How long a client that sends more has for reading its answer. */
const REST_MS_MAX = 2_000

/** Whether node itself discards the rest of a request in time, once it is answered. */
export function isSoonOver({ headers }: IncomingMessage): boolean {
  const { expect, 'content-length': length } = headers
  return expect === undefined && length !== undefined && Number(length) <= REST_BYTES_MAX
}

/**
 * Called when an answer begins although its request has not arrived whole: nobody will read the rest. A small one is
 * discarded as it arrives. Otherwise the connection ends, but only a while after the answer: if a connection is closed
 * while its client still sends, the client may lose what it has not read yet.
 */
export function discardRest(response: ServerResponse): void {
  const { req: message } = response
  const { socket, headers } = message
  // A client that was never told to go on may send its body or not, so what comes next could be anything.
  const isWaiting = headers.expect === '100-continue' && message.readableFlowing === null
  if (isWaiting || Number(headers['content-length'] ?? 0) > REST_BYTES_MAX) {
    response.shouldKeepAlive = false
  }
  let isLast = !response.shouldKeepAlive
  // What node calls after the last answer of a connection: it would not wait for the client to read it.
  if (isLast) socket.destroySoon = () => void socket.end()
  let isAnswered = false
  const part = (): void => {
    if (!isLast || !isAnswered) return
    socket.end()
    setTimeout(() => socket.destroy(), REST_MS_MAX).unref()
  }
  let bytes = 0
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= REST_BYTES_MAX) return
    isLast = true
    message.pause()
    part()
  })
  message.resume()
  response.once('close', () => {
    isAnswered = true
    part()
  })
}

/**
 * Ends the connection of a request for another protocol after its answer. Node reads whatever follows such a request, at
 * full speed and without end, so a client that sends more before that loses the connection.
 */
export function endAfterwards(response: ServerResponse): void {
  const { req: message } = response
  let bytes = 0
  response.shouldKeepAlive = false
  message.socket.on('data', (chunk: Buffer) => {
    if (message.complete) bytes += chunk.length
    if (bytes > REST_BYTES_MAX) message.socket.destroy()
  })
}

export const HEADER_BYTES_MAX = 64 * 1024

type NoRequest = { readonly status: string; readonly error: GatewayError }

/** By node's code for the problem, and what the connection has sent so far; undefined = nobody waits for an answer. */
export function noRequestOf(problem: string | undefined, bytesRead: number): NoRequest | undefined {
  // Health checks and browsers open connections that they may never use.
  if (bytesRead === 0) return undefined
  switch (problem) {
    // The client is gone; its earlier requests are logged separately.
    case 'ECONNRESET':
      return undefined
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: '408 Request Timeout', error: tooSlow() }
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: '431 Request Header Fields Too Large',
        error: invalid(`the headers are larger than ${formatSize(HEADER_BYTES_MAX)}`),
      }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        status: '413 Content Too Large',
        error: invalid('the chunk extensions of the body are too large: send it without them'),
      }
    case undefined:
    default:
      return { status: '400 Bad Request', error: invalid('this is not an HTTP request') }
  }
}

/** The whole answer, written by hand, because there is no response to write to; the connection ends with it. */
export function writeNoRequest({ status, error }: NoRequest, requestId: string): string {
  // The path is unknown, so the envelope is the chat family's.
  const body = JSON.stringify(encodeError('chat', error, requestId))
  return (
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nx-request-id: ${requestId}\r\n` +
    `x-should-retry: ${error.retry !== 'never'}\r\nconnection: close\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}
