// `tollgate probe`: runs the checks of endpoints, headers and errors, a table below, against a running gateway and prints
// one line each. For the owner of an application before switching; it needs only the application's key.
import { Option, type Command } from 'commander'
import { GatewayError } from '../core/errors.ts'
import { isArray, isObject, stringOf, type Json, type JsonObject } from '../core/json.ts'
import { openHttp } from '../providers/upstream/connections.ts'
import type { HttpClient } from '../providers/upstream/http.ts'
import { demand } from './command/options.ts'
import { FailureError, UsageError } from './terminal/failure.ts'
import { block, printJson, printText } from './terminal/output.ts'

type ProbeOptions = { readonly url: string; readonly json?: true }

export function addProbe(program: Command): void {
  const url = new Option('--url <url>', 'the gateway, without /v1: http://127.0.0.1:4000')
  demand(program.command('probe'), [url])
    .description(
      'Call every endpoint of a running gateway with the key in TOLLGATE_API_KEY, correctly and incorrectly, and compare the answers with the specification: endpoints, headers, errors. Costs a few short answers. Exit code 1 when something is not as specified.',
    )
    .option('--json', 'print only JSON on standard output')
    .action(async ({ url, json }: ProbeOptions) => {
      const base = readUrl(url)
      const results = await probe(gatewayAt(base, readKey()))
      const isGood = results.every(({ outcome }) => outcome !== 'failed')
      if (json) printJson({ ok: isGood, url: base.href, checks: results })
      else printText(textOf(results))
      if (!isGood) process.exitCode = 1
    })
}

type ProbeRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The header that carries the key; undefined = send no key. */
  readonly header: 'authorization' | 'x-api-key' | undefined
  /** Sent instead of the caller's own key. */
  readonly key?: string
  readonly body?: JsonObject
}

