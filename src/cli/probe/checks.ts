// What a gateway must do, as a table: each line has a request, the promised answer (README.md under Endpoints,
// docs/using.md under Which header, docs/errors.md), and a check of it. No calls are made here.
import { isArray, isObject, stringOf, type Json, type JsonObject } from '../../core/json.ts'

export type Check = {
  readonly name: string
  readonly expected: string
  readonly request: ProbeRequest
  readonly holds: (seen: Seen) => boolean
}

/** A line that cannot be tried, and why. */
type Skipped = {
  readonly name: string
  readonly expected: string
  readonly skipped: string
}

type Models = { readonly chat: string | undefined; readonly embedding: string | undefined }

const LIST: Endpoint = { path: '/v1/models', header: 'authorization' }

export const LISTING: Check = {
  name: 'GET /v1/models',
  expected: '200 and a list of models',
  request: requestTo(LIST),
  holds: ({ status, json }) =>
    status === 200 && isObject(json) && json['object'] === 'list' && entriesOf(json).length > 0,
}

/** The first model of each kind in a list of models. */
export function modelsIn(list: Json): Models {
  const entries = entriesOf(list)
  const first = (isEmbedding: boolean): string | undefined =>
    entries
      .filter((entry) => isEmbeddingModel(entry) === isEmbedding)
      .map(({ id }) => stringOf(id))
      .find((id) => id !== undefined)
  return { chat: first(false), embedding: first(true) }
}

function entriesOf(list: Json): readonly JsonObject[] {
  return isObject(list) && isArray(list['data']) ? list['data'].filter(isObject) : []
}

/** By the entry's `kind`, or by its name if it has none. */
function isEmbeddingModel({ kind, id }: JsonObject): boolean {
  return typeof kind === 'string' ? kind === 'embedding' : /embed/i.test(stringOf(id) ?? '')
}

export function checksFor(models: Models): readonly (Check | Skipped)[] {
  return [
    ...POSTS.flatMap((post) => answers(post, models)),
    ...[LIST, ...POSTS].flatMap((endpoint) => wrongKeys(endpoint, models)),
    ...POSTS.flatMap((post) => wrongRequests(post, models)),
    ...wrongPaths(),
    untried('a revoked key', '401 revoked_api_key', 'needs a revoked key'),
    untried('an exceeded budget', '402 and an error object', 'needs a budget that is used up'),
  ]
}

type Endpoint = { readonly path: string; readonly header: 'authorization' | 'x-api-key' }

type Post = Endpoint & {
  readonly kind: keyof Models
  body(model: string): JsonObject
  readonly whole: { readonly expected: string; holds(json: JsonObject): boolean }
  /** How a complete stream ends; undefined = the endpoint does not stream. */
  readonly lastEvent?: RegExp
}

const HELLO = [{ role: 'user', content: 'Say hello.' }]
const ASKED = { input: 'Say hello.' }
/** The smallest limit that every provider accepts. */
const OUTPUT_TOKENS = 16

const POSTS: readonly Post[] = [
  {
    path: '/v1/chat/completions',
    header: 'authorization',
    kind: 'chat',
    body: (model) => ({ model, messages: HELLO, max_completion_tokens: OUTPUT_TOKENS }),
    whole: { expected: 'id, object chat.completion, choices', holds: isChatCompletion },
    lastEvent: /^data: \[DONE\]$/m,
  },
  {
    path: '/v1/responses',
    header: 'authorization',
    kind: 'chat',
    body: (model) => ({ ...ASKED, model, max_output_tokens: OUTPUT_TOKENS, store: false }),
    whole: {
      expected: 'id, object response, output',
      holds: ({ id, object, output }) =>
        typeof id === 'string' && object === 'response' && isArray(output),
    },
    lastEvent: /^event: response\.(completed|incomplete)$/m,
  },
  {
    path: '/v1/responses/input_tokens',
    header: 'authorization',
    kind: 'chat',
    body: (model) => ({ ...ASKED, model }),
    whole: {
      expected: 'object response.input_tokens, input_tokens',
      holds: ({ object, input_tokens }) =>
        object === 'response.input_tokens' && Number.isInteger(input_tokens),
    },
  },
  {
    path: '/v1/embeddings',
    header: 'authorization',
    kind: 'embedding',
    body: (model) => ({ model, input: 'hello', encoding_format: 'float' }),
    whole: {
      expected: 'object list, data with embeddings',
      holds: (json) => {
        const [first] = entriesOf(json)
        return json['object'] === 'list' && isArray(first?.['embedding'])
      },
    },
  },
  {
    path: '/v1/messages',
    header: 'x-api-key',
    kind: 'chat',
    body: (model) => ({ model, messages: HELLO, max_tokens: OUTPUT_TOKENS }),
    whole: {
      expected: 'id, type message, role assistant, content, stop_reason',
      holds: ({ id, type, role, content, stop_reason }) =>
        typeof id === 'string' &&
        type === 'message' &&
        role === 'assistant' &&
        isArray(content) &&
        typeof stop_reason === 'string',
    },
    lastEvent: /^event: message_stop$/m,
  },
  {
    path: '/v1/messages/count_tokens',
    header: 'x-api-key',
    kind: 'chat',
    body: (model) => ({ model, messages: HELLO }),
    whole: {
      expected: 'input_tokens',
      holds: ({ input_tokens }) => Number.isInteger(input_tokens),
    },
  },
]

function isChatCompletion({ id, object, choices }: JsonObject): boolean {
  const [choice] = isArray(choices) ? choices : []
  if (!isObject(choice) || !isObject(choice['message'])) return false
  return (
    typeof id === 'string' &&
    object === 'chat.completion' &&
    choice['index'] === 0 &&
    choice['message']['role'] === 'assistant' &&
    typeof choice['finish_reason'] === 'string'
  )
}

