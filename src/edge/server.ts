// The HTTP server: the only file that listens. Gives every request an id, finds its operation and its caller, renders
// errors in the family's envelope, and on shutdown lets running answers finish.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { authenticate, withCurrentKey, permitEndpoint } from '../access/authenticate.ts'
import { METRICS_PATH } from '../admin/contract/route.ts'
import type { AdminServer } from '../admin/http/server.ts'
import type { Family } from '../core/endpoints.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { LinkedList } from '../core/runtime.ts'
import { urlOf } from '../core/text.ts'
import { DAY_MS } from '../core/units.ts'
import { TurnedAway } from '../exchange/admission.ts'
import type { Client } from '../exchange/refusals.ts'
import { ClientGone } from '../exchange/reply.ts'
import { isOutage } from '../store/database/outage.ts'
import { describeError, logRequest, type Log } from '../telemetry/log.ts'
import type { Counts } from '../telemetry/metrics.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import type { AddressOf } from './address.ts'
import {
  ConnectionWatch,
  endAfterwards,
  HEADER_BYTES_MAX,
  noRequestOf,
  writeNoRequest,
} from './connection.ts'
import type { WebFiles } from './files.ts'
import {
  Body,
  bodyMsMax,
  BodyRoom,
  credentialsOf,
  HttpRequest,
  traceHeadersOf,
  type BodyRoomOptions,
  type Received,
} from './inbound.ts'
import {
  findOperation,
  isOperation,
  nothingAt,
  otherMethods,
  type DataPlaneParts,
} from './operations.ts'
import { HttpReply, refuseAtOnce } from './reply.ts'

type EdgeOptions = Omit<BodyRoomOptions, 'overload'> & {
  readonly parts: DataPlaneParts
  readonly log: Log
  /** The metrics of data-plane requests. */
  readonly counts: Counts
  /** Undefined: nobody wants traces. */
  readonly tracing: Pick<Tracing, 'begin'> | undefined
  /** Requests on more connections than these are turned away. */
  readonly connectionsMax: number
  /** Whether /v1 may be missing from the paths of the data plane. */
  readonly hasBarePaths: boolean
  /** As much of a client's address as is kept. */
  readonly addressOf: AddressOf
  readonly web: WebFiles
  readonly admin: AdminServer
  /** Whether people reach the admin plane over HTTPS. */
  readonly isAdminSecure: boolean
  /** What this listener answers: the data plane, the admin plane, or both. Every listener answers health checks. */
  readonly planes: readonly ('data' | 'admin')[]
  /** Whether the gateway could serve a request now; the reason when it could not. */
  readiness(): Promise<string | undefined>
}

const SETTINGS = {
  // Checked here instead, so that the refusal has the usual form and an id.
  requireHostHeader: false,
  // Node would silently take the first of several, where a proxy in front may have taken the last.
  joinDuplicateHeaders: true,
  maxHeaderSize: HEADER_BYTES_MAX,
  headersTimeout: 15_000,
  keepAliveTimeout: 75_000,
}
/** How long the last error event of a cut stream may take to go out. */
const LAST_WORDS_MS = 5_000
/** How soon a client that has stopped sending is written to, to find out whether it is gone: each time later. */
const PROBE_MS = { first: 20, most: 1_000 }
/** Beyond `connectionsMax`: for health checks and the admin plane, and to say no to the others. */
const CONNECTIONS_SPARE = 100
/** How many may wait to be accepted, as far as the system agrees. Those beyond it would be lost without an answer. */
const BACKLOG = 4_096
/** How long the end of the last answer may take to go out. */
const GOODBYE_MS = 1_000

export class Edge {
  readonly #options: EdgeOptions
  readonly #server: Server
  readonly #bodyRoom: BodyRoom
  readonly #watch: ConnectionWatch
  /**
   * The answer to each request that is being served: one connection may bring several at once. Handlers outlive their
   * sockets: a request is still settled after its client has gone.
   */
  readonly #serving = new LinkedList<HttpReply>()
  #connections = 0
  /** Those that were opened beyond `connectionsMax`. */
  readonly #beyond = new WeakSet<Socket>()
  #probing: { readonly timer: NodeJS.Timeout; readonly afterMs: number } | undefined
  #isLeaving = false
  #isDraining = false
  /** Called when the last request has been served. */
  #drained: (() => void) | undefined

