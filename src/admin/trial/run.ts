// A request that a person makes with a key without knowing its secret: through the gateway's own flow, subject to every
// limit of that key, and spending from it. Its answer goes to no socket.
import {
  assertUsable,
  callerOfKey,
  withCurrentKey,
  permitEndpoint,
} from '../../access/authenticate.ts'
import type { Endpoint, Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { exchange } from '../../exchange/exchange.ts'
import { ClientGone, LINGER_MS, type Reply } from '../../exchange/reply.ts'
import type { Key } from '../../store/keys/keys.ts'
import type { Trace } from '../../telemetry/trace.ts'
import { CODECS } from '../../wire/codecs.ts'
import { SseReader } from '../../wire/contract/sse.ts'
import { callBody, type Spoken } from '../contract/trial.ts'
import type { AdminParts } from '../http/request.ts'

export type TrialRequest = Spoken & {
  readonly requestId: string
  readonly key: Key
  readonly isDryRun: boolean
}

/** What a trial asks for follows from where its answer goes. */
export type TrialReply = Reply & { readonly isStream: boolean }

/** Somebody who is signed in called, not an application. */
const PERSON = { userAgent: undefined, address: null }

/** Throws the GatewayError that the data plane would have answered with. */
export async function runTrial(
  parts: AdminParts,
  trial: TrialRequest,
  reply: TrialReply,
): Promise<void> {
  const { flow, store, clock } = parts
  const { requestId } = trial
  const format = formatOf(parts, trial)
  const body = Buffer.from(JSON.stringify(bodyOf(format, trial, reply)))
  const trace: Trace = { requestId, endpoint: format, keyId: trial.key.id }
  const run = async (): Promise<void> => {
    const caller = await callerOfKey(store, trial.key.id)
    trace.groupId = caller.groupId
    assertUsable(caller, clock.now())
    // Checking whether a key would work does not count as using it.
    if (!trial.isDryRun) flow.lastUse.note(caller)
    permitEndpoint(caller, format)
    const inbound = {
      requestId,
      caller,
      endpoint: format,
      codec: CODECS[format],
      id: '',
      query: new URLSearchParams(),
      providerHeaders: new Map(),
      dropped: [],
      session: undefined,
      endUser: undefined,
      tags: undefined,
      startedMs: clock.monotonicMs(),
      trace,
      traceHeaders: {},
      readDryRun: () => trial.isDryRun,
      readBody: async () => body,
      releaseBody: () => {},
    }
    await exchange(flow, inbound, reply)
  }
  await withCurrentKey(run, () => {}).catch((thrown: unknown) => {
    if (thrown instanceof GatewayError && !trial.isDryRun)
      flow.refusals.note({ error: thrown, trace, client: () => PERSON })
    throw thrown
  })
}

/** The endpoint that a program with this key would use for this model; if it may use none, the first. */
export function formatOf(
  { catalog }: AdminParts,
  { key, model }: Pick<TrialRequest, 'key' | 'model'>,
): Format & Endpoint {
  if (catalog().get(model)?.kind === 'embedding') return 'embeddings'
  const formats = ['chat', 'messages', 'responses'] as const
  return formats.find((format) => key.permissions.includes(format)) ?? 'chat'
}

/** A person who tries something leaves nothing behind to refer to later. */
function bodyOf(format: Format, trial: TrialRequest, { isStream }: TrialReply): object {
  return {
    ...callBody(format, trial),
    ...(format === 'responses' && { store: false }),
    ...(isStream && { stream: true }),
  }
}

// Where the answer goes: kept whole, or read as it comes, by the provider's half of the codec.

/** Keeps in memory what the flow would have sent. */
export class WholeReply implements TrialReply {
  readonly isStream = false
  readonly #closing = new AbortController()
  readonly gone = undefined
  readonly closed = this.#closing.signal
  hasBegun = false
  #body = ''

  get body(): JsonObject {
    return JSON.parse(this.#body)
  }

  cut(why: GatewayError): void {
    this.#closing.abort(why)
  }

  setHeader(): void {}

  /** Never called: only whole answers are requested. */
  beginStream(): void {}

  async write(part: string): Promise<void> {
    this.hasBegun = true
    this.#body += part
  }

  async end(last: string): Promise<void> {
    this.#body += last
  }
}

/** Tells what the answer means as it comes, until whoever asked for it has left. */
export class StreamReply implements TrialReply {
  readonly isStream = true
  readonly #closing = new AbortController()
  readonly closed = this.#closing.signal
  readonly #reader = new SseReader()
  readonly #decode: (event: ReturnType<SseReader['read']>[number]) => readonly CanonicalEvent[]
  readonly #see: (events: readonly CanonicalEvent[]) => void
  gone: ClientGone | undefined
  hasBegun = false
  /** Its name, once one answers. */
  target: string | undefined

  constructor(format: Format, see: (events: readonly CanonicalEvent[]) => void) {
    this.#decode = CODECS[format].decodeEvents()
    this.#see = see
  }

  cut(why: GatewayError): void {
    this.#closing.abort(why)
  }

  /** As for any client of a stream: it is charged for what it was sent, and for what the provider counts soon after. */
  leave(): void {
    const gone = new ClientGone()
    this.gone = gone
    const end = (): void => this.#closing.abort(gone)
    if (this.hasBegun) setTimeout(end, LINGER_MS).unref()
    else end()
  }

  setHeader(name: string, value: string): void {
    if (name === 'x-tollgate-target') this.target = value
  }

  beginStream(): void {}

  async write(events: string): Promise<void> {
    this.closed.throwIfAborted()
    this.hasBegun = true
    this.#tell(events)
  }

  async end(last: string): Promise<void> {
    this.#tell(last)
  }

  #tell(text: string): void {
    const events = this.#reader.read(Buffer.from(text)).flatMap((event) => this.#decode(event))
    if (events.length > 0 && this.gone === undefined) this.#see(events)
  }
}

/** The words of an answer; null = it has none, such as one that consists of vectors. */
export function textOf(events: readonly CanonicalEvent[]): string | null {
  const words = events.flatMap((event) =>
    event.type === 'text-delta' || event.type === 'refusal-delta' ? event.text : [],
  )
  return words.length === 0 ? null : words.join('')
}
