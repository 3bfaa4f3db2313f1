// The answer to a connection whose bytes never become a valid request. Written by hand, because there is no response to
// write to. The path is unknown, so the envelope is the chat family's.
import { GatewayError } from '../core/errors.ts'
import { formatSize } from '../core/units.ts'
import { encodeError } from '../wire/contract/errors.ts'
import { tooSlow } from './keep-alive.ts'

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

/** The whole answer; the connection ends with it. */
export function writeNoRequest({ status, error }: NoRequest, requestId: string): string {
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
