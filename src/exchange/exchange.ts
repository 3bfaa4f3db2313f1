// The whole life of one inference request, read from top to bottom: who calls, what is asked, may it run, who answers,
// what did it cost. Returns only after the ledger is settled and the last byte is written.
import type { AdmissionRequest } from '../access/admit.ts'
import { admit } from '../access/admit.ts'
import type { Caller } from '../access/caller.ts'
import { permitModel } from '../access/permit.ts'
import type { RaisedBounds } from '../access/raised-bounds.ts'
import type { Tokenizer } from '../access/tokenizer.ts'
import type { Model } from '../catalog/models.ts'
import type { Call } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Endpoint, ModelKind } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import type { Conversation } from '../routing/route.ts'
import type { Log } from '../telemetry/log.ts'
import type { AnswerContext, Codec } from '../wire/codec.ts'
import { readJsonBody } from '../wire/json.ts'
import { textsOf } from '../wire/texts.ts'
import { setAdmissionHeaders, setBalanceHeaders, setSettledHeaders } from './answer-headers.ts'
import type { Asking, ListingParts } from './asking.ts'
import { identify } from './asking.ts'
import { attempt, refuseWhileAllRest } from './attempt.ts'
import { Books } from './books.ts'
import { aboutTargets } from './count-input.ts'
import { dryRun } from './dry-run.ts'
import type { OwnKeyParts } from './own-key.ts'
import type { Route } from './prepare.ts'
import { prepare, withoutSearches } from './prepare.ts'
import { relay } from './relay.ts'
import type { Reply } from './reply.ts'
import type { ResponsesState } from './responses-state.ts'
import { recall, withoutState } from './responses-state.ts'
import type { Running } from './running.ts'

/** What the flow is made of; constructed once, in gateway.ts. */
export type Parts = ListingParts &
  OwnKeyParts & {
    readonly clock: Clock
    readonly log: Log
    readonly tokenizer: Tokenizer
    readonly raisedBounds: RaisedBounds
    readonly running: Running
    readonly responses: ResponsesState
    /** Where this caller's request may go, in order. */
    route(caller: Caller, model: Model, conversation: Conversation): Route
  }

/** A request for a model's answer, as the edge received it. */
export type Incoming = Asking & {
  readonly codec: Codec
  /** The client's headers that a provider may see. */
  readonly providerHeaders: ReadonlyMap<string, string>
  /** What of the client's headers a provider is not told, by their names. */
  readonly dropped?: readonly string[]
  /** The client only wants to know what would happen. */
  readonly isDryRun: boolean
  /** The conversation it belongs to, where the client says so beside the body. */
  readonly session: string | undefined
  readonly startedMs: number
  readBody(): Promise<Buffer>
}

export async function exchange(parts: Parts, incoming: Incoming, reply: Reply): Promise<void> {
  const { codec, endpoint, requestId, startedMs, trace } = incoming
  const caller = await identify(parts, incoming)
  const sent = readJsonBody(await incoming.readBody())
  const { body, asked, remember } =
    endpoint === 'responses'
      ? await recall(parts.responses, caller.keyId, sent)
      : withoutState(sent)
  const call = withDropped(codec.readCall(body.value), incoming.dropped)
  trace.stream = call.stream
  const model = permitModel(parts.catalog(), caller, { call, kind: kindOf(endpoint) })
  trace.model = model.id
  const { destinations, retries } = parts.route(caller, model, {
    affinity: incoming.session ?? codec.affinityOf(body.value),
  })
  const prepared = prepare({ codec, body, call }, destinations)

  const request: AdmissionRequest = {
    requestId,
    endpoint,
    caller,
    model,
    call,
    texts: () => textsOf(body.value),
    ...aboutTargets(prepared, incoming.providerHeaders, reply.closed),
    tell: (balances) =>
      setBalanceHeaders(reply, balances, { family: codec.family, now: parts.clock.now() }),
    closed: reply.closed,
  }
  if (incoming.isDryRun) {
    await reply.end(JSON.stringify(await dryRun(parts, request, prepared)))
    return
  }
  refuseWhileAllRest(prepared)
  const admission = await admit(parts, request)
  // From here on there is a hold, and every way out of this function settles it.
  const books = new Books(parts, { requestId, endpoint, admission, startedMs, trace })
  const running = parts.running.begin(caller.keyId, reply)
  const context = contextOf(parts, { requestId, model: call.model, body: asked })
  try {
    setAdmissionHeaders(reply, admission, request.tell)
    if (call.stream) reply.beginStream(codec.encodeEvents(context))
    const ending = await attempt(
      {
        requestId,
        log: parts.log,
        prepared: admission.maySearch ? prepared : prepared.map(withoutSearches),
        retries,
        outputTokensMax: admission.outputTokensMax,
        stream: call.stream,
        headers: incoming.providerHeaders,
        books,
        reply,
      },
      (answer) => relay(answer, reply, { codec, context, stream: call.stream, books }),
    )
    // The cost is in the books before the client can see the end.
    const settled = await books.settle(reply.gone)
    await remember(ending)
    setSettledHeaders(reply, settled, request.tell)
    await reply.end(ending)
  } catch (thrown) {
    const failure = reply.gone ?? (reply.closed.aborted ? reply.closed.reason : thrown)
    const settled = await books.settle(failure)
    request.tell(settled?.balances ?? admission.hold.balances)
    throw settled === undefined || settled.costNanodollars === 0n ? failure : paidFor(failure)
  } finally {
    running.remove()
  }
}

function withDropped(call: Call, dropped: readonly string[] = []): Call {
  return dropped.length === 0 ? call : { ...call, dropped: [...call.dropped, ...dropped] }
}

function kindOf(endpoint: Endpoint): ModelKind {
  return endpoint === 'embeddings' ? 'embedding' : 'chat'
}

/** A failure that has cost something: a client that tried again by itself would pay again. */
function paidFor(failure: unknown): unknown {
  if (!(failure instanceof GatewayError)) return failure
  const { code, message, details } = failure
  return new GatewayError(code, message, { ...details, shouldRetry: false })
}

function contextOf(
  { clock }: Parts,
  answer: { readonly requestId: string; readonly model: string; readonly body: JsonObject },
): AnswerContext {
  const now = (): number => Math.floor(clock.now() / 1000)
  return { ...answer, createdAt: now(), now, newId: (prefix) => newId(prefix, clock) }
}
