// Requests to providers over HTTP: the only user of undici. One bounded pool of kept connections an origin and connect
// timeout, no redirects, verified TLS, and four timeouts a call. What goes wrong becomes a GatewayError here.
import { Readable } from 'node:stream'

import type { Dispatcher } from 'undici'
import { Agent, buildConnector, EnvHttpProxyAgent, errors, Pool } from 'undici'

import { GatewayError } from '../core/errors.ts'
import type { Timeouts } from '../catalog/models.ts'
import { checkedLookup, assertAllowedHost } from './addresses.ts'
import type { ChunkSource } from './chunks.ts'
import { Chunks } from './chunks.ts'
import { withoutSecrets } from './echoed-secrets.ts'
import type { AnswerHeaders, UpstreamAnswer } from './provider.ts'

/** A stream takes a connection for as long as it runs, so this also bounds the streams of one origin. */
const CONNECTIONS_MAX = 8_192
/** Of an answer that comes faster than its client reads, no more than about this much waits here. */
const WAITING_BYTES_MAX = 64 * 1024
/** Larger bodies are not kept while their answers run. */
const KEPT_BYTES_MAX = 64 * 1024

/**
 * How long a connection is kept for the next call, unless the server says so itself. One that a server closes while a call
 * is on its way looks like a crash in the middle of it. uvicorn and llama.cpp, behind plain HTTP, close after 5 s; in
 * front of providers on the net it takes a minute and more, and a new connection costs a handshake.
 */
const KEPT_MS = { plain: 4_000, encrypted: 30_000 }

/** What servers write who do not compress; `none` is no word of the standard, but a common one. */
const PLAIN: ReadonlySet<string | undefined> = new Set([undefined, '', 'identity', 'none'])

export type HttpCall = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly timeouts: Timeouts
}

type Address = { readonly origin: string; readonly path: string }

/** The environment, for the proxies that it names. */
type Environment = Readonly<Record<string, string | undefined>>

export class HttpClient {
  readonly #env: Environment
  readonly #agents = new Map<number, Dispatcher>()
  // Adapters send the same address and the same headers again and again, and both take time to write down.
  readonly #addresses = new WeakMap<URL, Address>()
  readonly #headers = new WeakMap<HttpCall['headers'], string[]>()

  constructor(env: Environment) {
    this.#env = env
  }

  /** Resolves when the head of the answer is there, whatever its status. */
  async send(call: HttpCall, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { origin, path } = this.#addressOf(call.url)
    const headers = this.#headersOf(call.headers)
    const isLarge = call.body !== undefined && call.body.length > KEPT_BYTES_MAX
    const running = new RunningCall(signal, call.timeouts.totalMs)
    this.#agent(call.timeouts.connectMs).dispatch(
      {
        origin,
        path,
        method: call.method,
        headers: isLarge ? [...headers, 'content-length', String(call.body.length)] : headers,
        body: isLarge ? Readable.from(new OneTimeBody(call.body)) : (call.body ?? null),
        headersTimeout: call.timeouts.firstByteMs,
        bodyTimeout: call.timeouts.idleMs,
      },
      running,
    )
    const answer = await running.answer
    return answer.status < 300
      ? answer
      : { ...answer, body: withoutSecrets(answer.body, call.headers) }
  }

  /** Ends every connection. Nobody waits for what may still be running on one. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()))
  }

  #addressOf(url: URL): Address {
    const known = this.#addresses.get(url)
    if (known !== undefined) return known
    assertAllowedHost(url.hostname)
    const address = { origin: url.origin, path: url.pathname + url.search }
    this.#addresses.set(url, address)
    return address
  }

  #headersOf(headers: HttpCall['headers']): string[] {
    const known = this.#headers.get(headers)
    if (known !== undefined) return known
    const list = ['accept-encoding', 'identity']
    for (const [name, value] of Object.entries(headers)) list.push(name, value)
    this.#headers.set(headers, list)
    return list
  }

  #agent(connectTimeoutMs: number): Dispatcher {
    const known = this.#agents.get(connectTimeoutMs)
    if (known !== undefined) return known
    // Not even an environment that allows it makes a gateway send its keys to whoever answers.
    const verified = { timeout: connectTimeoutMs, rejectUnauthorized: true }
    const options = {
      connections: CONNECTIONS_MAX,
      factory: keptPool,
      pipelining: 1,
      // One connection, one request: what a provider does to one of them cannot touch another.
      allowH2: false,
      connect: buildConnector({ ...verified, lookup: checkedLookup, allowH2: false }),
    }
    // A proxy named in the environment is the operator's word, as it is for every other program. Whether one is meant
    // for an address takes undici as long as the rest of a call, so it is asked only where there is a proxy.
    const proxies = proxiesIn(this.#env)
    const agent =
      proxies === undefined
        ? new Agent(options)
        : new EnvHttpProxyAgent({
            ...options,
            ...proxies,
            proxyTls: verified,
            requestTls: verified,
          })
    this.#agents.set(connectTimeoutMs, agent)
    return agent
  }
}

function keptPool(origin: string | URL, options: Pool.Options): Pool {
  const { protocol } = new URL(origin)
  const keepAliveTimeout = protocol === 'http:' ? KEPT_MS.plain : KEPT_MS.encrypted
  return new Pool(origin, { ...options, keepAliveTimeout })
}

function proxiesIn(env: Environment): EnvHttpProxyAgent.Options | undefined {
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'] ?? ''
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? ''
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  return httpProxy === '' && httpsProxy === '' ? undefined : { httpProxy, httpsProxy, noProxy }
}

/** One call: it lives until it has ended, nobody waits for it any more, or it has taken too long. */
class RunningCall implements Dispatcher.DispatchHandler, ChunkSource, EventListenerObject {
  readonly #signal: AbortSignal
  readonly #timer: NodeJS.Timeout
  readonly #answer = Promise.withResolvers<UpstreamAnswer>()
  readonly #chunks = new Chunks(this)
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false

