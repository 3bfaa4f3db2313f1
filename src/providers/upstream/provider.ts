// What the gateway needs from a provider: to take a request in one of the formats that the model speaks there, and
// return the answer's bytes. Settings, credentials and addresses stay inside the adapter.
import type { Timeouts } from '../../catalog/models.ts'
import type { UpstreamFormat } from '../../core/endpoints.ts'
import type { JsonObject } from '../../core/json.ts'
import type { TracedCall } from '../../telemetry/trace.ts'

export interface Provider {
  readonly name: string
  /** What the configuration calls its kind; absent = it is a part of this process. */
  readonly kind?: string
  /** Whether it may learn which trace a call belongs to. */
  readonly propagates?: boolean
  /** The formats this provider speaks for one of its models, the best one first. */
  formatsOf(model: string): readonly UpstreamFormat[]
  /** The exact number of input tokens of a body, where the tokenizer is known; absent = its bytes bound it. */
  countInput?(format: UpstreamFormat, body: JsonObject): number | undefined
  /** The names of the models it offers; absent = it has no such list. */
  listModels?(signal: AbortSignal): Promise<readonly string[]>
  /**
   * Sends one request. Returns as soon as the answer begins, whatever its status; throws a GatewayError when there is
   * no answer (provider_failed, provider_timeout). Aborting the signal ends the call, even while the body is read.
   */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>
  /** Asks the provider to count the input tokens, where that is free; undefined = it gives no count. */
  countTokens?(request: UnsentRequest, signal: AbortSignal): Promise<number | undefined>
  /** The members of a body that it is sent otherwise than others of its format; undefined = it is not sent this one. */
  readonly adapt?: (request: UnsentRequest) => JsonObject
  /** Fields left out because it would refuse them, by the format's names; absent = it is sent everything. */
  leavesOut?(request: UnsentRequest): readonly string[]
}

/** A request before it is sent. */
export type UnsentRequest = {
  readonly format: UpstreamFormat
  readonly model: string
  readonly body: JsonObject
  /** As in UpstreamRequest: a beta may change what counts as input. */
  readonly headers: ReadonlyMap<string, string>
}

/** Looked up by lower-case names. */
export interface AnswerHeaders {
  get(name: string): string | undefined
}

export type UpstreamRequest = {
  readonly format: UpstreamFormat
  /** The provider's own name of the model. */
  readonly model: string
  readonly stream: boolean
  readonly body: Buffer
  /** The client's headers that a provider may see, in lower case: versions, betas, sandbox steering. */
  readonly headers: ReadonlyMap<string, string>
  readonly timeouts: Timeouts
  readonly trace?: TracedCall | undefined
}

export type UpstreamAnswer = {
  readonly status: number
  readonly headers: AnswerHeaders
  /** A JSON document, or Server-Sent Events when a stream was asked for and the status is 200. */
  readonly body: AsyncIterable<Uint8Array>
}