type Seen = {
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

type Check = {
  readonly name: string
  readonly expected: string
  readonly request: ProbeRequest
  readonly holds: (seen: Seen) => boolean
}

type Result = {
  readonly check: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly expected: string
  readonly seen: string
}

async function probe(gateway: Gateway): Promise<readonly Result[]> {
  try {
    const listed = await gateway.ask(LISTING.request)
    if (listed.status === 401) throw turnedAway(listed)
    const all = [listed]
    const results = [resultOf(LISTING, listed)]
    for (const check of checksFor(modelsIn(listed.json))) {
      if ('skipped' in check) {
        const { name, expected, skipped: seen } = check
        results.push({ check: name, outcome: 'skipped', expected, seen })
        continue
      }
      const seen = await gateway.ask(check.request)
      all.push(seen)
      results.push(resultOf(check, seen))
    }
    return [...results, requestIds(all)]
  } finally {
    await gateway.close()
  }
}

/** A key that is refused everywhere can test nothing. */
function turnedAway({ code }: Seen): FailureError {
  const answer = code === undefined ? '401' : `401 ${code}`
  return new FailureError(
    `this gateway rejects the key in TOLLGATE_API_KEY (${answer}): probe with a key that works`,
  )
}

function resultOf({ name, expected, holds }: Check, seen: Seen): Result {
  const shown = { check: name, expected, seen: wordsFor(seen) }
  if (holds(seen)) return { ...shown, outcome: 'passed' }
  // The operator's choice for this key, not a fault of the gateway.
  const isForbidden = seen.status === 403 && seen.code === 'endpoint_not_allowed'
  return { ...shown, outcome: isForbidden ? 'skipped' : 'failed' }
}

function requestIds(all: readonly Seen[]): Result {
  const without = all.filter(({ requestId }) => requestId === undefined).length
  return {
    check: 'x-request-id, and request-id below /v1/messages',
    expected: 'on every answer',
    outcome: without === 0 ? 'passed' : 'failed',
    seen: `on ${all.length - without} of ${all.length}`,
  }
}

function wordsFor({ status, code, contentType, message }: Seen): string {
  if (status === undefined) return message ?? 'no answer'
  if (code !== undefined) return `${status} ${code}`
  return [status, contentType, message].filter((word) => word !== undefined).join(' ')
}

const MARKS: Record<Result['outcome'], string> = { passed: '✓', failed: '✗', skipped: '–' }

function textOf(results: readonly Result[]): string {
  const lines = results.map(({ check, outcome, expected, seen }): readonly [string, string] => [
    `${MARKS[outcome]} ${check}`,
    outcome === 'failed' ? `expected ${expected}, saw ${seen}` : seen,
  ])
  const count = (outcome: Result['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length
  const summary = `${count('passed')} as specified, ${count('failed')} not, ${count('skipped')} not tried`
  return `${block(lines)}\n\n${summary}`
}

function readKey(): string {
  const key = process.env['TOLLGATE_API_KEY']
  if (!key) {
    throw new UsageError('set the environment variable TOLLGATE_API_KEY to the key to probe with')
  }
  if (/^[!-~]+$/.test(key)) return key
  throw new UsageError('TOLLGATE_API_KEY has a space, line break or letter that no key has')
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') {
    // Accepts the address with /v1 too, as many clients want it.
    return new URL(`${url.origin}${url.pathname.replace(/\/*$/, '/').replace(/\/v1\/$/, '/')}`)
  }
  throw new UsageError('--url must be an address such as http://127.0.0.1:4000')
}

type Gateway = {
  ask(request: ProbeRequest): Promise<Seen>
  close(): Promise<void>
}

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000, totalMs: 300_000 }

/** Throws only if no gateway has answered so far. */
function gatewayAt(base: URL, key: string): Gateway {
  const http = openHttp(process.env)
  let hasAnswered = false
  return {
    close: () => http.close(),
    async ask(request) {
      try {
        const seen = await send(http, base, withKey(request, key))
        hasAnswered = true
        return seen
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        const reason = error.cause instanceof Error ? error.cause.message : error.message
        if (!hasAnswered) throw new FailureError(`no gateway answers at ${base.href}: ${reason}`)
        return { text: '', json: null, message: `a connection that broke: ${reason}` }
      }
    },
  }
}

type Sent = ProbeRequest & { readonly headers: Readonly<Record<string, string>> }

function withKey(request: ProbeRequest, own: string): Sent {
  const { header, key = own } = request
  const secret = header === 'authorization' ? `Bearer ${key}` : key
  return {
    ...request,
    headers: {
      'content-type': 'application/json',
      ...(header === undefined ? {} : { [header]: secret }),
    },
  }
}

async function send(http: HttpClient, base: URL, request: Sent): Promise<Seen> {
  const { method, path, headers, body } = request
  const answer = await http.send(
    {
      url: new URL(path.slice(1), base),
      method,
      headers,
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      timeouts: TIMEOUTS,
    },
    new AbortController().signal,
  )
  const chunks = await Array.fromAsync(answer.body)
  const text = Buffer.concat(chunks).toString()
  const json = parsed(text)
  const error = isObject(json) && isObject(json['error']) ? json['error'] : {}
  const idHeader = path.startsWith('/v1/messages') ? 'request-id' : 'x-request-id'
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type'),
    text,
    json,
    code: stringOf(error['code']),
    message: stringOf(error['message']),
    requestId: answer.headers.get('x-request-id') && answer.headers.get(idHeader),
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}

// What a gateway must do, as a table: each line has a request, the promised answer (README.md under Endpoints,
// docs/using.md under Which header, docs/errors.md), and a check of it. No calls are made from here on.

/** A line that cannot be tried, and why. */
type Skipped = {
  readonly name: string
  readonly expected: string
  readonly skipped: string
}

type Models = { readonly chat: string | undefined; readonly embedding: string | undefined }

const LIST: Endpoint = { path: '/v1/models', header: 'authorization' }

const LISTING: Check = {
  name: 'GET /v1/models',
  expected: '200 and a list of models',
  request: requestTo(LIST),
  holds: ({ status, json }) =>
    status === 200 && isObject(json) && json['object'] === 'list' && entriesOf(json).length > 0,
}

/** The first model of each kind in a list of models. */
function modelsIn(list: Json): Models {
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

function checksFor(models: Models): readonly (Check | Skipped)[] {
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
