// A client's request, read once. Its content is kept until the answer begins, because another target may still have to
// be sent it. After that only a summary (`call`) remains, because a prompt may be large and its answer slow.
import type { Authenticator, Caller, Credentials, LastUse } from '../access/authenticate.ts'
import { authenticate } from '../access/authenticate.ts'
import { permitEndpoint } from '../access/permit.ts'
import { StaleKey } from '../access/refusal.ts'
import type { Clock } from '../core/clock.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { IdPrefix } from '../core/ids.ts'
import { newId } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import type { Call, CanonicalRequest } from '../core/request.ts'
import { nextStep } from '../core/runtime.ts'
import type { Routed } from '../routing/route.ts'
import type { Trace } from '../telemetry/trace.ts'
import { refuseLongInputs } from '../wire/content/tool-calls.ts'
import type { AnswerContext, Codec, EdgeCodec } from '../wire/contract/codec.ts'
import { textsOf } from '../wire/contract/measure.ts'
import type { JsonBody } from '../wire/json/body.ts'
import { changeMembers, exactBody, readAgain, readSentBody } from '../wire/json/body.ts'
import type { Recalled, ResponsesState } from './responses/state.ts'
import { recall, withoutState } from './responses/state.ts'

/** A request for a model's answer, as the edge received it. */
export type Incoming = Asking & {
  readonly codec: Codec
  /** The client's headers that a provider may see. */
  readonly providerHeaders: ReadonlyMap<string, string>
  /** The names of what is left out of the client's headers for providers. */
  readonly dropped: readonly string[]
  /** The conversation it belongs to, where a header names one. */
  readonly session: string | undefined
  readonly startedMs: number
  /** The whole body; may be called more than once. */
  readBody(keyId: string): Promise<Buffer>
  /** Frees the body: it will not be read again. */
  releaseBody(): void
}

export type RequestParts = { readonly clock: Clock; readonly responses: ResponsesState }

type Reading = {
  readonly keyId: string
  /** In place of the codec's own, for requests of which less is asked. */
  readonly readCall?: EdgeCodec['readCall']
}

/** Reads a request, with the conversation behind it where it names one. */
export async function readRequest(
  parts: RequestParts,
  incoming: Incoming,
  { keyId, readCall = incoming.codec.readCall }: Reading,
): Promise<ClientRequest> {
  const sent = await readSentBody(await incoming.readBody(keyId))
  const recalled =
    incoming.endpoint === 'responses'
      ? await recall(parts.responses, keyId, sent)
      : withoutState(sent)
  await nextStep(recalled.body.bytes.length)
  const call = readCall(recalled.body.value)
  return new ClientRequest(incoming, recalled, { call, clock: parts.clock })
}

export class ClientRequest implements AnswerContext, Routed {
  readonly call: Call
  readonly createdAt: number
  /** Keeps the answer, given its end as the client will see it. Called before that end is sent. */
  readonly remember: Recalled['remember']
  readonly #incoming: Incoming
  readonly #clock: Clock
  #recalled: Recalled | undefined
  #canonical: CanonicalRequest | undefined

  constructor(
    incoming: Incoming,
    recalled: Recalled,
    { call, clock }: { readonly call: Call; readonly clock: Clock },
  ) {
    this.call = withDropped(call, [...incoming.dropped, ...recalled.dropped])
    this.#incoming = incoming
    this.#clock = clock
    this.#recalled = recalled
    this.createdAt = this.now()
    this.remember = recalled.remember
  }

  get codec(): Codec {
    return this.#incoming.codec
  }

  get requestId(): string {
    return this.#incoming.requestId
  }

  get endpoint(): Endpoint {
    return this.#incoming.endpoint
  }

  get model(): string {
    return this.call.model
  }

  /** What is admitted and sent: the request with the whole conversation in it. */
  get content(): JsonBody {
    return this.#kept.body
  }

