// Requests to providers over HTTP, and how their answers are read: no redirects, and four timeouts per call. Failures
// become GatewayErrors here. What they are sent over is in connections.ts.
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Timeouts } from '../../catalog/models.ts'
import { codeOf, GatewayError } from '../../core/errors.ts'
import { formatSize } from '../../core/units.ts'
import type { TracedCall } from '../../telemetry/trace.ts'
import { assertAllowedHost } from './addresses.ts'
import type { Secrets } from './echoed-secrets.ts'
import { SecretFilter, secretsIn } from './echoed-secrets.ts'
import type { AnswerHeaders, UpstreamAnswer } from './provider.ts'

/** When an answer arrives faster than its client reads, about this much is buffered. */
const WAITING_BYTES_MAX = 64 * 1024
/** Larger bodies are released once sent, not kept until their answers end. */
const KEPT_BYTES_MAX = 64 * 1024

/** Encodings of servers that do not compress; `none` is not in the standard, but common. */
const PLAIN: ReadonlySet<string | undefined> = new Set([undefined, '', 'identity', 'none'])

/** Binary: the answers of Bedrock's streams. */
const FRAMES = 'application/vnd.amazon.eventstream'

export type HttpRequest = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly timeouts: Timeouts
  /** The answer may be frames, which have lengths and checksums: who opens them looks for secrets inside. */
  readonly hasFrames?: boolean
  readonly trace?: TracedCall | undefined
}

/** Headers as undici takes them, and the credentials in them. */
type KnownHeaders = { readonly list: string[]; readonly secrets: Secrets }

type Address = {
  readonly origin: string
  readonly path: string
  /** What sends to the origin, by connect timeout; all addresses of an origin share them. */
  readonly dispatchers: Map<number, Dispatcher>
}

/** Makes what sends to an origin, and waits so long for a connection. */
type Connect = (origin: string, connectMs: number) => Dispatcher

export class HttpClient {
  readonly #connect: Connect
  readonly #dispatchers = new Map<string, Map<number, Dispatcher>>()
  // Adapters pass the same URL and headers objects again and again, and both take time to convert.
  readonly #addresses = new WeakMap<URL, Address>()
  readonly #headers = new WeakMap<HttpRequest['headers'], KnownHeaders>()

  constructor(connect: Connect) {
    this.#connect = connect
  }

  /** Resolves when the head of the answer arrives, whatever its status. */
  async send(call: HttpRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const address = this.#addressOf(call.url)
    const { origin, path } = address
    const { list: headers, secrets } = this.#headersOf(call.headers)
    const isLarge = call.body !== undefined && call.body.length > KEPT_BYTES_MAX
    const running = new RunningCall(signal, call, secrets)
    call.trace?.onSent?.(call.url)
    const traced = call.trace === undefined ? headers : [...headers, ...call.trace.headers]
    this.#dispatcher(address, call.timeouts.connectMs).dispatch(
      {
        origin,
        path,
        method: call.method,
        headers: isLarge ? [...traced, 'content-length', String(call.body.length)] : traced,
        body: isLarge ? Readable.from(new OneTimeBody(call.body)) : (call.body ?? null),
        headersTimeout: call.timeouts.firstByteMs,
        bodyTimeout: call.timeouts.idleMs,
      },
      running,
    )
    return running.answer
  }

  /** Ends every connection, without waiting for calls that may still be running. */
  async close(): Promise<void> {
    const all = [...this.#dispatchers.values()].flatMap((each) => [...each.values()])
    await Promise.all(all.map((dispatcher) => dispatcher.destroy()))
  }

  #addressOf(url: URL): Address {
    const known = this.#addresses.get(url)
    if (known !== undefined) return known
    assertAllowedHost(url.hostname)
    const { origin } = url
    const dispatchers = this.#dispatchers.get(origin) ?? new Map<number, Dispatcher>()
    this.#dispatchers.set(origin, dispatchers)
    const address = { origin, path: url.pathname + url.search, dispatchers }
    this.#addresses.set(url, address)
    return address
  }

  #headersOf(headers: HttpRequest['headers']): KnownHeaders {
    const known = this.#headers.get(headers)
    if (known !== undefined) return known
    const list = ['accept-encoding', 'identity']
    for (const [name, value] of Object.entries(headers)) list.push(name, value)
    const given = { list, secrets: secretsIn(headers) }
    this.#headers.set(headers, given)
    return given
  }

  #dispatcher({ origin, dispatchers }: Address, connectMs: number): Dispatcher {
    const known = dispatchers.get(connectMs)
    if (known !== undefined) return known
    const made = this.#connect(origin, connectMs)
    dispatchers.set(connectMs, made)
    return made
  }
}

