// An HTTP request to the data plane, turned into what the flow takes: its headers, and its body. The flow sees no more
// of HTTP than this.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Caller, Credentials } from '../access/authenticate.ts'
import type { Endpoint, Family } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import type { Link } from '../core/runtime.ts'
import { formatSize } from '../core/units.ts'
import type { Overload } from '../exchange/admission.ts'
import { ClientGone } from '../exchange/reply.ts'
import type { InboundRequest } from '../exchange/request.ts'
import { SCRIPT_HEADER } from '../providers/sandbox/script.ts'
import type { Trace, TraceHeaders } from '../telemetry/trace.ts'
import type { Codec } from '../wire/contract/codec.ts'
import { tooSlow, type ConnectionWatch, type Watched } from './connection.ts'
import type { Operation } from './operations.ts'

/** The client's headers that a provider may see. All others stay here, its credentials above all. */
const PROVIDER_HEADERS = ['anthropic-version', 'anthropic-beta', 'openai-beta', SCRIPT_HEADER]

/** The client's headers that refer to something in a provider account, which all keys share. */
const ACCOUNT_HEADERS = ['anthropic-user-profile-id', 'anthropic-workspace-id']

/** Betas that open a larger window than holds assume: only an operator sets them, for all (`providers.NAME.betas`). */
const WIDER_WINDOW = /^context-1m\b/i

/** Where clients name the conversation that a request belongs to. */
const SESSION_HEADERS = ['x-session-id', 'session_id', 'session-id', 'x-litellm-session-id']

/** Where LiteLLM's clients name the end user, and tags, beside the body. */
const END_USER_HEADERS = ['x-litellm-end-user-id', 'x-litellm-customer-id']
const TAGS_HEADER = 'x-litellm-tags'

export type Received = { readonly message: IncomingMessage; readonly body: Body }

export function credentialsOf({ headers }: IncomingMessage, family: Family): Credentials {
  return { family, authorization: headers.authorization, apiKey: single(headers['x-api-key']) }
}

export function traceHeadersOf({ headers }: IncomingMessage): TraceHeaders {
  const { traceparent, tracestate } = headers
  return { traceparent: single(traceparent), tracestate: single(tracestate) }
}

/** Of the first of these headers that is not empty. */
function firstOf(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  const found = names.find((name) => headers[name])
  return found && single(headers[found])
}

/** What is known of a request before its handler runs. */
type Known = Pick<InboundRequest, 'caller' | 'id' | 'startedMs' | 'trace'> & {
  readonly operation: Operation
}

/** The parts of a request that the flow is given. */
export class HttpRequest implements InboundRequest {
  readonly requestId: string
  readonly caller: Caller
  readonly endpoint: Endpoint
  readonly codec: Codec
  readonly id: string
  readonly providerHeaders: ReadonlyMap<string, string>
  readonly dropped: readonly string[]
  readonly session: string | undefined
  readonly endUser: string | undefined
  readonly tags: string | undefined
  readonly startedMs: number
  readonly trace: Trace
  readonly #received: Received

  constructor(received: Received, { caller, id, startedMs, trace, operation }: Known) {
    const { headers } = received.message
    this.requestId = trace.requestId
    this.caller = caller
    this.endpoint = operation.endpoint
    this.codec = operation.codec
    this.id = id
    const betas = betasOf(single(headers['anthropic-beta']))
    const account = ACCOUNT_HEADERS.filter((name) => headers[name] !== undefined)
    this.dropped = account.length === 0 ? betas.dropped : [...betas.dropped, ...account]
    this.providerHeaders = providerHeadersOf(headers, betas.kept)
    this.session = firstOf(headers, SESSION_HEADERS)
    this.endUser = firstOf(headers, END_USER_HEADERS)
    this.tags = single(headers[TAGS_HEADER])
    this.startedMs = startedMs
    this.trace = trace
    this.#received = received
  }

  /** A client that asks for a dry run with an unknown value must not get a real call. */
  readDryRun(): boolean {
    const value = this.#received.message.headers['x-tollgate-dry-run']
    if (value === undefined || value === '0' || value === 'false') return false
    if (value === '1' || value === 'true') return true
    throw new GatewayError('invalid_request', 'x-tollgate-dry-run must be 1 or 0')
  }

