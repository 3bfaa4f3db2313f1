// Requests to providers over HTTP: the only user of undici. One bounded pool of kept connections an origin and connect
// timeout, no redirects, verified TLS, and four timeouts a call. What goes wrong becomes a GatewayError here.
import type { Dispatcher } from 'undici'
import { buildConnector, EnvHttpProxyAgent, errors } from 'undici'

import { GatewayError } from '../core/errors.ts'
import type { Timeouts } from '../catalog/models.ts'
import { checkedLookup, assertAllowedHost } from './addresses.ts'
import type { UpstreamAnswer } from './provider.ts'

/** A stream takes a connection for as long as it runs, so this also bounds the streams of one origin. */
const CONNECTIONS_MAX = 8_192

export type HttpCall = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly timeouts: Timeouts
}

export class HttpClient {
  readonly #agents = new Map<number, Dispatcher>()

  /** Resolves when the head of the answer is there, whatever its status. */
  async send(call: HttpCall, signal: AbortSignal): Promise<UpstreamAnswer> {
    assertAllowedHost(call.url.hostname)
    const life = lifeOf(signal, call.timeouts.totalMs)
    try {
      const answer = await this.#agent(call.timeouts.connectMs).request({
        origin: call.url.origin,
        path: call.url.pathname + call.url.search,
        method: call.method,
        headers: { ...call.headers, 'accept-encoding': 'identity' },
        body: call.body ?? null,
        signal: life.signal,
        headersTimeout: call.timeouts.firstByteMs,
        bodyTimeout: call.timeouts.idleMs,
      })
      const headers = headersOf(answer.headers)
      return { status: answer.statusCode, headers, body: bodyOf(answer.body, headers, life) }
    } catch (thrown) {
      life.end()
      throw failureOf(thrown, life.signal)
    }
  }

  /** Ends every connection. Nobody waits for what may still be running on one. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()))
  }

  #agent(connectTimeoutMs: number): Dispatcher {
    const known = this.#agents.get(connectTimeoutMs)
    if (known !== undefined) return known
    // A proxy named in the environment is the operator's word, as it is for every other program.
    const agent = new EnvHttpProxyAgent({
      connections: CONNECTIONS_MAX,
      keepAliveTimeout: 30_000,
      pipelining: 1,
      // One connection, one request: what a provider does to one of them cannot touch another.
      allowH2: false,
      connect: connector(connectTimeoutMs),
    })
    this.#agents.set(connectTimeoutMs, agent)
    return agent
  }
}

/** Why there is no connection: whatever it is, the request never left. */
class NotConnected extends Error {
  override readonly name = 'NotConnected'
}

function connector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: checkedLookup, allowH2: false })
  return (options, callback) =>
    connect(options, (...[cause, socket]) => {
      if (cause === null) callback(null, socket)
      else callback(new NotConnected('no connection', { cause }), null)
    })
}

type Life = { readonly signal: AbortSignal; end(): void }

/** A call lives until it has ended, nobody waits for it any more, or it has taken too long. */
function lifeOf(signal: AbortSignal, totalMs: number): Life {
  const life = new AbortController()
  const leave = (): void => life.abort(signal.reason)
  const timer = setTimeout(() => life.abort(timedOut()), totalMs)
  timer.unref()
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return {
    signal: life.signal,
    end: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    },
  }
}

async function* bodyOf(
  body: AsyncIterable<Uint8Array>,
  headers: ReadonlyMap<string, string>,
  life: Life,
): AsyncIterable<Uint8Array> {
  try {
    // It was asked for plain bytes; unpacking what comes instead could fill the memory from a few bytes.
    const encoding = headers.get('content-encoding') ?? 'identity'
    if (encoding !== 'identity') {
      throw new GatewayError('provider_failed', 'the provider sent a compressed answer')
    }
    yield* body
  } catch (thrown) {
    throw failureOf(thrown, life.signal)
  } finally {
    life.end()
  }
}

function headersOf(headers: Record<string, string | string[] | undefined>): Map<string, string> {
  const map = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return map
}

function failureOf(thrown: unknown, life: AbortSignal): unknown {
  if (life.aborted) return life.reason
  if (thrown instanceof GatewayError) return thrown
  if (thrown instanceof NotConnected) return unreachable(thrown.cause)
  const isSilent =
    thrown instanceof errors.HeadersTimeoutError || thrown instanceof errors.BodyTimeoutError
  return isSilent
    ? timedOut(thrown)
    : new GatewayError('provider_failed', 'the connection to the provider broke', { cause: thrown })
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
