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
  read(message: IncomingMessage, response: ServerResponse): Promise<Buffer> {
    const refusal = message.destroyed ? new ClientGone() : this.#refusalOf(message)
    if (refusal !== undefined) return Promise.reject(refusal)
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const chunks: Buffer[] = []
    let bytes = 0
    // Listeners, because an iterator over the message costs more than all else that is done with a small body.
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      this.#bytesTogether += chunk.length
      chunks.push(chunk)
      const problem = this.#problemWith(bytes)
      if (problem === undefined) return
      // What is still coming is let pass unread, so that the connection can serve the next request.
      message.off('data', take).resume()
      this.#bytesTogether -= bytes
      bytes = 0
      chunks.length = 0
      reject(problem)
    }
    message.on('data', take)
    message.once('end', () => {
      const [first] = chunks
      // Its answer may be a stream that is open for long, and the message with it: nothing here is kept for that.
      message.off('data', take)
      this.#releaseAfter(response, bytes)
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks))
    })
    message.once('close', () => {
      if (message.complete) return
      this.#bytesTogether -= bytes
      reject(new ClientGone())
    })
    return promise
  }

  #releaseAfter(response: ServerResponse, bytes: number): void {
    if (response.destroyed) this.#bytesTogether -= bytes
    else response.once('close', () => (this.#bytesTogether -= bytes))
  }

  #refusalOf({ headers }: IncomingMessage): GatewayError | undefined {
    if (Number(headers['content-length'] ?? 0) > this.#bytesMax) return this.#tooLarge()
    const encoding = headers['content-encoding'] ?? 'identity'
    if (encoding === 'identity') return undefined
    return new GatewayError('invalid_request', 'send the body uncompressed')
  }

  #problemWith(bytes: number): GatewayError | undefined {
    if (bytes > this.#bytesMax) return this.#tooLarge()
    return this.#bytesTogether > this.#bytesMaxTogether ? tooMany() : undefined
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