  get traceHeaders(): TraceHeaders {
    return traceHeadersOf(this.#received.message)
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#received.message.url?.split('?', 2)[1])
  }

  readBody(): Promise<Buffer> {
    return this.#received.body.read(this.caller.keyId)
  }

  releaseBody(): void {
    this.#received.body.release()
  }
}

/** What a provider may see, and the names of the others. */
type Betas = { readonly kept: string | undefined; readonly dropped: readonly string[] }

const NO_BETAS: Betas = { kept: undefined, dropped: [] }

function betasOf(text: string | undefined): Betas {
  if (text === undefined) return NO_BETAS
  const names = text.split(',').map((name) => name.trim())
  const wider = names.filter((name) => WIDER_WINDOW.test(name))
  if (wider.length === 0) return { kept: text, dropped: [] }
  const kept = names.filter((name) => !WIDER_WINDOW.test(name))
  return {
    kept: kept.length === 0 ? undefined : kept.join(','),
    dropped: wider.map((name) => `anthropic-beta.${name.slice(0, BETA_CHARACTERS_TOLD)}`),
  }
}

/** No beta has a longer name, and the header that lists them must stay short. */
const BETA_CHARACTERS_TOLD = 40

const NO_HEADERS: ReadonlyMap<string, string> = new Map()

function providerHeadersOf(
  headers: IncomingHttpHeaders,
  betas: string | undefined,
): ReadonlyMap<string, string> {
  let found: Map<string, string> | undefined
  for (const name of PROVIDER_HEADERS) {
    const value = name === 'anthropic-beta' ? betas : single(headers[name])
    if (value !== undefined) found = (found ?? new Map<string, string>()).set(name, value)
  }
  return found ?? NO_HEADERS
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

// The body. It is read whole, within limits of size and time, and counted for as long as it is in memory, so
// that the bodies of one key, and all of them together, stay within their share of it.

const BODY_MS_MAX = 120_000
const BODY_BYTES_PER_MS = 64

/** How long this many bytes may take: enough for a large body over a slow line, too little to trickle a small one. */
export function bodyMsMax(bytes: number): number {
  return BODY_MS_MAX + Math.ceil(bytes / BODY_BYTES_PER_MS)
}

/** How many bodies of the largest size fit into memory together, if nothing else is said. */
const LARGEST_AT_ONCE = 8

export type BodyRoomOptions = {
  readonly bodyBytesMax: number
  /** Of all bodies in memory; undefined = some of the largest. */
  readonly bodyBytesMaxTogether?: number | undefined
  readonly overload: Pick<Overload, 'shed'>
}

/** The memory that bodies may take. */
export class BodyRoom {
  readonly #bytesMax: number
  readonly #bytesMaxTogether: number
  readonly #overload: Pick<Overload, 'shed'>
  #bytesTogether = 0
  /** Only of keys that have a body in memory. */
  readonly #bytesOfKeys = new Map<string, number>()

  constructor({ bodyBytesMax, bodyBytesMaxTogether, overload }: BodyRoomOptions) {
    this.#bytesMax = bodyBytesMax
    this.#bytesMaxTogether = bodyBytesMaxTogether ?? LARGEST_AT_ONCE * bodyBytesMax
    this.#overload = overload
  }

  /** Why a body announced by these headers is not read at all. */
  refusalOf({ headers }: IncomingMessage): GatewayError | undefined {
    const bytes = Number(headers['content-length'] ?? 0)
    if (bytes > this.#bytesMax) return this.#tooLarge()
    if (this.#bytesTogether + bytes > this.#bytesMaxTogether) return this.#overload.shed('bodies')
    const encoding = headers['content-encoding'] ?? 'identity'
    if (encoding === 'identity') return undefined
    return new GatewayError('invalid_request', 'send the body uncompressed')
  }

  /**
   * Makes room for more of a body, which then has `bytesOfBody`; returns the reason if there is none. A key gets at
   * most half of all room, so that a client that sends its bodies slowly does not keep others out.
   */
  take(keyId: string, bytes: number, bytesOfBody: number): GatewayError | undefined {
    const bytesOfKey = this.#count(keyId, bytes)
    if (bytesOfBody > this.#bytesMax) return this.#tooLarge()
    const isFull = this.#bytesTogether > this.#bytesMaxTogether
    const isBeyondShare = bytesOfKey > this.#bytesMaxTogether / 2
    return isFull || isBeyondShare ? this.#overload.shed('bodies') : undefined
  }

  giveBack(keyId: string, bytes: number): void {
    this.#count(keyId, -bytes)
  }

  #count(keyId: string, bytes: number): number {
    this.#bytesTogether += bytes
    const bytesOfKey = (this.#bytesOfKeys.get(keyId) ?? 0) + bytes
    if (bytesOfKey === 0) this.#bytesOfKeys.delete(keyId)
    else this.#bytesOfKeys.set(keyId, bytesOfKey)
    return bytesOfKey
  }

  #tooLarge(): GatewayError {
    const size = formatSize(this.#bytesMax)
    return new GatewayError(
      'request_too_large',
      `the request body is too large: the limit is ${size}`,
    )
  }
}

/** The body of one message. Its owner releases it when it is no longer needed. */
export class Body implements Watched {
  readonly #room: BodyRoom
  readonly #message: IncomingMessage
  readonly #watch: Pick<ConnectionWatch, 'add' | 'nowMs'>
  /** Its link in the shared timer's list, while it arrives. */
  #link: Link<Watched> | undefined
  #startedMs = 0
  #refuse: ((problem: GatewayError) => void) | undefined
  #whole: Promise<Buffer> | undefined
  #keyId = ''
  #bytes = 0

  constructor(
    room: BodyRoom,
    message: IncomingMessage,
    watch: Pick<ConnectionWatch, 'add' | 'nowMs'>,
  ) {
    this.#room = room
    this.#message = message
    this.#watch = watch
  }

  /** The whole body; may be called more than once. Its bytes count for this key. */
  read(keyId: string): Promise<Buffer> {
    this.#keyId = keyId
    this.#whole ??= this.#read()
    return this.#whole
  }

  /** Frees its memory: it will not be read again. */
  release(): void {
    this.#giveBack()
    this.#whole = undefined
  }

  /** Called by the shared timer: the more has arrived, the longer the rest is waited for. */
  look(nowMs: number): void {
    if (nowMs - this.#startedMs > bodyMsMax(this.#bytes)) this.#refuse?.(tooSlow())
  }

  #read(): Promise<Buffer> {
    const message = this.#message
    const refusal = message.destroyed ? new ClientGone() : this.#room.refusalOf(message)
    if (refusal !== undefined) return Promise.reject(refusal)
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const chunks: Buffer[] = []
    this.#startedMs = this.#watch.nowMs
    this.#link = this.#watch.add(this)
    // Listeners, because an iterator over the message costs more than everything else done with a small body.
    const take = (chunk: Buffer): void => {
      chunks.push(chunk)
      this.#bytes += chunk.length
      const problem = this.#room.take(this.#keyId, chunk.length, this.#bytes)
      if (problem !== undefined) this.#refuse?.(problem)
    }
    this.#refuse = (problem) => {
      message.off('data', take).pause()
      chunks.length = 0
      this.#giveBack()
      this.#leave()
      reject(problem)
    }
    message.on('data', take)
    message.once('end', () => {
      const [first] = chunks
      this.#leave()
      // The message lives as long as its answer, which may be a long stream: it must not keep the chunks in memory.
      message.off('data', take)
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks))
      chunks.length = 0
    })
    message.once('close', () => {
      this.#leave()
      if (!message.complete) reject(new ClientGone())
    })
    return promise
  }

  /** Stops waiting for more of it. */
  #leave(): void {
    this.#link?.remove()
    this.#link = undefined
    this.#refuse = undefined
  }

  #giveBack(): void {
    if (this.#bytes > 0) this.#room.giveBack(this.#keyId, this.#bytes)
    this.#bytes = 0
  }
}