  /** The request as its answer repeats it. */
  get body(): JsonObject {
    return this.#kept.asked
  }

  /** The client's headers that a provider may see. */
  get providerHeaders(): ReadonlyMap<string, string> {
    return this.#incoming.providerHeaders
  }

  get affinity(): string {
    return this.#incoming.session ?? this.codec.affinityOf(this.content.value)
  }

  /** Its canonical form, for targets that speak another format. It is made by `decode`. */
  get canonical(): CanonicalRequest {
    if (this.#canonical === undefined) throw new Error('this request was not decoded')
    return this.#canonical
  }

  /** Waits for the turn of the next pass over its content, and does not wait if that is small. */
  nextStep(): Promise<void> {
    return nextStep(this.content.bytes.length)
  }

  /** Makes its canonical form, in steps. */
  async decode(): Promise<void> {
    if (this.#canonical !== undefined) return
    const { codec, content } = this
    const exact = await exactBody(content)
    await this.nextStep()
    const canonical = codec.decodeRequest(exact)
    refuseLongInputs(canonical)
    this.#canonical = canonical
  }

  /** The same request without the thoughts of earlier turns, which it lists as dropped; undefined = it has none. */
  async withoutReasoning(): Promise<ClientRequest | undefined> {
    const { codec, content } = this
    const removals = codec.withoutReasoning?.(await exactBody(content))
    if (removals === undefined) return undefined
    await this.nextStep()
    const body = await readAgain(changeMembers(content, removals.changes))
    const call = withDropped(codec.readCall(body.value), removals.dropped)
    return new ClientRequest(this.#incoming, { ...this.#kept, body }, { call, clock: this.#clock })
  }

  /** What a tokenizer can count of its input; undefined once the content is freed. */
  texts(): readonly string[] | undefined {
    return this.#recalled && textsOf(this.codec.readCall, this.#recalled.body.value)
  }

  /** Frees the content: no target will be sent it any more. */
  release(): void {
    this.#recalled = undefined
    this.#canonical = undefined
    this.#incoming.releaseBody()
  }

  now(): number {
    return Math.floor(this.#clock.now() / 1000)
  }

  newId(prefix: IdPrefix): string {
    return newId(prefix, this.#clock)
  }

  get #kept(): Recalled {
    if (this.#recalled === undefined) throw new Error('this request was let go')
    return this.#recalled
  }
}

function withDropped(call: Call, dropped: readonly string[]): Call {
  if (dropped.length === 0) return call
  const { search } = call
  return {
    ...call,
    dropped: [...call.dropped, ...dropped],
    ...(search && { search: { ...search, dropped: [...search.dropped, ...dropped] } }),
  }
}

/** A request as the edge received it: what every handler of the data plane begins with. */
export type Asking = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly credentials: Credentials
  readonly trace: Trace
  /** Whether the client asks for a dry run. Throws if the value it gives is not understood. */
  readDryRun(): boolean
}

export type IdentifyParts = {
  readonly authenticator: Authenticator
  readonly lastUse: Pick<LastUse, 'note'>
}

/** The calling key, if it may call this endpoint. */
export async function identify(
  parts: IdentifyParts,
  { endpoint, credentials, trace }: Asking,
): Promise<Caller> {
  const caller = await authenticate(parts.authenticator, credentials, trace)
  parts.lastUse.note(caller)
  permitEndpoint(caller, endpoint)
  return caller
}

/** Runs a handler, and runs it again if the calling key was changed in the meantime. */
export function withCurrentKey(
  { authenticator }: Pick<IdentifyParts, 'authenticator'>,
  handle: () => Promise<void>,
): Promise<void> {
  // Not awaited: an async function suspended while a stream is open adds half a kilobyte to each stream.
  return handle().catch((thrown: unknown) => {
    if (!(thrown instanceof StaleKey)) throw thrown
    authenticator.forget()
    return handle()
  })
}