  constructor(options: EdgeOptions) {
    this.#options = options
    this.#bodyRoom = new BodyRoom({ ...options, overload: options.parts.overload })
    this.#watch = new ConnectionWatch(options.parts.clock)
    const serve = (message: IncomingMessage, response: ServerResponse): void => {
      void this.#serve(message, response)
    }
    // Bodies that are read have their own timeouts. This ends those that are not; node keeps it in 32 bits.
    const requestTimeout = Math.min(bodyMsMax(options.bodyBytesMax), DAY_MS)
    this.#server = createServer({ ...SETTINGS, requestTimeout }, serve)
    // An unknown `Expect` header is ignored.
    this.#server.on('checkExpectation', serve)
    this.#server.on('checkContinue', (message, response) => {
      message.once('resume', () => {
        if (!response.headersSent) response.writeContinue()
      })
      serve(message, response)
    })
    // A client that has sent its request may close its side of the connection, and wait for the answer.
    Object.assign(this.#server, { httpAllowHalfOpen: true })
    this.#server.maxConnections = options.connectionsMax + CONNECTIONS_SPARE
    this.#server.on('connection', (socket) => {
      socket.once('end', () => this.#probeAfter(PROBE_MS.first))
      this.#countConnection(socket)
    })
    this.#server.on('drop', () => options.parts.overload.shed('connections'))
    this.#server.on('clientError', (problem, socket) => this.#refuse(socket as Socket, problem))
  }

  /** Starts to listen, and returns http://HOST:PORT with the port that the system chose if 0 was requested. */
  listen({ host, port }: Address): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const plane = this.#options.planes.includes('data') ? 'data' : 'admin'
    const fail = (cause: Error): void => reject(new ListenError({ host, port, plane }, cause))
    this.#server.once('error', fail)
    this.#server.listen({ port, host, backlog: BACKLOG }, () => {
      this.#server.off('error', fail)
      const address = this.#server.address() as AddressInfo
      resolve(urlOf({ host, port: address.port }))
    })
    return promise
  }

  /** Tells load balancers to send nothing more, and goes on serving what they send until they know. */
  leave(): void {
    this.#isLeaving = true
  }

  /** Stops taking requests, lets running ones finish for at most `timeoutMs`, then ends the rest with an error. */
  async drain(timeoutMs: number): Promise<void> {
    this.leave()
    this.#isDraining = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const { running } = this.#options.parts
    const late = setTimeout(() => running.cutAll(draining()), timeoutMs)
    // A client that does not read even its last bytes is not waited for.
    const last = setTimeout(() => this.#server.closeAllConnections(), timeoutMs + LAST_WORDS_MS)
    if (!this.#serving.isEmpty) await new Promise<void>((resolve) => (this.#drained = resolve))
    // Connections without a request, or that keep sending what is not read, are not waited for.
    const rest = setTimeout(() => this.#server.closeAllConnections(), GOODBYE_MS)
    await closed
    for (const timer of [late, last, rest, this.#probing?.timer]) clearTimeout(timer)
    this.#watch.stop()
  }

  /** One request: one answer, and one log line. Never rejects. */
  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { parts, log, counts, tracing } = this.#options
    const startedMs = parts.clock.monotonicMs()
    // No client should send another request over a connection that is about to end.
    if (this.#isLeaving) response.shouldKeepAlive = false
    if (message.headers.upgrade !== undefined) endAfterwards(response)
    const path = this.#options.hasBarePaths ? wholePath(message) : pathOf(message)
    const family = familyOf(path)
    const isDataPlane = path === '/v1' || path.startsWith('/v1/')
    const requestId = newId('req', parts.clock)
    const overload = isDataPlane ? this.#overloadFor(message) : undefined
    if (overload !== undefined) return this.#shed(overload, response, { family, requestId })
    const reply = new HttpReply(response, this.#watch)
    const link = this.#serving.add(reply)
    const body = new Body(this.#bodyRoom, message, this.#watch)
    const trace: Trace = { requestId, path: path.slice(0, PATH_CHARACTERS_LOGGED) }
    let error: GatewayError | undefined
    if (isDataPlane) counts.requestBegan()
    if (isDataPlane && tracing !== undefined)
      trace.spans = tracing.begin(traceHeadersOf(message), startedMs)
    reply.setHeader('x-request-id', requestId)
    if (family === 'messages') reply.setHeader('request-id', requestId)
    try {
      refuseOddHead(message)
      if (isDataPlane) {
        await this.#serveData({ message, body }, reply, { path, startedMs, trace })
      } else {
        // Pages and the admin API write to the response directly, not through `reply`.
        response.setHeader('x-request-id', requestId)
        if (this.#options.isAdminSecure) response.setHeader(...ONLY_HTTPS)
        reply.watch()
        response.once('prefinish', () => reply.discardRest())
        await this.#servePages({ message, response }, reply, { path, requestId })
      }
    } catch (thrown) {
      if (!(thrown instanceof ClientGone)) {
        error = isOutage(thrown) ? unreached(thrown) : toGatewayError(thrown)
        // The rest of a body that came too slowly is not waited for.
        if (error.code === 'request_timeout') response.shouldKeepAlive = false
        if (isDataPlane) this.#noteRefusal(error, trace, message)
        await reply.fail(error, family, requestId).catch((why) => this.#lose(response, why))
      }
    } finally {
      body.release()
      const durationMs = parts.clock.monotonicMs() - startedMs
      const outcome = { method: message.method, status: reply.status, durationMs, error }
      if (isDataPlane) counts.requestEnded(trace, outcome)
      if (!(error instanceof TurnedAway)) {
        trace.spans?.end(trace, outcome)
        // Monitors request these all day: only failures are worth a line.
        if (!WATCHED.includes(path) || reply.status >= 400) logRequest(log, trace, outcome)
      }
      link.remove()
      this.#afterServing()
    }
  }

  #countConnection(socket: Socket): void {
    if (this.#connections >= this.#options.connectionsMax) this.#beyond.add(socket)
    this.#connections += 1
    socket.once('close', () => (this.#connections -= 1))
  }

  /** Why a request is turned away as soon as its head is there. */
  #overloadFor({ socket }: IncomingMessage): GatewayError | undefined {
    const { overload } = this.#options.parts
    return this.#beyond.has(socket) ? overload.shed('connections') : overload.refusal()
  }

  /** Leaves out all that can be left out, the log as well: a refusal must cost far less than what it refuses. */
  #shed(
    error: GatewayError,
    response: ServerResponse,
    { family, requestId }: { readonly family: Family; readonly requestId: string },
  ): void {
    const { counts } = this.#options
    counts.requestBegan()
    if (this.#beyond.has(response.req.socket)) response.shouldKeepAlive = false
    refuseAtOnce(response, error, { family, requestId })
    const outcome = { method: undefined, status: error.status, durationMs: 0, error }
    counts.requestEnded({ requestId, path: '' }, outcome)
  }

  #noteRefusal(error: GatewayError, trace: Trace, message: IncomingMessage): void {
    const { parts, addressOf } = this.#options
    const client = (): Client => ({
      userAgent: message.headers['user-agent'],
      address: addressOf(message),
    })
    parts.refusals.note({ error, trace, client })
  }

  /** Finds out which of the clients that have stopped sending are gone. */
  #probeAfter(afterMs: number): void {
    if (this.#serving.isEmpty) return
    if (this.#probing !== undefined) {
      if (this.#probing.afterMs <= afterMs) return
      clearTimeout(this.#probing.timer)
    }
    const timer = setTimeout(() => {
      this.#probing = undefined
      let isOneLeft = false
      for (const reply of this.#serving.members()) isOneLeft = reply.probe() || isOneLeft
      if (isOneLeft) this.#probeAfter(Math.min(2 * afterMs, PROBE_MS.most))
    }, afterMs)
    timer.unref()
    this.#probing = { timer, afterMs }
  }

  /** The client left while its error was being sent: nothing more can be done for it. */
  #lose(response: ServerResponse, why: unknown): void {
    this.#options.log.warn('answer_lost', { cause: describeError(why) })
    response.destroy()
  }

  #afterServing(): void {
    // While draining, no connection is kept for another request.
    if (this.#isDraining) setImmediate(() => this.#server.closeIdleConnections())
    if (this.#serving.isEmpty) this.#drained?.()
  }

  #serveData(
    received: Received,
    reply: HttpReply,
    given: { readonly path: string; readonly startedMs: number; readonly trace: Trace },
  ): Promise<void> {
    const { parts, planes } = this.#options
    if (!planes.includes('data')) throw nothingAt(given.path)
    const { message } = received
    const { operation, id } = findOperation(message.method ?? '', given.path)
    const { trace, startedMs } = given
    trace.path = operation.path
    trace.endpoint = operation.endpoint
    if (this.#isDraining) throw draining()
    const { authenticator, lastUse } = parts
    const credentials = credentialsOf(message, operation.codec.family)
    const handle = (): Promise<void> =>
      authenticate(authenticator, credentials, trace).then((caller) => {
        if (operation.isUse) {
          lastUse.note(caller)
          permitEndpoint(caller, operation.endpoint)
        }
        const inbound = new HttpRequest(received, { caller, id, startedMs, trace, operation })
        return operation.run(parts, inbound, reply)
      })
    return withCurrentKey(handle, () => authenticator.directory.forget())
  }

  /** Health for orchestrators, the admin API, figures for a monitor, and the pages for people. */
  async #servePages(
    { message, response }: { readonly message: IncomingMessage; readonly response: ServerResponse },
    reply: HttpReply,
    { path, requestId }: { readonly path: string; readonly requestId: string },
  ): Promise<void> {
    const { method = '' } = message
    const isRead = method === 'GET' || method === 'HEAD'
    if (HEALTH.includes(path)) {
      if (!isRead) throw otherMethods(path, method, ['GET', 'HEAD'])
      return path === '/healthz' ? sendHealth(reply, 'ok') : this.#serveReadiness(reply)
    }
    const { admin, planes, web } = this.#options
    if (!planes.includes('admin')) throw nothingAt(path)
    if (path.startsWith('/admin/api/') || path === METRICS_PATH) {
      return admin.handle(message, response, requestId)
    }
    const isServed = isRead && (await web.serve(path, message, response))
    if (!isServed) throw nothingAt(path)
  }

  async #serveReadiness(reply: HttpReply): Promise<void> {
    const reason = this.#isLeaving ? 'draining' : await this.#options.readiness()
    return sendHealth(reply, reason === undefined ? 'ready' : 'not ready', reason)
  }

  /** Bytes that are not HTTP get an answer of the same form, and the connection ends. */
  #refuse(socket: Socket, problem: NodeJS.ErrnoException): void {
    const refusal = noRequestOf(problem.code, socket.bytesRead)
    // After a refusal, node reports the connection once more when the client closes it.
    if (refusal === undefined || !socket.writable) return void socket.destroy()
    // An answer is under way on this connection: a refusal would end up in the middle of it, or in its place.
    if (this.#serving.members().some((reply) => reply.isOn(socket))) return void socket.destroy()
    const requestId = newId('req', this.#options.parts.clock)
    this.#options.log.info('request', {
      request_id: requestId,
      code: refusal.error.code,
      cause: problem.code,
    })
    socket.end(writeNoRequest(refusal, requestId))
  }
}

/** For a year: a browser that has been here never again sends a password or a cookie over plain HTTP. */
const ONLY_HTTPS = ['strict-transport-security', 'max-age=31536000'] as const

const HEALTH = ['/healthz', '/readyz']
const WATCHED = [...HEALTH, METRICS_PATH]
/** Unknown paths are logged too, but must not fill the log. */
const PATH_CHARACTERS_LOGGED = 100

function sendHealth(reply: HttpReply, status: string, reason?: string): Promise<void> {
  return reply.sendJson(reason === undefined ? 200 : 503, JSON.stringify({ status, reason }))
}

function pathOf({ url = '/' }: IncomingMessage): string {
  // A client that uses the gateway as its proxy sends the whole URL, and must be answered.
  if (url.startsWith('http')) return URL.parse(url)?.pathname ?? url
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** With the /v1 that a client left out. Pages have such paths, too, but browsers ask for them without a key. */
function wholePath(message: IncomingMessage): string {
  const path = pathOf(message)
  const { method, headers } = message
  const hasKey = headers.authorization !== undefined || headers['x-api-key'] !== undefined
  return (method === 'POST' || hasKey) && isOperation(`/v1${path}`) ? `/v1${path}` : path
}

function refuseOddHead({ url = '/', headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new GatewayError('invalid_request', 'HTTP/1.1 requires the header "Host"')
  }
  if (headers.host?.includes(', ') === true) {
    throw new GatewayError('invalid_request', 'send the header "Host" only once')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new GatewayError(
      'invalid_request',
      'the only transfer coding a body may have is "chunked"',
    )
  }
  // PostgreSQL refuses text with a NUL, and no name contains one.
  if (url.includes('%00')) {
    throw new GatewayError('invalid_request', 'the URL contains a NUL character (%00)')
  }
}

/** The envelope of everything below /v1/messages is the messages family's, of everything else the chat family's. */
function familyOf(path: string): Family {
  return path === '/v1/messages' || path.startsWith('/v1/messages/') ? 'messages' : 'chat'
}

/** Keys, stored answers and figures are in the same database as the budgets: without it no request can pass. */
function unreached(cause: Error): GatewayError {
  return new GatewayError(
    'ledger_unavailable',
    'the database cannot be reached right now: try again shortly',
    { retryAfterSeconds: 2, cause },
  )
}

function draining(): GatewayError {
  return new GatewayError('draining', 'this gateway is shutting down: try again', {
    retryAfterSeconds: 1,
  })
}

/** An address that cannot be listened on. */
export class ListenError extends Error implements Address {
  override readonly name = 'ListenError'
  readonly host: string
  readonly port: number
  /** The plane that was to listen there; an address for both is the data plane's. */
  readonly plane: 'data' | 'admin'
  /** The operating system's: EADDRINUSE, EACCES, … */
  readonly code: string

  constructor(
    { host, port, plane }: Address & Pick<ListenError, 'plane'>,
    cause: NodeJS.ErrnoException,
  ) {
    super(cause.message, { cause })
    this.host = host
    this.port = port
    this.plane = plane
    this.code = cause.code ?? 'unknown'
  }
}

type Address = { readonly host: string; readonly port: number }
