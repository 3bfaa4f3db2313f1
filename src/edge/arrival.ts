// A request at the door of the data plane: found among the routes, and turned into what the flow takes. Only what the
// flow may know of HTTP comes along.
import type { IncomingMessage, ServerResponse } from 'node:http'

import { GatewayError } from '../core/errors.ts'
import type { Trace } from '../exchange/trace.ts'
import type { BodyReader } from './body.ts'
import { makeRouter } from './router.ts'
import type { Arrival, Handler } from './routes.ts'
import { ROUTES } from './routes.ts'

/** Headers that a provider may see; everything else of the client's stays here, its credentials above all. */
const PROVIDER_HEADERS = [
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'x-tollgate-sandbox',
]

/** Where clients name the conversation that a request belongs to. */
const SESSION_HEADERS = ['x-session-id', 'session_id', 'session-id']

const find = makeRouter<Handler>(ROUTES)

export type Received = { readonly message: IncomingMessage; readonly response: ServerResponse }

type FoundRoute = { readonly handler: Handler; readonly path: string; readonly id: string }

/** The handler of a path, and the id in it. Needs no key: a wrong path is a wrong path for everyone. */
export function findRoute(method: string, path: string): FoundRoute {
  const found = find(method, path)
  switch (found.found) {
    case 'route':
      return found
    case 'other methods':
      throw new GatewayError(
        'method_not_allowed',
        `${path} answers ${found.methods.join(' and ')}, not ${method}`,
        { allow: found.methods },
      )
    case 'nothing':
      throw nothingAt(path)
  }
}

export function nothingAt(path: string): GatewayError {
  return new GatewayError('not_found', `there is nothing at ${path.slice(0, 200)}`)
}

export function arrivalOf(
  { message, response }: Received,
  route: FoundRoute,
  given: { readonly bodies: BodyReader; readonly startedMs: number; readonly trace: Trace },
): Arrival {
  const { headers } = message
  const { endpoint, family } = route.handler
  let body: Promise<Buffer> | undefined
  return {
    requestId: given.trace.requestId,
    endpoint,
    id: route.id,
    query: new URLSearchParams(message.url?.split('?', 2)[1]),
    credentials: {
      family,
      authorization: headers.authorization,
      apiKey: single(headers['x-api-key']),
    },
    providerHeaders: new Map(
      PROVIDER_HEADERS.flatMap((name) => {
        const value = single(headers[name])
        return value === undefined ? [] : [[name, value] as const]
      }),
    ),
    session: SESSION_HEADERS.map((name) => single(headers[name])).find(Boolean),
    startedMs: given.startedMs,
    trace: given.trace,
    isDryRun: isDryRun(headers['x-tollgate-dry-run']),
    readBody: () => (body ??= given.bodies.read(message, response)),
  }
}

/** Somebody who asks for a rehearsal in words that are not understood must not get the performance. */
function isDryRun(value: string | string[] | undefined): boolean {
  if (value === undefined || value === '0' || value === 'false') return false
  if (value === '1' || value === 'true') return true
  throw new GatewayError('invalid_request', 'x-tollgate-dry-run must be 1 or 0')
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