/** One call, until it ends, its caller gives up, or its time is over. */
class RunningCall implements Dispatcher.DispatchHandler, ChunkSource, EventListenerObject {
  readonly #signal: AbortSignal
  readonly #timer: NodeJS.Timeout
  readonly #answer = Promise.withResolvers<UpstreamAnswer>()
  readonly #chunks = new Chunks(this)
  readonly #hasFrames: boolean
  #filter: SecretFilter | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false

  constructor(signal: AbortSignal, call: HttpRequest, secrets: Secrets) {
    const { timeouts, hasFrames = false } = call
    this.#signal = signal
    this.#hasFrames = hasFrames
    if (secrets.forms.length > 0) this.#filter = new SecretFilter(secrets)
    this.#timer = setTimeout(() => this.#cut(timedOut()), timeouts.totalMs)
    this.#timer.unref()
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this)
  }

  /** Called when the signal aborts: the caller has given up. */
  handleEvent(): void {
    this.#cut(this.#signal.reason)
  }

  resume(): void {
    this.#controller?.resume()
  }

  leave(): void {
    this.#cut(new Error('nobody reads this answer any more'))
  }

  get answer(): Promise<UpstreamAnswer> {
    return this.#answer.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The caller gave up while the call waited for a connection.
    if (this.#isOver) controller.abort(new Error('given up'))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    given: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    const headers = new GivenHeaders(given)
    // The same headers as bytes: they would pin the buffer they arrived in for as long as a stream is open.
    controller.rawHeaders = null
    if (this.#hasFrames && status === 200 && headers.get('content-type') === FRAMES) {
      this.#filter = undefined
    }
    this.#answer.resolve({ status, headers, body: this.#chunks })
    // The request asked for plain bytes; a few compressed bytes could unpack to more than memory holds.
    if (PLAIN.has(headers.get('content-encoding')?.toLowerCase())) return
    this.#end(new GatewayError('provider_failed', 'the provider sent a compressed answer'))
    controller.abort(new Error('compressed'))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const clean = this.#filter === undefined ? chunk : this.#filter.push(chunk)
    if (clean.length > 0 && this.#chunks.push(clean) > WAITING_BYTES_MAX) controller.pause()
  }

  onResponseEnd(): void {
    this.#release()
    const rest = this.#filter?.end()
    if (rest !== undefined && rest.length > 0) this.#chunks.push(rest)
    this.#chunks.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // If the request never started on a connection, it never left, whatever went wrong.
    this.#end(this.#controller === undefined ? unreachable(error) : failureOf(error))
  }

  #cut(reason: unknown): void {
    if (this.#isOver) return
    this.#end(reason)
    this.#controller?.abort(new Error('given up', { cause: reason }))
  }

  #end(failure: unknown): void {
    if (this.#isOver) return
    this.#release()
    this.#answer.reject(failure)
    this.#chunks.fail(failure)
  }

  #release(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this)
  }
}

/** A body that is released once sent. undici would keep it until the answer ends, and an answer may be slow. */
class OneTimeBody implements Iterable<Uint8Array> {
  #body: Uint8Array | undefined

  constructor(body: Uint8Array) {
    this.#body = body
  }

  *[Symbol.iterator](): Generator<Uint8Array, void> {
    const body = this.#body
    this.#body = undefined
    if (body !== undefined) yield body
  }
}

class GivenHeaders implements AnswerHeaders {
  readonly #given: Record<string, string | string[] | undefined>

  constructor(given: Record<string, string | string[] | undefined>) {
    this.#given = given
  }

