// The whole life of one inference request, read from top to bottom: who calls, what is asked, may it run, who answers,
// what did it cost. Returns only after the ledger is settled and the last byte is written.
import { admit } from '../access/admit.ts'
import type { RaisedBounds } from '../access/admit.ts'
import type { Caller } from '../access/authenticate.ts'
import { permitModel } from '../access/permit.ts'
import type { Tokenizer } from '../access/tokenizer.ts'
import type { Model } from '../catalog/models.ts'
import type { Endpoint, ModelKind } from '../core/endpoints.ts'
import { withoutRetry } from '../core/errors.ts'
import type { Routed } from '../routing/route.ts'
import type { Log } from '../telemetry/log.ts'
import { Question } from './admission.ts'
import { attempt, refuseWhileAllRest } from './attempt.ts'
import { Books } from './billing.ts'
import { dryRun } from './dry-run.ts'
import type { OwnKeyParts } from './endpoints/key.ts'
import type { ListingParts } from './endpoints/models.ts'
import { setAdmissionHeaders, setSettledHeaders } from './headers.ts'
import type { Route } from './prepare.ts'
import { prepare, grantedTargets, skipped, withoutSearches, withoutReasoning } from './prepare.ts'
import { relay } from './relay.ts'
import type { Reply, Running } from './reply.ts'
import { identify, readRequest } from './request.ts'
import type { Incoming, RequestParts } from './request.ts'

/** What the flow is made of; constructed once, in gateway.ts. */
export type Parts = ListingParts &
  OwnKeyParts &
  RequestParts & {
    readonly log: Log
    readonly tokenizer: Tokenizer
    readonly raisedBounds: RaisedBounds
    readonly running: Running
    /** Where this caller's request may go, in order. */
    route(caller: Caller, model: Model, request: Routed): Route
  }

export async function exchange(parts: Parts, incoming: Incoming, reply: Reply): Promise<void> {
  const { codec, endpoint, requestId, startedMs, trace } = incoming
  const caller = await identify(parts, incoming)
  const request = await readRequest(parts, incoming, caller)
  const { call } = request
  trace.stream = call.stream
  const model = permitModel(parts.catalog(), caller, { call, kind: kindOf(endpoint) })
  trace.model = model.id
  const { destinations, retries } = parts.route(caller, model, request)
  const prepared = await prepare(request, destinations)

  const question = new Question({ request, caller, model, prepared }, reply, parts.clock)
  if (incoming.readDryRun()) {
    await reply.end(JSON.stringify(await dryRun(parts, question, prepared)))
    return
  }
  refuseWhileAllRest(prepared)
  // Before admission, so that a revocation from now on finds this exchange among the running ones.
  const running = parts.running.begin(caller.keyId, reply)
  try {
    const admission = await admit(parts, question)
    // From here on there is a hold, and every way out of this function settles it.
    const left = skipped(prepared, admission.hold)
    const entry = { requestId, endpoint, admission, left, startedMs, trace, request }
    const books = new Books(parts, entry)
    try {
      setAdmissionHeaders(reply, admission, question)
      if (call.stream) reply.beginStream(codec.encodeEvents(request))
      const ending = await attempt(
        {
          requestId,
          log: parts.log,
          prepared: grantedTargets(
            admission.maySearch ? prepared : prepared.map(withoutSearches),
            admission.hold,
          ),
          forget: (target) => withoutReasoning(request, target),
          retries,
          outputTokensMax: admission.outputTokensMax,
          stream: call.stream,
          headers: incoming.providerHeaders,
          books,
          reply,
        },
        (answer) => relay(answer, reply, { request, books }),
      )
      // The cost is in the books before the client can see the end.
      const settled = await books.settle(reply.gone)
      await request.remember(ending)
      setSettledHeaders(reply, settled, question)
      await reply.end(ending)
    } catch (thrown) {
      const failure = reply.gone ?? (reply.closed.aborted ? reply.closed.reason : thrown)
      const settled = await books.settle(failure)
      question.tell(settled?.balances ?? admission.hold.balances)
      // A client that retries automatically after a failure that cost something would pay again.
      throw settled === undefined || settled.costNanodollars === 0n
        ? failure
        : withoutRetry(failure)
    }
  } finally {
    running.remove()
  }
}

function kindOf(endpoint: Endpoint): ModelKind {
  return endpoint === 'embeddings' ? 'embedding' : 'chat'
}
