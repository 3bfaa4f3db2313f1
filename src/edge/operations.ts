// The data plane on one screen: every method and path under /v1, and the function that answers it. A path that leads
// nowhere is refused in words for someone who is setting up a client.
import type { Authenticator, LastUse } from '../access/authenticate.ts'
import type { Endpoint, Format } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { countTokens } from '../exchange/endpoints/free.ts'
import { showOwnKey, showOwnRequest, type OwnKeyParts } from '../exchange/endpoints/key.ts'
import { listModels, showModel } from '../exchange/endpoints/models.ts'
import {
  deleteResponse,
  listInputItems,
  showResponse,
} from '../exchange/endpoints/stored-responses.ts'
import { exchange, type Handler, type Parts } from '../exchange/exchange.ts'
import type { Overload } from '../exchange/admission.ts'
import type { RefusalRecord } from '../exchange/refusals.ts'
import { CODECS } from '../wire/codecs.ts'
import type { Codec } from '../wire/contract/codec.ts'

/** What the data plane is made of. */
export type DataPlaneParts = Parts &
  OwnKeyParts & {
    readonly authenticator: Authenticator
    readonly lastUse: Pick<LastUse, 'note'>
    readonly refusals: Pick<RefusalRecord, 'note'>
    readonly overload: Pick<Overload, 'begin' | 'end' | 'refusal' | 'shed'>
  }

export type Operation = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly endpoint: Endpoint
  /** Whether a key needs a permission for it, and counts as used. Every key may ask about itself. */
  readonly isUse: boolean
  /** The format of the body, if there is one, and of the answer's envelope. */
  readonly codec: Codec
  readonly run: Handler<DataPlaneParts>
}

export const OPERATIONS: readonly Operation[] = [
  aboutKey('/v1/key', showOwnKey),
  aboutKey('/v1/requests/{id}', showOwnRequest),
  ask('GET', '/v1/models', { endpoint: 'models', run: listModels }),
  ask('GET', '/v1/models/{name}', { endpoint: 'models', run: showModel }),
  post('/v1/chat/completions', { endpoint: 'chat', format: 'chat', run: exchange }),
  post('/v1/responses', { endpoint: 'responses', format: 'responses', run: exchange }),
  post('/v1/responses/input_tokens', {
    endpoint: 'responses',
    format: 'responses',
    run: countTokens,
  }),
  ask('GET', '/v1/responses/{id}', { endpoint: 'responses', run: showResponse }),
  ask('DELETE', '/v1/responses/{id}', { endpoint: 'responses', run: deleteResponse }),
  ask('GET', '/v1/responses/{id}/input_items', { endpoint: 'responses', run: listInputItems }),
  post('/v1/embeddings', { endpoint: 'embeddings', format: 'embeddings', run: exchange }),
  post('/v1/messages', { endpoint: 'messages', format: 'messages', run: exchange }),
  post('/v1/messages/count_tokens', {
    endpoint: 'count_tokens',
    format: 'messages',
    run: countTokens,
  }),
]

function aboutKey(path: string, run: Operation['run']): Operation {
  return { ...ask('GET', path, { endpoint: 'models', run }), isUse: false }
}

/** An operation of the chat family that takes no body. */
function ask(
  method: 'GET' | 'DELETE',
  path: string,
  given: Pick<Operation, 'endpoint' | 'run'>,
): Operation {
  return { method, path, ...given, isUse: true, codec: CODECS.chat }
}

/** An operation that takes a body in a wire format, and answers in its family's envelope. */
function post(
  path: string,
  { format, ...given }: Pick<Operation, 'endpoint' | 'run'> & { readonly format: Format },
): Operation {
  return { method: 'POST', path, ...given, isUse: true, codec: CODECS[format] }
}

/** OpenAI has endpoints of its own, such as compact, where only the id of a response can stand here. */
const NO_RESPONSE = /^\/v1\/responses\/(?!resp_|input_tokens$)/

/** The operation of a method and a path, and the id in it. Needs no key: a wrong path is a wrong path for everyone. */
export function findOperation(
  method: string,
  path: string,
): { readonly operation: Operation; readonly id: string } {
  const found = findPath(path)
  if (found === undefined) throw nothingAt(path)
  const { operations, id } = found
  // HEAD is answered where GET is: node leaves out the body.
  const asked = method === 'HEAD' ? 'GET' : method
  const operation = operations.find((one) => one.method === asked)
  if (operation !== undefined) return { operation, id }
  if (NO_RESPONSE.test(path)) throw nothingAt(path)
  const methods = operations.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : one.method))
  throw otherMethods(path, method, methods)
}

export function isOperation(path: string): boolean {
  return findPath(path) !== undefined
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
  const isPath = (other: string): boolean => findPath(other) !== undefined
  if (isPath(`/v1${path}`)) return ': make the base URL of this client end in /v1'
  return path.startsWith('/v1/') && isPath(path.slice('/v1'.length))
    ? ': leave /v1 out of the base URL, because this client adds it itself'
    : ''
}

const BY_PATH = Map.groupBy(OPERATIONS, ({ path }) => path)
/** Of several that match, the longest wins. */
const PATTERNS = [...BY_PATH.keys()]
  .filter((path) => path.includes('{'))
  .toSorted((one, other) => other.length - one.length)

/** Paths are exact but for one placeholder: `{id}`, or `{name}`, which may contain slashes because model names may. */
function findPath(
  path: string,
): { readonly operations: readonly Operation[]; readonly id: string } | undefined {
  const exact = BY_PATH.get(path)
  if (exact !== undefined) return { operations: exact, id: '' }
  for (const pattern of PATTERNS) {
    const id = idIn(path, pattern)
    if (id !== undefined) return { operations: BY_PATH.get(pattern) ?? [], id }
  }
  return undefined
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