  get(name: string): string | undefined {
    const value = this.#given[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
}

const SILENCE: ReadonlySet<string | undefined> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

function failureOf(error: Error): GatewayError {
  return SILENCE.has(codeOf(error))
    ? timedOut(error)
    : new GatewayError('provider_failed', 'the connection to the provider broke', { cause: error })
}

function unreachable(cause: unknown): GatewayError {
  const details = { cause, unbilled: true }
  return codeOf(cause) === 'UND_ERR_CONNECT_TIMEOUT'
    ? new GatewayError('provider_timeout', 'the provider could not be reached in time', details)
    : new GatewayError('provider_failed', 'the provider could not be reached', details)
}

function timedOut(cause?: unknown): GatewayError {
  return new GatewayError('provider_timeout', 'the provider did not answer in time', { cause })
}

interface ChunkSource {
  /** The reader has emptied the queue: the sender may go on. */
  resume(): void
  /** The reader wants no more. */
  leave(): void
}

type Reading = IteratorResult<Uint8Array, undefined>

/**
 * The body of one answer, as a queue between a sender that pushes and a reader that pulls, each at its own pace. A
 * stream object does the same and costs several times as much, for every request.
 */
export class Chunks implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: ChunkSource
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  /** Wakes the waiting reader. */
  #wake: (() => void) | undefined
  #end: { readonly failure?: unknown } | undefined

  constructor(source: ChunkSource) {
    this.#source = source
  }

  /** Returns the number of unread bytes: when there are many, the sender should pause. */
  push(chunk: Uint8Array): number {
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    this.#wake?.()
    return this.#waitingBytes
  }

  end(): void {
    this.#end ??= {}
    this.#wake?.()
  }

  /** The reader still gets what arrived before, then this failure is thrown. */
  fail(failure: unknown): void {
    this.#end ??= { failure }
    this.#wake?.()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Everything that has arrived, in one piece: a connection often delivers many events at once. */
  next(): Promise<Reading> {
    const hasCome = this.#waiting.length > 0 || this.#end !== undefined
    const arrival = hasCome ? ARRIVED : new Promise<void>((resolve) => (this.#wake = resolve))
    return arrival.then(() => this.#take())
  }

  async return(): Promise<Reading> {
    this.#waiting = []
    this.#waitingBytes = 0
    this.#source.leave()
    this.end()
    return DONE
  }

  /** All of it, if it has ended: nobody need wait for an answer that came at once. */
  takeWhole(): Uint8Array | undefined {
    return this.#end === undefined || 'failure' in this.#end ? undefined : this.#takeWaiting()
  }

  #take(): Reading {
    if (this.#waiting.length > 0) return { done: false, value: this.#takeWaiting() }
    if (this.#end !== undefined && 'failure' in this.#end) throw this.#end.failure
    return DONE
  }

  #takeWaiting(): Uint8Array {
    const [first] = this.#waiting
    const bytes =
      first !== undefined && this.#waiting.length === 1
        ? first
        : Buffer.concat(this.#waiting, this.#waitingBytes)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#source.resume()
    return bytes
  }
}

const ARRIVED = Promise.resolve()
const DONE: Reading = { done: true, value: undefined }

/** More than any provider says about a failure. */
export const FAILURE_BYTES_MAX = 1024 * 1024

export async function readWhole(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer> {
  const whole =
    (body instanceof Chunks ? body.takeWhole() : undefined) ?? (await gather(body, bytesMax))
  if (whole.length > bytesMax) throw tooLong(bytesMax)
  return Buffer.isBuffer(whole) ? whole : Buffer.concat([whole])
}

async function gather(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLong(bytesMax)
    chunks.push(chunk)
  }
  const [first] = chunks
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes)
}

/** The body of an answer that is there already. */
export async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export function tooLong(bytesMax: number): GatewayError {
  const size = formatSize(bytesMax)
  return new GatewayError('provider_failed', `the provider's answer is too long: more than ${size}`)
}

/** Drops an answer that will not be read: left alone, it would hold its connection until a timeout ends it. */
export async function discard({ body }: UpstreamAnswer): Promise<void> {
  try {
    for await (const _ of body) break
  } catch {
    // The answer is not needed, so its failure does not matter.
  }
}

/** A provider may ask to be left alone for longer, but is tried again after this. */
const RETRY_AFTER_SECONDS_MAX = 600

/**
 * How long a provider asks to be left alone, in seconds: in its headers, else in its words (`told`). Some send
 * milliseconds in a header outside the standard, some send a date, which is compared with the date of the answer
 * because clocks differ.
 */
export function retryAfterOf(headers: AnswerHeaders, told?: number): number | undefined {
  const value = headers.get('retry-after') ?? ''
  const seconds =
    Number(headers.get('retry-after-ms')) / 1000 || Number(value) || secondsUntil(value, headers)
  const wait = seconds > 0 ? seconds : told
  return wait && Math.min(wait, RETRY_AFTER_SECONDS_MAX)
}

function secondsUntil(date: string, headers: AnswerHeaders): number {
  return (Date.parse(date) - Date.parse(headers.get('date') ?? '')) / 1000
}
