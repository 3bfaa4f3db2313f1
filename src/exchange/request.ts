// A client's request: as the edge received it, and as it is read, once. Its content is kept until the answer begins,
// because another target may still have to be sent it. After that only a summary (`call`) remains, because a prompt may
// be large and its answer slow.
import type { Caller } from '../access/authenticate.ts'
import type { Catalog } from '../catalog/models.ts'
import type { Clock } from '../core/clock.ts'
import type { Endpoint } from '../core/endpoints.ts'
import { newId, type IdPrefix } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import type { Call, CanonicalRequest } from '../core/request.ts'
import { nextStep } from '../core/runtime.ts'
import type { Routed } from '../routing/route.ts'
import type { Trace, TraceHeaders } from '../telemetry/trace.ts'
import { refuseLongInputs } from '../wire/content/tools.ts'
import type { AnswerContext, Codec, EdgeCodec } from '../wire/contract/codec.ts'
import { textsOf } from '../wire/contract/measure.ts'
import { changeMembers, exactBody, readBodyInSteps, type JsonBody } from '../wire/json/body.ts'
import { resolveRequest, type ResolvedRequest, type ResponsesState } from './responses/state.ts'

/** A request to the data plane, of a key that may use the endpoint. Its body is not read yet. */
export type InboundRequest = {
  readonly requestId: string
  readonly caller: Caller
  readonly endpoint: Endpoint
  /** The format of the body, if there is one, and of the answer's envelope. */
  readonly codec: Codec
  /** The value of {id} or {name} in the path. */
  readonly id: string
  readonly query: URLSearchParams
  /** The client's headers that a provider may see. */
  readonly providerHeaders: ReadonlyMap<string, string>
  /** The names of what is left out of the client's headers for providers. */
  readonly dropped: readonly string[]
  /** The conversation it belongs to, where a header names one. */
  readonly session: string | undefined
  /** Who asked and what for, where headers say so; what the body says counts more. */
  readonly endUser: string | undefined
  readonly tags: string | undefined
  readonly startedMs: number
  readonly trace: Trace
  /** The trace it belongs to, where its client says so. */
  readonly traceHeaders: TraceHeaders
  /** Whether the client asks for a dry run. Throws if the value it gives is not understood. */
  readDryRun(): boolean
  /** The whole body; may be called more than once. */
  readBody(): Promise<Buffer>
  /** Frees the body: it will not be read again. */
  releaseBody(): void
}

export type RequestParts = {
  readonly clock: Clock
  readonly responses: ResponsesState
  readonly registry: { readonly catalog: Pick<Catalog, 'aliases'> }
}

/** Reads a request, with the conversation behind it where it names one. `readCall`: where less is asked of it. */
export async function readRequest(
  parts: RequestParts,
  inbound: InboundRequest,
  readCall: EdgeCodec['readCall'] = inbound.codec.readCall,
): Promise<ClientRequest> {
  const sent = await readBodyInSteps(await inbound.readBody())
  const resolved =
    inbound.endpoint === 'responses'
      ? await resolveRequest(parts.responses, inbound.caller.keyId, sent)
      : { body: sent, asked: sent.value, dropped: [] }
  await nextStep(resolved.body.bytes.length)
  const call = readCall(resolved.body.value)
  const model = parts.registry.catalog.aliases.get(call.model)
  const named = model === undefined ? call : { ...call, model }
  return new ClientRequest(inbound, resolved, { call: named, clock: parts.clock })
}

export class ClientRequest implements AnswerContext, Routed {
  readonly inbound: InboundRequest
  readonly call: Call
  readonly createdAt: number
  readonly remember: ResolvedRequest['remember']
  readonly #clock: Clock
  #resolved: ResolvedRequest | undefined
  #canonical: CanonicalRequest | undefined

  constructor(
    inbound: InboundRequest,
    resolved: ResolvedRequest,
    { call, clock }: { readonly call: Call; readonly clock: Clock },
  ) {
    this.inbound = inbound
    this.call = withDropped(withDropped(call, inbound.dropped), resolved.dropped)
    this.#clock = clock
    this.#resolved = resolved
    this.createdAt = this.now()
    this.remember = resolved.remember
  }

  get codec(): Codec {
    return this.inbound.codec
  }

  get requestId(): string {
    return this.inbound.requestId
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

  get affinity(): string {
    return this.inbound.session ?? this.codec.affinityOf(this.content.value)
  }

  /** Its canonical form, for targets that speak another format. It is made by `decode`. */
  get canonical(): CanonicalRequest {
    if (this.#canonical === undefined) throw new Error('this request was not decoded')
    return this.#canonical
  }

  /** Before each pass over its content lets other requests run, and does not wait if it is small. */
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

  /** The same request without the reasoning of earlier turns, listed as dropped; undefined = it has none. */
  async withoutReasoning(): Promise<ClientRequest | undefined> {
    const { codec, content } = this
    const removals = codec.withoutReasoning?.(await exactBody(content))
    if (removals === undefined) return undefined
    await this.nextStep()
    const body = await readBodyInSteps(changeMembers(content, removals.changes))
    const { model } = this.call
    const call = { ...withDropped(codec.readCall(body.value), removals.dropped), model }
    return new ClientRequest(this.inbound, { ...this.#kept, body }, { call, clock: this.#clock })
  }

  /** What a tokenizer can count of its input; undefined once the content is freed. */
  texts(): readonly string[] | undefined {
    return this.#resolved && textsOf(this.codec.readCall, this.#resolved.body.value)
  }

  /** Frees the content: no target will be sent it any more. */
  release(): void {
    this.#resolved = undefined
    this.#canonical = undefined
    this.inbound.releaseBody()
  }

  now(): number {
    return Math.floor(this.#clock.now() / 1000)
  }

  newId(prefix: IdPrefix): string {
    return newId(prefix, this.#clock)
  }

  get #kept(): ResolvedRequest {
    if (this.#resolved === undefined) throw new Error('this request was let go')
    return this.#resolved
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
