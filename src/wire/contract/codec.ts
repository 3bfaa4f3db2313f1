// What a wire format must do for a client, for a provider, and where both speak it. chat, responses, messages and
// embeddings do all of it; a format that only providers speak has the provider's half. A whole answer is a stream that
// came at once.
import type { Family, Format, UpstreamFormat } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { IdPrefix } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Call, CanonicalRequest, ModelTraits } from '../../core/request.ts'
import type { JsonBody } from '../json/body.ts'
import type { Losses } from './losses.ts'
import type { Measure } from './measure.ts'
import type { SseEvent } from './sse.ts'

/** The half a client sees. */
export interface EdgeCodec {
  readonly format: Format
  readonly family: Family
  /**
   * Reads what admission needs. Refuses only what no provider could serve: no model, a stream that is not a boolean.
   * Callers that want more than the sums pass their own `measure`.
   */
  readonly readCall: (body: JsonObject, measure?: Measure) => Call
  /** What keeps a conversation on one target, so that provider caches hit: the client's own key, else its beginning. */
  affinityOf(body: JsonObject): string
  /** Reads everything, for translation. Refuses what it cannot understand, by the field's name. */
  decodeRequest(body: JsonObject): CanonicalRequest
  /** Removes the reasoning of earlier turns; undefined = there is none. Absent if the format has no reasoning. */
  withoutReasoning?(body: JsonObject): Removals | undefined
  /** A fresh encoder for one answer. `inputTokens`: the likely input, for formats that report it at the beginning. */
  encodeEvents(answer: AnswerContext, inputTokens?: number): EventEncoder
  encodeResponse(events: readonly CanonicalEvent[], answer: AnswerContext): JsonObject
}

export type Removals = {
  /** The members of the body that change; undefined = the member is removed. */
  readonly changes: JsonObject
  /** What was removed, by the client's names. */
  readonly dropped: readonly string[]
}

/** What an answer reports about itself, whatever the provider reported. */
export type AnswerContext = {
  /** The public model name, the one the client sent. */
  readonly model: string
  /**
   * The client's request body, parts of which some formats repeat in the answer. Read it while creating an encoder or a
   * forwarder: once the answer has begun, it may be gone.
   */
  readonly body: JsonObject
  /** Unix time in seconds. */
  readonly createdAt: number
  /** The Unix time in seconds now, for the time at which an answer ended. */
  now(): number
  readonly requestId: string
  newId(prefix: IdPrefix): string
}

export interface EventEncoder {
  encode(event: CanonicalEvent): readonly SseEvent[]
  /** The format's own way to report, after the first byte, that the answer will not be completed. */
  fail(error: GatewayError): readonly SseEvent[]
  /** What keeps the connection alive while the provider is silent. */
  readonly keepAlive: string
}

/** The half a provider sees. */
export interface UpstreamCodec {
  readonly format: UpstreamFormat
  /** What a conversation may have that the format cannot express. */
  readonly losses: Losses
  /** Routing ensures that the request is what the format is for: a conversation, or texts to embed. */
  readonly encodeRequest: (request: CanonicalRequest) => JsonObject
  /** A fresh decoder for one answer. Throws a GatewayError when the provider reports an error in the stream. */
  decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[]
  decodeResponse(body: JsonObject): readonly CanonicalEvent[]
  /** The provider's own words about a failed request, if the body has any. */
  decodeError(body: JsonObject): ProviderComplaint
}

export type ProviderComplaint = {
  readonly message?: string
  readonly code?: string
  readonly type?: string
  readonly param?: string
  /** How long to wait before the next request, if the body says so instead of a header. */
  readonly retryAfterSeconds?: number
}

/** Same format on both sides: bytes pass through unchanged, except for what the gateway must change. */
interface Passthrough {
  forwardRequest(body: JsonBody, change: RequestChange): Buffer
  /** A fresh forwarder for one answer. */
  forwardEvents(answer: AnswerContext): EventForwarder
  forwardResponse(given: JsonAnswer, answer: AnswerContext): string
}

/** A whole answer: the text as received, and its parsed value. */
export type JsonAnswer = { readonly text: string; readonly value: JsonObject }

export interface EventForwarder {
  /** The text to forward for an event with this meaning: its own, changed where necessary, or '' to hide it. */
  forward(event: SseEvent, meaning: readonly CanonicalEvent[]): string
  /** What a complete answer still lacks when the provider closes it: an end marker, which not all providers send. */
  end?(): string
  /** Like EventEncoder.fail, continuing what was forwarded so far (ids, sequence numbers). */
  fail(error: GatewayError): readonly SseEvent[]
  readonly keepAlive: string
}

/** What metering and limits change in a forwarded request. */
export type RequestChange = {
  /** The provider's name for the model. */
  readonly model: string
  readonly traits?: ModelTraits
  /** The output limit that the hold covers; unset = the request has no such limit (embeddings). */
  readonly outputTokensMax?: number | undefined
  /** How many web searches the hold covers; unset = none, and they are removed. */
  readonly searchesMax?: number | undefined
  /** What the provider is sent otherwise than others of its format: the members that change, undefined = removed. */
  readonly adapt?: ((body: JsonObject) => JsonObject) | undefined
}

export type Codec = EdgeCodec & UpstreamCodec & Passthrough
