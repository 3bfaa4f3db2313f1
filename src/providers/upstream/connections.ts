// Connections to providers: the only place that loads undici. One bounded pool of kept connections per origin and
// connect timeout, over verified TLS, through a proxy where the environment names one.
import { buildConnector, EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici'
import { checkedLookup } from './addresses.ts'
import { HttpClient } from './http.ts'

/** A stream occupies a connection for as long as it runs, so this also bounds the streams of one origin. */
const CONNECTIONS_MAX = 8_192

/**
 * How long an idle connection is kept for the next call, unless the server says. If a server closes it just as a call
 * is sent, that looks like a crash in mid-call. uvicorn and llama.cpp, on plain HTTP, close after 5 s; the front ends
 * of providers on the internet wait a minute or more, and a new connection to them costs a handshake.
 */
const KEPT_MS = { plain: 4_000, encrypted: 30_000 }

/** The environment variables, which may name proxies. */
type Environment = Readonly<Record<string, string | undefined>>

export function openHttp(env: Environment): HttpClient {
  return new HttpClient((origin, connectMs) => dispatcherTo(origin, connectMs, env))
}

function dispatcherTo(origin: string, connectMs: number, env: Environment): Dispatcher {
  // Even where the environment turns verification off, the gateway sends its keys only to a verified server.
  const verified = { timeout: connectMs, rejectUnauthorized: true }
  const options = {
    connections: CONNECTIONS_MAX,
    keepAliveTimeout: origin.startsWith('http:') ? KEPT_MS.plain : KEPT_MS.encrypted,
    pipelining: 1,
    // One request per connection: what a provider does to one request cannot affect another.
    allowH2: false,
    connect: buildConnector({ ...verified, lookup: checkedLookup, allowH2: false }),
  }
  // A proxy named in the environment is the operator's choice, as it is for every other program. undici takes as long
  // to decide whether an address needs the proxy as for the rest of a call, so it decides only if there is one.
  const proxies = proxiesIn(env)
  return proxies === undefined
    ? new Pool(origin, options)
    : new EnvHttpProxyAgent({ ...options, ...proxies, proxyTls: verified, requestTls: verified })
}

function proxiesIn(env: Environment): EnvHttpProxyAgent.Options | undefined {
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'] ?? ''
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? ''
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  return httpProxy === '' && httpsProxy === '' ? undefined : { httpProxy, httpsProxy, noProxy }
}
