// Requests to providers over HTTP: the only user of undici. One bounded pool of kept connections an origin and connect
// timeout, no redirects, verified TLS, and four timeouts a call. What goes wrong becomes a GatewayError here.
import type { Dispatcher } from 'undici'
import { EnvHttpProxyAgent, errors } from 'undici'

import { GatewayError } from '../core/errors.ts'
import type { Timeouts } from '../catalog/models.ts'
import { checkedLookup, assertAllowedHost } from './addresses.ts'
import type { UpstreamAnswer } from './provider.ts'

const CONNECTIONS_MAX = 512

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
    const total = AbortSignal.any([signal, AbortSignal.timeout(call.timeouts.totalMs)])
    try {
      const answer = await this.#agent(call.timeouts.connectMs).request({
        origin: call.url.origin,
        path: call.url.pathname + call.url.search,
        method: call.method,
        headers: { ...call.headers, 'accept-encoding': 'identity' },
        body: call.body ?? null,
        signal: total,
        headersTimeout: call.timeouts.firstByteMs,
        bodyTimeout: call.timeouts.idleMs,
      })
      return {
        status: answer.statusCode,
        headers: headersOf(answer.headers),
        body: bodyOf(answer.body, signal),
      }
    } catch (thrown) {
      throw failureOf(thrown, signal)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.close()))
  }

  #agent(connectTimeoutMs: number): Dispatcher {
    const known = this.#agents.get(connectTimeoutMs)
    if (known !== undefined) return known
    // A proxy named in the environment is the operator's word, as it is for every other program.
    const agent = new EnvHttpProxyAgent({
      connections: CONNECTIONS_MAX,
      keepAliveTimeout: 30_000,
      pipelining: 1,
      connect: { timeout: connectTimeoutMs, lookup: checkedLookup },
    })
    this.#agents.set(connectTimeoutMs, agent)
    return agent
  }
}

async function* bodyOf(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  try {
    yield* body
  } catch (thrown) {
    throw failureOf(thrown, signal)
  }
}

function headersOf(headers: Record<string, string | string[] | undefined>): Map<string, string> {
  const map = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return map
}

function failureOf(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (thrown instanceof GatewayError) return thrown
  const isSilent =
    thrown instanceof errors.HeadersTimeoutError ||
    thrown instanceof errors.BodyTimeoutError ||
    (thrown instanceof DOMException && thrown.name === 'TimeoutError')
  return isSilent
    ? new GatewayError('provider_timeout', 'the provider did not answer in time', { cause: thrown })
    : new GatewayError('provider_failed', 'the connection to the provider failed', {
        cause: thrown,
      })
}
