// The whole life of one inference request, read from top to bottom: what is asked, may it run, who answers, what did it
// cost. Returns only after the ledger is settled and the last byte is written.
import { type Caller, permitModel } from '../access/authenticate.ts'
import type { Catalog, Model } from '../catalog/models.ts'
import { withoutRetry } from '../core/errors.ts'
import type { Routed, Routing } from '../routing/route.ts'
import type { Log } from '../telemetry/log.ts'
import { admit, dryRun, type AdmissionParts } from './admission.ts'
import { refuseWhileAllOpen, tryRoutes } from './attempt.ts'
import { Billing } from './billing.ts'
import { affordable, prepare } from './prepare.ts'
import { relay } from './relay.ts'
import {
  setBalanceHeaders,
  setHoldHeaders,
  setSettledHeaders,
  type Reply,
  type RunningExchanges,
} from './reply.ts'
import { readRequest, type InboundRequest, type RequestParts } from './request.ts'

/** What the flow is made of; constructed once, in gateway.ts. */
export type Parts = AdmissionParts &
  RequestParts & {
    readonly log: Log
    readonly running: RunningExchanges
    readonly registry: Registry
  }

/** What can be called at present. */
export type Registry = {
  readonly catalog: Catalog
  /** Where this caller's request may go, in order. */
  route(caller: Caller, model: Model, request: Routed): Routing
}

/** Answers one request. Resolves when the work is done and the last byte is written. */
export type Handler<Given> = (parts: Given, inbound: InboundRequest, reply: Reply) => Promise<void>

/** Of a caller that may use the endpoint. */
export async function exchange(parts: Parts, inbound: InboundRequest, reply: Reply): Promise<void> {
  const { caller, codec, trace } = inbound
  const request = await readRequest(parts, inbound)
  const { call } = request
  trace.stream = call.stream
  const kind = inbound.endpoint === 'embeddings' ? 'embedding' : 'chat'
  const model = permitModel(parts.registry.catalog, caller, { call, kind })
  trace.model = model.id
  const { routes, retries } = parts.registry.route(caller, model, request)
  const prepared = await prepare(request, routes)

  const asked = { request, model, prepared, reply }
  if (inbound.readDryRun()) {
    await reply.end(JSON.stringify(await dryRun(parts, asked)))
    return
  }
  refuseWhileAllOpen(prepared)
  // Before admission, so that a revocation from now on finds this exchange among the running ones.
  const running = parts.running.begin(caller.keyId, reply)
  try {
    const admission = await admit(parts, asked)
    // From here on there is a hold, and every way out of this function settles it.
    const { hold, outputTokensMax } = admission
    const { outbound, skipped } = affordable(prepared, admission)
    const billing = new Billing(parts, { request, model, admission, skipped })
    const client = { family: codec.family, clock: parts.clock, model: model.id }
    try {
      setHoldHeaders(reply, hold)
      if (call.stream) {
        // A stream reports the limits before it, a whole answer those after it.
        setBalanceHeaders(reply, hold.balances, client)
        reply.beginStream(codec.encodeEvents(request))
      }
      const ending = await tryRoutes(
        { log: parts.log, request, outbound, retries, outputTokensMax, billing, reply },
        (answer) => relay(answer, { request, billing, reply }),
      )
      // The cost is in the books before the client can see the end.
      const settled = await billing.settle(reply.gone)
      await request.remember?.(ending)
      setSettledHeaders(reply, settled, client)
      await reply.end(ending)
    } catch (thrown) {
      const failure = reply.gone ?? (reply.closed.aborted ? reply.closed.reason : thrown)
      const settled = await billing.settle(failure)
      setBalanceHeaders(reply, settled?.balances ?? hold.balances, client)
      // A client that retries automatically after a failure that cost something would pay again.
      throw settled === undefined || settled.costNanodollars === 0n
        ? failure
        : withoutRetry(failure)
    }
  } finally {
    running.remove()
  }
}
