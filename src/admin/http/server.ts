// The admin API as one Fastify app, made from the contract and a handler for each of its routes. It does not listen:
// the edge hands it requests. A request that is sent twice with one Idempotency-Key is done once. Nothing here knows
// what a key is.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { retryAfterText } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { sentence } from '../../core/sentences.ts'
import { NOWHERE, type Scope, type Store } from '../../store/database/store.ts'
import { claim, keepAnswer, releaseClaim } from '../../store/idempotency.ts'
import { describeError } from '../../telemetry/log.ts'
import { sseEvent, writeSse } from '../../wire/contract/sse.ts'
import { contract, type RouteName } from '../contract/contract.ts'
import { adminError, AdminError, invalidValue } from '../contract/errors.ts'
import { API_PREFIX, EVENT_STREAM, METRICS_PATH, PERMISSIONS_HEADER } from '../contract/route.ts'
import type { AdminRoute } from '../contract/route.ts'
import { errorJson, toAdminError } from './errors.ts'
import {
  guard,
  type Guarded,
  type Identify,
  permissionsAnywhere,
  type Person,
  type RequestHeaders,
} from './guard.ts'
import { lastingIdentity, type Metrics } from './metrics.ts'
import { recordRefused } from './refusals.ts'
import type { AdminParts, Handlers } from './request.ts'

/** The store is for recording refusals, and for requests that are sent twice. */
export type AdminServerOptions = Pick<AdminParts, 'publicUrl' | 'clock' | 'log' | 'store'> & {
  readonly identify: Identify
  readonly handlers: Partial<Handlers>
  readonly metrics: Metrics
}

/** What the edge uses. */
export type AdminServer = {
  /** Resolves when the answer is sent, or the client is gone. */
  handle(message: RawRequest, response: RawResponse, requestId: string): Promise<void>
  close(): Promise<void>
}

type RawRequest = FastifyRequest['raw']
type RawResponse = FastifyReply['raw']

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly name?: RouteName
    readonly described?: Guarded
    /** How this route identifies its caller, if not in the usual way. */
    readonly identify?: Identify
  }
  interface FastifyRequest {
    person: Person | undefined
    scope: Scope | undefined
  }
}

const BODY_BYTES_MAX = 1024 * 1024
const PROXIES = ['loopback', 'linklocal', 'uniquelocal']

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

export async function makeAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  // The edge has already given the request its id, and the log is searched for that one.
  const names = new WeakMap<RawRequest, string>()
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    // With HTTPS a proxy is in front, and the address it names is the caller's; anyone else could name any address.
    trustProxy: options.publicUrl.startsWith('https:') ? PROXIES : false,
    genReqId: (raw) => names.get(raw as RawRequest) ?? newId('req', options.clock),
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (thrown, request, reply) =>
      void sendError(reply, { request, thrown, options }),
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler((thrown, request, reply) => sendError(reply, { request, thrown, options }))
  app.setNotFoundHandler((request, reply) =>
    sendError(reply, { request, thrown: nothingAt(request), options }),
  )
  app.decorateRequest('person', undefined)
  app.decorateRequest('scope', undefined)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...HEADERS, 'x-request-id': request.id })
    if (request.is404) return
    await admit(request, options)
    // PostgreSQL cannot store such a text, and its error would look like a fault.
    if (request.url.includes('%00')) throw new AdminError('invalid_value', sentence('text_nul'))
  })
  // Checked again once the body has arrived: a caller could hold it back for minutes, and lose their rights meanwhile.
  app.addHook('preValidation', async (request) => {
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    if (!request.is404 && hasBody) await admit(request, options)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const { person } = request
    if (person !== undefined)
      reply.header(PERMISSIONS_HEADER, [...permissionsAnywhere(person)].join(' '))
    return packed(request, reply, payload)
  })
  readJsonBodies(app)
  addRoutes(app, options)
  addMetrics(app, options)
  await app.ready()
  return {
    handle: async (message, response, requestId) => {
      // If the client left while this was loading, the close event is already past.
      if (response.closed) return
      names.set(message, requestId)
      const { promise, resolve } = Promise.withResolvers<void>()
      response.once('close', resolve)
      app.routing(message, response)
      await promise
    },
    close: () => app.close(),
  }
}

