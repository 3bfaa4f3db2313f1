// Reads a request's body within the limit for one body and within what all bodies together may take of the memory.
import type { IncomingMessage, ServerResponse } from 'node:http'

import { GatewayError } from '../core/errors.ts'
import { ClientGone } from '../exchange/reply.ts'

export class BodyReader {
  readonly #bytesMax: number
  readonly #bytesMaxTogether: number
  #bytesTogether = 0

  constructor(bytesMax: number, bytesMaxTogether = 8 * bytesMax) {
    this.#bytesMax = bytesMax
    this.#bytesMaxTogether = bytesMaxTogether
  }

  /** The whole body. What it takes of the memory counts until its answer is over. */
  async read(message: IncomingMessage, response: ServerResponse): Promise<Buffer> {
    const announced = Number(message.headers['content-length'] ?? 0)
    if (announced > this.#bytesMax) throw this.#tooLarge()
    const encoding = message.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      throw new GatewayError('invalid_request', 'send the body uncompressed')
    }
    const chunks: Buffer[] = []
    let bytes = 0
    response.once('close', () => (this.#bytesTogether -= bytes))
    try {
      for await (const chunk of message.iterator({ destroyOnReturn: false })) {
        const { length } = chunk as Buffer
        bytes += length
        this.#bytesTogether += length
        if (bytes > this.#bytesMax) throw this.#tooLarge()
        if (this.#bytesTogether > this.#bytesMaxTogether) throw tooMany()
        chunks.push(chunk as Buffer)
      }
      return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)
    } catch (thrown) {
      // What is still coming is let pass unread, so that the connection can serve the next request.
      message.resume()
      throw message.errored === null ? thrown : new ClientGone()
    }
  }

  #tooLarge(): GatewayError {
    const megabytes = this.#bytesMax / 1024 / 1024
    return new GatewayError('request_too_large', `a request body may have at most ${megabytes} MB`)
  }
}

function tooMany(): GatewayError {
  return new GatewayError('overloaded', 'too many large requests at once: try again shortly', {
    retryAfterSeconds: 2,
  })
}
