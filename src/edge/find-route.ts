// The handler of a data-plane path, or what is wrong with the path, in words for someone who is setting up a client.
import { GatewayError } from '../core/errors.ts'
import { makeRouter } from './router.ts'
import type { Handler } from './routes.ts'
import { ROUTES } from './routes.ts'

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