/** Every endpoint answers, whole and streamed. */
function answers(post: Post, models: Models): readonly (Check | Skipped)[] {
  const { path, whole, lastEvent } = post
  const name = `POST ${path}`
  const model = models[post.kind]
  const expected = `200 with ${whole.expected}`
  if (model === undefined) return [noModel(name, expected, post.kind)]
  const request = requestTo(post, post.body(model))
  const plain: Check = {
    name,
    expected,
    request,
    holds: ({ status, json }) => status === 200 && isObject(json) && whole.holds(json),
  }
  if (lastEvent === undefined) return [plain]
  return [
    plain,
    {
      name: `${name}, streamed`,
      expected: '200 with Server-Sent Events up to the last one',
      request: { ...request, body: { ...request.body, stream: true } },
      holds: ({ status, contentType, text }) =>
        status === 200 &&
        contentType?.startsWith('text/event-stream') === true &&
        lastEvent.test(text),
    },
  ]
}

/** Only a known key is accepted, in the family's own header unless the operator allows either. */
function wrongKeys(endpoint: Endpoint | Post, models: Models): readonly Check[] {
  const { path, header } = endpoint
  const body = 'body' in endpoint ? endpoint.body(models[endpoint.kind] ?? 'any') : undefined
  const right = requestTo(endpoint, body)
  const other = header === 'authorization' ? 'x-api-key' : 'authorization'
  const refused = (how: string, request: ProbeRequest): Check => ({
    name: `${right.method} ${path} with ${how}`,
    expected: '401 invalid_api_key',
    request,
    holds: isRefused(401, 'invalid_api_key', path),
  })
  const swapped = refused(`the key in ${other} alone`, { ...right, header: other })
  // The operator may allow either header. Then the key is known, whatever it may call.
  const isAccepted = ({ status }: Seen): boolean => status === 200 || status === 403
  return [
    refused('no key', { ...right, header: undefined }),
    refused('an unknown key', { ...right, key: 'tg_live_unknown' }),
    {
      ...swapped,
      expected: `${swapped.expected}, or acceptance where either header is allowed`,
      holds: (seen) => swapped.holds(seen) || isAccepted(seen),
    },
  ]
}

const NOT_ALLOWED: [number, string] = [403, 'model_not_allowed']

/** Each is refused, with the right status and error object. */
function wrongRequests(post: Post, models: Models): readonly (Check | Skipped)[] {
  const { path, kind } = post
  const refused = (how: string, body: JsonObject, [status, code]: [number, string]): Check => ({
    name: `POST ${path} with ${how}`,
    expected: `${status} ${code}`,
    request: requestTo(post, body),
    holds: isRefused(status, code, path),
  })
  const otherKind = kind === 'chat' ? 'embedding' : 'chat'
  const other = models[otherKind]
  const wrongKind = `a model for ${kind === 'chat' ? 'embeddings' : 'chat'}`
  const streaming = { ...post.body(models[kind] ?? 'any'), stream: 'yes' }
  return [
    refused('a model that is not allowed', post.body('probe-no-such-model'), NOT_ALLOWED),
    refused('no model', { ...post.body(''), model: null }, [400, 'invalid_request']),
    ...(post.lastEvent === undefined
      ? []
      : [refused('stream: "yes"', streaming, [400, 'invalid_request'])]),
    other === undefined
      ? noModel(`POST ${path} with ${wrongKind}`, '400 wrong_model_kind', otherKind)
      : refused(wrongKind, post.body(other), [400, 'wrong_model_kind']),
  ]
}

function wrongPaths(): readonly Check[] {
  const check = (name: string, expected: [number, string], request: ProbeRequest): Check => ({
    name,
    expected: expected.join(' '),
    request,
    holds: isRefused(...expected, request.path),
  })
  const [path, chat] = ['/v1/no-such-path', '/v1/chat/completions']
  const get = { method: 'GET', header: 'authorization' } as const
  return [
    check(`GET ${path}`, [404, 'not_found'], { ...get, path }),
    check(`GET ${chat}`, [405, 'method_not_allowed'], { ...get, path: chat }),
  ]
}

/** The status, and the error object in the envelope of the path's family. */
function isRefused(status: number, code: string, path: string): (seen: Seen) => boolean {
  return ({ status: seen, json }) => {
    if (seen !== status || !isObject(json) || !isObject(json['error'])) return false
    const { type, message, code: told, ...rest } = json['error']
    const isError = typeof type === 'string' && typeof message === 'string' && told === code
    return isError && (path.startsWith('/v1/messages') ? json['type'] === 'error' : 'param' in rest)
  }
}

function requestTo({ path, header }: Endpoint, body?: JsonObject): ProbeRequest {
  return body === undefined
    ? { path, header, method: 'GET' }
    : { path, header, method: 'POST', body }
}

function noModel(name: string, expected: string, kind: keyof Models): Skipped {
  return untried(name, expected, `the key has no ${kind} model`)
}

function untried(name: string, expected: string, skipped: string): Skipped {
  return { name, expected, skipped }
}

export type ProbeRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The header that carries the key; undefined = send no key. */
  readonly header: 'authorization' | 'x-api-key' | undefined
  /** Sent instead of the caller's own key. */
  readonly key?: string
  readonly body?: JsonObject
}

export type Seen = {
  /** Absent if the connection broke. */
  readonly status?: number
  readonly contentType?: string | undefined
  readonly text: string
  /** Null if the body is not JSON. */
  readonly json: Json
  /** From the error object, if there is one. */
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly requestId?: string | undefined
}
