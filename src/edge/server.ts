// The HTTP server: the only file that listens. Gives every request an id, hands it to its route, renders what went
// wrong in the family's envelope, and on the way out lets running answers finish.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { StaleKey } from '../access/refusal.ts'
import type { Family } from '../core/endpoints.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { Parts } from '../exchange/exchange.ts'
import { ClientGone } from '../exchange/reply.ts'
import type { Trace } from '../exchange/trace.ts'
import { describeError } from '../telemetry/log.ts'
import type { Log } from '../telemetry/log.ts'
import { arrivalOf, findRoute, nothingAt } from './arrival.ts'
import { BodyReader } from './body.ts'
import type { WebFiles } from './files.ts'
import { KeepAlive } from './keep-alive.ts'
import { HttpReply } from './reply.ts'
import { logRequest } from './request-log.ts'

export type EdgeOptions = {
  readonly parts: Parts
  readonly log: Log
  readonly bodyBytesMax: number
  readonly web: WebFiles
  /** Whether the gateway could serve a request now; the reason when it could not. */
  readiness(): Promise<string | undefined>
}

const LIMITS = {
  maxHeaderSize: 64 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 75_000,
}
/** How long the last error event of a cut stream may take to go out. */
const LAST_WORDS_MS = 5_000

export class Edge {
  readonly #options: EdgeOptions
  readonly #server: Server
  readonly #bodies: BodyReader
  readonly #keepAlive: KeepAlive
  #isDraining = false

  constructor(options: EdgeOptions) {
    this.#options = options
    this.#bodies = new BodyReader(options.bodyBytesMax)
    this.#keepAlive = new KeepAlive(options.parts.clock)
    this.#server = createServer(LIMITS, (message, response) => {
      response.once('close', () => {
        // On the way out no connection is kept for another request.
        if (this.#isDraining) setImmediate(() => this.#server.closeIdleConnections())
      })
      this.#serve(message, response).catch((thrown: unknown) => {
        // The client left while it was being told what went wrong: nothing more can be done for it.
        options.log.warn('answer_lost', { cause: describeError(thrown) })
        response.destroy()
      })
    })
  }

  /** Where it listens from now on: http://HOST:PORT, with the port it was given when it asked for any. */
  listen({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#server.once('error', reject)
    this.#server.listen(port, host, () => {
      this.#server.off('error', reject)
      const address = this.#server.address() as AddressInfo
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${address.port}`)
    })
    return promise
  }

  /** Stops taking requests, lets running ones finish for at most so long, then tells the rest that it is over. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const { running } = this.#options.parts
    const late = setTimeout(() => running.cutAll(draining()), timeoutMs)
    // A client that does not even take its last bytes is not waited for.
    const last = setTimeout(() => this.#server.closeAllConnections(), timeoutMs + LAST_WORDS_MS)
    await closed
    clearTimeout(late)
    clearTimeout(last)
    this.#keepAlive.stop()
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (message.url ?? '/').split('?', 1)[0] ?? '/'
    const reply = new HttpReply(response, this.#keepAlive)
    const requestId = newId('req', this.#options.parts.clock)
    const family = familyOf(path)
    response.setHeader('x-request-id', requestId)
    if (family === 'messages') response.setHeader('request-id', requestId)
    if (path.startsWith('/v1/')) {
      await this.#serveData(message, reply, { path, family, requestId })
      return
    }
    try {
      await this.#servePages(message, { response, reply, path })
    } catch (thrown) {
      await reply.fail(toGatewayError(thrown), family, requestId)
    }
  }

  /** The data plane: one route, one answer, one log line. */
  async #serveData(
    message: IncomingMessage,
    reply: HttpReply,
    { path, family, requestId }: { path: string; family: Family; requestId: string },
  ): Promise<void> {
    const { parts, log } = this.#options
    const startedMs = parts.clock.monotonicMs()
    const trace: Trace = { requestId }
    let error: GatewayError | undefined
    try {
      const route = findRoute(message.method ?? '', path)
      trace.path = route.path
      if (this.#isDraining) throw draining()
      const arrival = arrivalOf(message, route, { bodies: this.#bodies, startedMs, trace })
      await this.#run(() => route.handler.run(parts, arrival, reply))
    } catch (thrown) {
      if (!(thrown instanceof ClientGone)) {
        error = toGatewayError(thrown)
        await reply.fail(error, family, requestId)
      }
    } finally {
      const durationMs = parts.clock.monotonicMs() - startedMs
      logRequest(log, trace, { method: message.method, status: reply.status, durationMs, error })
    }
  }

  /** Runs a handler, and once more when the key that called was changed in between. */
  async #run(handle: () => Promise<void>): Promise<void> {
    try {
      await handle()
    } catch (thrown) {
      if (!(thrown instanceof StaleKey)) throw thrown
      this.#options.parts.authenticator.forget()
      await handle()
    }
  }

  /** Health for orchestrators, and the pages for people. */
  async #servePages(
    message: IncomingMessage,
    { response, reply, path }: { response: ServerResponse; reply: HttpReply; path: string },
  ): Promise<void> {
    if (path === '/healthz') return reply.sendJson(200, '{"status":"ok"}')
    if (path === '/readyz') {
      const reason = this.#isDraining ? 'draining' : await this.#options.readiness()
      const body = reason === undefined ? { status: 'ready' } : { status: 'not ready', reason }
      return reply.sendJson(reason === undefined ? 200 : 503, JSON.stringify(body))
    }
    const isServed = await this.#options.web.serve(path, message.method ?? '', response)
    if (!isServed) throw nothingAt(path)
  }
}

/** The envelope of everything below /v1/messages is the messages family's, of everything else the chat family's. */
function familyOf(path: string): Family {
  return path === '/v1/messages' || path.startsWith('/v1/messages/') ? 'messages' : 'chat'
}

function draining(): GatewayError {
  return new GatewayError('draining', 'this gateway is shutting down: try again', {
    retryAfterSeconds: 1,
  })
}
