// Requests that cost nothing: lists, stored responses, token counts. No budget refuses them, the rate limits count
// them, and the books show the status they ended with.
import { refusalOf } from '../../access/refusal.ts'
import { NO_COST } from '../../catalog/worst-case.ts'
import type { Clock } from '../../core/clock.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Ask, HoldId, Ledger } from '../../ledger/ledger.ts'
import { verdictOf } from '../admission.ts'
import { endedWith } from '../billing.ts'
import { setBalanceHeaders, setDroppedHeader } from '../reply.ts'
import type { Reply } from '../reply.ts'
import type { InboundRequest } from '../request.ts'

export type FreeParts = { readonly ledger: Ledger; readonly clock: Clock }

type FreeRequest = {
  readonly inbound: InboundRequest
  /** Empty if the request concerns no model. */
  readonly model: string
  /** What the answer leaves out of account, under the client's names. */
  readonly dropped?: readonly string[]
  readonly reply: Reply
  /** For a dry run: finds what the work needs, or refuses, and changes nothing. */
  readonly look?: () => Promise<unknown>
}

/** Answers with the result of `work`, if the rate limits let the request through. */
export async function answerFree(
  parts: FreeParts,
  request: FreeRequest,
  work: () => string | Promise<string>,
): Promise<void> {
  const { inbound, dropped = [], reply } = request
  if (inbound.readDryRun()) return reply.end(JSON.stringify(await dryRun(parts, request)))
  const startedMs = parts.clock.monotonicMs()
  const holdId = await reserve(parts, request)
  const settle = (failure?: unknown) => settleFree(parts, request, { holdId, startedMs, failure })
  let body: string
  try {
    body = await work()
  } catch (thrown) {
    await settle(thrown)
    throw thrown
  }
  await settle()
  setDroppedHeader(reply, dropped)
  await reply.end(body)
}

/** What would happen to the request, with nothing done or counted. */
async function dryRun({ ledger }: FreeParts, request: FreeRequest): Promise<JsonObject> {
  const { inbound, model, dropped = [], look } = request
  const outcome = await ledger.dryRun(freeAsk(inbound, model))
  if (outcome.reserved) await look?.()
  return {
    object: 'tollgate.dry_run',
    model: model === '' ? null : model,
    target: null,
    dropped,
    worst_case: '0',
    ...verdictOf(outcome.reserved ? outcome : refusalOf(inbound.caller, outcome)),
  }
}

async function reserve(
  { ledger, clock }: FreeParts,
  { inbound, model, reply }: FreeRequest,
): Promise<HoldId> {
  const outcome = await ledger.reserve(freeAsk(inbound, model))
  const { family } = inbound.codec
  if ('balances' in outcome) setBalanceHeaders(reply, outcome.balances, { family, clock })
  if (!outcome.reserved) throw refusalOf(inbound.caller, outcome)
  return outcome.holdId
}

/** What the ledger is asked to reserve for a request that costs nothing. */
export function freeAsk({ requestId, endpoint, caller }: InboundRequest, model: string): Ask {
  return {
    requestId,
    keyId: caller.keyId,
    allowVersion: caller.allowVersion,
    endpoint,
    modelAsked: model,
    candidates: [NO_COST],
    whenTight: caller.whenTight,
    estimatedTokens: 0,
    recounted: true,
  }
}

type Ended = { readonly holdId: HoldId; readonly startedMs: number; readonly failure: unknown }

async function settleFree(
  { ledger, clock }: FreeParts,
  { inbound, model }: FreeRequest,
  { holdId, startedMs, failure }: Ended,
): Promise<void> {
  const settled = ledger.settle({
    holdId,
    requestId: inbound.requestId,
    keyId: inbound.caller.keyId,
    endpoint: inbound.endpoint,
    modelAsked: model,
    modelServed: null,
    provider: null,
    ...endedWith(failure),
    tokens: NO_USAGE,
    costNanodollars: 0n,
    price: null,
    estimated: false,
    latencyMs: clock.monotonicMs() - startedMs,
    firstTokenMs: null,
    endUser: null,
    tags: {},
    attempts: [],
  })
  // Nothing was spent, so the answer goes out even if the books cannot be written; the hold ends when they can.
  await settled.catch(() => ledger.void(holdId, 'not recorded'))
}
