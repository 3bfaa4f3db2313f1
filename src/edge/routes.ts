// The data plane on one screen: every method and path under /v1, and the function that answers it.
import type { Endpoint, Format } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { countMessageTokens, countResponseTokens } from '../exchange/endpoints/count-tokens.ts'
import { showOwnKey, showOwnRequest } from '../exchange/endpoints/key.ts'
import { listModels, showModel } from '../exchange/endpoints/models.ts'
import {
  deleteResponse,
  listInputItems,
  showResponse,
} from '../exchange/endpoints/stored-responses.ts'
import type { Parts } from '../exchange/exchange.ts'
import { exchange } from '../exchange/exchange.ts'
import type { Reply } from '../exchange/reply.ts'
import type { Incoming } from '../exchange/request.ts'
import { codecOf } from '../wire/codecs.ts'
import type { Codec } from '../wire/contract/codec.ts'

type Handler = {
  readonly endpoint: Endpoint
  /** The format of the body, if there is one, and of the answer's envelope. */
  readonly codec: Codec
  run(parts: Parts, arrival: Arrival, reply: Reply): Promise<void>
}

/** A request as the edge hands it to its handler. */
export type Arrival = Incoming & {
  /** The value of {id} or {name} in the path. */
  readonly id: string
  readonly query: URLSearchParams
}

export const ROUTES: readonly Route<Handler>[] = [
  ask('GET', '/v1/key', { endpoint: 'models', run: showOwnKey }),
  ask('GET', '/v1/requests/{id}', { endpoint: 'models', run: showOwnRequest }),
  ask('GET', '/v1/models', { endpoint: 'models', run: listModels }),
  ask('GET', '/v1/models/{name}', { endpoint: 'models', run: showModel }),
  post('/v1/chat/completions', { endpoint: 'chat', format: 'chat', run: exchange }),
  post('/v1/responses', { endpoint: 'responses', format: 'responses', run: exchange }),
  post('/v1/responses/input_tokens', {
    endpoint: 'responses',
    format: 'responses',
    run: countResponseTokens,
  }),
  ask('GET', '/v1/responses/{id}', { endpoint: 'responses', run: showResponse }),
  ask('DELETE', '/v1/responses/{id}', { endpoint: 'responses', run: deleteResponse }),
  ask('GET', '/v1/responses/{id}/input_items', { endpoint: 'responses', run: listInputItems }),
  post('/v1/embeddings', { endpoint: 'embeddings', format: 'embeddings', run: exchange }),
  post('/v1/messages', { endpoint: 'messages', format: 'messages', run: exchange }),
  post('/v1/messages/count_tokens', {
    endpoint: 'count_tokens',
    format: 'messages',
    run: countMessageTokens,
  }),
]

/** A route of the chat family that takes no body. */
function ask(
  method: 'GET' | 'DELETE',
  path: string,
  { endpoint, run }: { endpoint: Endpoint; run: Handler['run'] },
): Route<Handler> {
  return { method, path, handler: { endpoint, codec: codecOf('chat'), run } }
}

/** A route that takes a body in a wire format, and answers in its family's envelope. */
function post(
  path: string,
  { endpoint, format, run }: { endpoint: Endpoint; format: Format; run: typeof exchange },
): Route<Handler> {
  return { method: 'POST', path, handler: { endpoint, codec: codecOf(format), run } }
}

const find = makeRouter<Handler>(ROUTES)

/** OpenAI has endpoints of its own, such as compact, where only the id of a response can stand here. */
const NO_RESPONSE = /^\/v1\/responses\/(?!resp_|input_tokens$)/

export type FoundRoute = { readonly handler: Handler; readonly path: string; readonly id: string }

/** The handler of a path, and the id in it. Needs no key: a wrong path is a wrong path for everyone. */
export function findRoute(method: string, path: string): FoundRoute {
  const found = find(method, path)
  switch (found.found) {
    case 'route':
      return found
    case 'other methods':
      throw NO_RESPONSE.test(path) ? nothingAt(path) : otherMethods(path, method, found.methods)
    case 'nothing':
      throw nothingAt(path)
  }
}

export function otherMethods(
  path: string,
  method: string,
  methods: readonly string[],
): GatewayError {
  return new GatewayError(
    'method_not_allowed',
    `${path} accepts ${methods.filter((one) => one !== 'HEAD').join(' and ')}, not ${method}`,
    { allow: methods },
  )
}

export function nothingAt(path: string): GatewayError {
  return new GatewayError('not_found', `there is nothing at ${path.slice(0, 200)}${hintFor(path)}`)
}

/** Clients of one family want a base URL that ends in /v1, those of the other add it themselves: a common mix-up. */
function hintFor(path: string): string {
  const isPlace = (other: string): boolean => find('POST', other).found !== 'nothing'
  if (isPlace(`/v1${path}`)) return ': make the base URL of this client end in /v1'
  return path.startsWith('/v1/') && isPlace(path.slice('/v1'.length))
    ? ': leave /v1 out of the base URL, because this client adds it itself'
    : ''
}

type Route<Handler> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly handler: Handler
}

type Found<Handler> =
  | {
      readonly found: 'route'
      readonly handler: Handler
      readonly path: string
      readonly id: string
    }
  | { readonly found: 'other methods'; readonly methods: readonly string[] }
  | { readonly found: 'nothing' }

/**
 * Finds the handler of a method and a path. HEAD is answered where GET is: node leaves out the body. Paths are exact
 * but for one placeholder: `{id}`, or `{name}`, which may contain slashes because model names may. Of several patterns
 * that match, the longest wins.
 */
export function makeRouter<Handler>(
  routes: readonly Route<Handler>[],
): (method: string, path: string) => Found<Handler> {
  const byPath = Map.groupBy(routes, ({ path }) => path)
  const patterns = [...byPath.keys()]
    .filter((path) => path.includes('{'))
    .toSorted((one, other) => other.length - one.length)

  return (method, path) => {
    const exact = byPath.get(path)
    if (exact !== undefined) return choose(exact, method, '')
    for (const pattern of patterns) {
      const id = idIn(path, pattern)
      if (id !== undefined) return choose(byPath.get(pattern) ?? [], method, id)
    }
    return { found: 'nothing' }
  }
}

function choose<Handler>(
  routes: readonly Route<Handler>[],
  method: string,
  id: string,
): Found<Handler> {
  const asked = method === 'HEAD' ? 'GET' : method
  const route = routes.find((one) => one.method === asked)
  if (route !== undefined) return { found: 'route', handler: route.handler, path: route.path, id }
  const methods = routes.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : one.method))
  return { found: 'other methods', methods }
}

/** The value of the placeholder, if the path matches the pattern. A value that is not properly escaped never does. */
function idIn(path: string, pattern: string): string | undefined {
  const [before = '', placeholder, after = ''] = pattern.split(/[{}]/)
  const isFit = path.startsWith(before) && path.endsWith(after)
  if (!isFit || path.length <= before.length + after.length) return undefined
  const written = path.slice(before.length, path.length - after.length)
  if (placeholder === 'id' && written.includes('/')) return undefined
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}