  constructor(signal: AbortSignal, totalMs: number) {
    this.#signal = signal
    this.#timer = setTimeout(() => this.#cut(timedOut()), totalMs)
    this.#timer.unref()
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this)
  }

  /** The signal's: nobody waits for this call any more. */
  handleEvent(): void {
    this.#cut(this.#signal.reason)
  }

  resume(): void {
    this.#controller?.resume()
  }

  leave(): void {
    this.#cut(new Error('nobody reads this answer any more'))
  }

  get answer(): Promise<UpstreamAnswer> {
    return this.#answer.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It was given up while it waited for a connection.
    if (this.#isOver) controller.abort(new Error('given up'))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    given: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    const headers = new GivenHeaders(given)
    // The same headers as bytes: they would keep what they came in for as long as a stream is open.
    controller.rawHeaders = null
    this.#answer.resolve({ status, headers, body: this.#chunks })
    // It was asked for plain bytes; unpacking what comes instead could fill the memory from a few bytes.
    if (PLAIN.has(headers.get('content-encoding')?.toLowerCase())) return
    this.#end(new GatewayError('provider_failed', 'the provider sent a compressed answer'))
    controller.abort(new Error('compressed'))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#chunks.push(chunk) > WAITING_BYTES_MAX) controller.pause()
  }

  onResponseEnd(): void {
    this.#release()
    this.#chunks.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // Without a connection to start on, whatever went wrong, the request never left.
    this.#end(this.#controller === undefined ? unreachable(error) : failureOf(error))
  }

  #cut(reason: unknown): void {
    if (this.#isOver) return
    this.#end(reason)
    this.#controller?.abort(new Error('given up', { cause: reason }))
  }

  #end(failure: unknown): void {
    if (this.#isOver) return
    this.#release()
    this.#answer.reject(failure)
    this.#chunks.fail(failure)
  }

  #release(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this)
  }
}

/** undici keeps a body until its answer is over, and an answer may be slow: of this one nothing is left once it is sent. */
class OneTimeBody implements Iterable<Uint8Array> {
  #body: Uint8Array | undefined

  constructor(body: Uint8Array) {
    this.#body = body
  }

  *[Symbol.iterator](): Generator<Uint8Array, void> {
    const body = this.#body
    this.#body = undefined
    if (body !== undefined) yield body
  }
}

class GivenHeaders implements AnswerHeaders {
  readonly #given: Record<string, string | string[] | undefined>

  constructor(given: Record<string, string | string[] | undefined>) {
    this.#given = given
  }

  get(name: string): string | undefined {
    const value = this.#given[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
}

function failureOf(error: Error): GatewayError {
  const isSilent =
    error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError
  return isSilent
    ? timedOut(error)
    : new GatewayError('provider_failed', 'the connection to the provider broke', { cause: error })
}

function unreachable(cause: unknown): GatewayError {
  const details = { cause, unbilled: true }
  return cause instanceof errors.ConnectTimeoutError
    ? new GatewayError('provider_timeout', 'the provider could not be reached in time', details)
    : new GatewayError('provider_failed', 'the provider could not be reached', details)
}

function timedOut(cause?: unknown): GatewayError {
  return new GatewayError('provider_timeout', 'the provider did not answer in time', { cause })
}