const pack = promisify(brotliCompress)
/** Below it, one packet carries the answer anyway. */
const PACKED_BYTES_MIN = 1_400
/** A tenth of the time of the highest quality, for a few percent more bytes. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/** Only what is read: an answer to a change may hold a secret, whose length must not tell anything about it. */
async function packed(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const isWanted = /(^|[\s,])br\s*(,|$)/.test(String(headers['accept-encoding'] ?? ''))
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead || typeof payload !== 'string') return payload
  reply.header('vary', 'accept-encoding')
  if (!isWanted || payload.length < PACKED_BYTES_MIN) return payload
  reply.header('content-encoding', 'br').removeHeader('content-length')
  return pack(payload, QUALITY)
}

/** Identifies the caller, and throws unless they may call this route. */
async function admit(request: FastifyRequest, options: AdminServerOptions): Promise<void> {
  const { described, identify = options.identify } = request.routeOptions.config
  if (described === undefined) throw new Error(`${request.url} has no rule for who may call it`)
  const { headers, ip: address } = request
  request.person = await identify({ headers, address })
  const arriving = { route: described, headers, person: request.person }
  request.scope = guard(arriving, options.publicUrl)
}

function addRoutes(app: FastifyInstance, { handlers, store }: AdminServerOptions): void {
  for (const [name, handler] of Object.entries(handlers) as [RouteName, Handlers[RouteName]][]) {
    const described: AdminRoute = contract[name]
    const { method, path, params, query, body, answer, bodyBytesMax } = described
    const { status = 200, media, idempotent } = described
    app.route({
      method,
      url: API_PREFIX + path,
      config: { name, described },
      ...(bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }),
      schema: {
        ...(params === undefined ? {} : { params }),
        ...(query === undefined ? {} : { querystring: query }),
        ...(body === undefined ? {} : { body }),
        response: { [status]: answer, '4xx': adminError, '5xx': adminError },
      },
      handler: async (request, reply) => {
        const read = requestOf(request, reply)
        // The schemas have read the request, so it has the type that this handler expects.
        const run = (): Promise<unknown> => handler(read as never)
        if (media === EVENT_STREAM) return sendEvents(reply, answer, run)
        if (media !== undefined) {
          reply.type(`${media}; charset=utf-8`)
          reply.header('content-disposition', `attachment; filename="${path.slice(1)}"`)
        }
        reply.code(status)
        if (idempotent !== true) return reply.send(await run())
        const personId = request.person?.id ?? ''
        const asked = { personId, headers: read.headers, request: [name, read.params, read.body] }
        const done = await idempotently(store, asked, run)
        if (done.isRepeated) reply.header('idempotency-replayed', 'true')
        return reply.send(done.answer)
      },
    })
  }
}

/** What fails before the stream begins is an error like any other. Nothing on the way may wait for more of it. */
async function sendEvents(
  reply: FastifyReply,
  event: AdminRoute['answer'],
  run: () => Promise<unknown>,
): Promise<FastifyReply> {
  const events = (await run()) as ReadableStream<unknown>
  const written = new TransformStream<unknown, string>({
    transform: (each, controller) =>
      controller.enqueue(writeSse(sseEvent('', z.encode(event, each)))),
  })
  reply.type(`${EVENT_STREAM}; charset=utf-8`).header('x-accel-buffering', 'no')
  return reply.send(events.pipeThrough(written))
}

/** Open to everyone who may read usage reports: metrics add only the condition of the processes. */
function addMetrics(app: FastifyInstance, { identify, clock, metrics }: AdminServerOptions): void {
  const described: Guarded = { method: 'GET', access: 'usage:read', reach: 'everywhere' }
  const config = { described, identify: lastingIdentity(identify, clock) }
  app.get(METRICS_PATH, { config }, async (_, reply) => {
    const { type, text } = await metrics()
    return reply.type(type).send(text)
  })
}

function requestOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    params: request.params,
    query: request.query,
    body: request.body,
    person: request.person,
    scope: request.scope ?? NOWHERE,
    headers: request.headers,
    requestId: request.id,
    address: request.ip,
    setHeader: (header: string, value: string | string[]) => void reply.header(header, value),
  }
}

/** A request without a body may still claim to be JSON: many clients always do. */
function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body as string, done)
  })
}

type Failed = {
  readonly request: FastifyRequest
  readonly thrown: unknown
  readonly options: AdminServerOptions
}

async function sendError(reply: FastifyReply, failed: Failed): Promise<FastifyReply> {
  const { request, thrown, options } = failed
  const error = toAdminError(thrown)
  await record(failed, error)
  const { retryAfterSeconds, cause } = error.details
  if (error.status >= 500) {
    options.log.error('admin_request_failed', {
      request_id: request.id,
      code: error.code,
      cause: describeError(cause ?? thrown),
    })
  }
  if (retryAfterSeconds !== undefined)
    reply.header('retry-after', retryAfterText(retryAfterSeconds))
  // An error thrown before any hook ran has no headers yet.
  reply.headers({ ...HEADERS, 'x-request-id': request.id })
  return reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(errorJson(error, request.id))
}

/** If the record cannot be written, that is logged, and the refusal stands. */
async function record({ request, options }: Failed, error: AdminError): Promise<void> {
  const { id: requestId, ip: address, person, params, scope = NOWHERE } = request
  const route = request.routeOptions.config?.name
  if (route === undefined) return
  const refused = { route, params, person, scope, address, requestId, error }
  await recordRefused(options.store, refused).catch((thrown: unknown) => {
    options.log.error('refusal_not_recorded', { cause: describeError(thrown) })
  })
}

function nothingAt({ method, url }: FastifyRequest): AdminError {
  const path = url.split('?', 1)[0]?.slice(0, 200) ?? ''
  return new AdminError('not_found', sentence('nothing_there', { route: `${method} ${path}` }))
}

// Idempotency-Key: the second of two equal requests gets the answer to the first.

type RepeatableRequest = {
  readonly headers: RequestHeaders
  readonly personId: string
  /** The route and everything sent to it. */
  readonly request: unknown
}

async function idempotently(
  store: Store,
  sent: RepeatableRequest,
  run: () => Promise<unknown>,
): Promise<{ readonly answer: unknown; readonly isRepeated: boolean }> {
  const name = nameOf(sent.headers)
  if (name === undefined) return { answer: await run(), isRepeated: false }
  const requestHash = hash('sha256', JSON.stringify(sent.request), 'hex')
  const wanted = { personId: sent.personId, name, requestHash }
  const claimed = await claim(store, wanted)
  if (!claimed.claimed) return { answer: firstAnswer(claimed), isRepeated: true }
  try {
    const answer = await run()
    await keepAnswer(store, wanted, JSON.stringify(withoutSecret(answer)))
    return { answer, isRepeated: false }
  } catch (thrown) {
    // After a refusal nothing was done. After a fault that is unknown, so the name stays taken.
    if (toAdminError(thrown).status < 500) await releaseClaim(store, wanted)
    throw thrown
  }
}

const NAME_LENGTH_MAX = 255

function nameOf(headers: RequestHeaders): string | undefined {
  const name = headers['idempotency-key']
  if (name === undefined) return undefined
  if (typeof name === 'string' && name !== '' && name.length <= NAME_LENGTH_MAX) return name
  const why = sentence('idempotency_key_shape', { most: NAME_LENGTH_MAX })
  throw invalidValue('Idempotency-Key', why)
}

function firstAnswer(first: { readonly answer: string | null; readonly isSame: boolean }): unknown {
  if (first.isSame && first.answer !== null) return JSON.parse(first.answer) as unknown
  const why = first.isSame ? 'idempotency_key_running' : 'idempotency_key_taken'
  throw new AdminError('idempotency_conflict', sentence(why))
}

/** A secret is shown only once, in the first answer. */
function withoutSecret(answer: unknown): unknown {
  return { ...Object(answer), ...('secret' in Object(answer) ? { secret: null } : {}) } as unknown
}
