// Requests that cost nothing: lists, stored responses, token counts. No budget refuses them, the rate limits count
// them, and the books show the status they ended with. Counting tokens is here; the others have files of their own.
import { permitModel } from '../../access/authenticate.ts'
import { refusalOf } from '../../access/refusal.ts'
import { likelyInput, NO_COST } from '../../catalog/worst-case.ts'
import type { Clock } from '../../core/clock.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Ask, Ledger, Settlement } from '../../ledger/ledger.ts'
import type { EdgeCodec } from '../../wire/contract/codec.ts'
import { textsOf } from '../../wire/contract/measure.ts'
import { readCountCall } from '../../wire/messages/call.ts'
import { verdictOf } from '../admission.ts'
import { endedWith } from '../billing.ts'
import type { Handler, Parts } from '../exchange.ts'
import { countAt, prepare } from '../prepare.ts'
import { setBalanceHeaders, setDroppedHeader, type Reply } from '../reply.ts'
import { type InboundRequest, readRequest, type ClientRequest } from '../request.ts'

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
  const { inbound, model, dropped = [], reply } = request
  if (inbound.readDryRun()) return reply.end(JSON.stringify(await dryRun(parts, request)))
  const { ledger, clock } = parts
  const startedMs = clock.monotonicMs()
  const outcome = await ledger.reserve(freeAsk(inbound, model))
  const { family } = inbound.codec
  if ('balances' in outcome) setBalanceHeaders(reply, outcome.balances, { family, clock, model })
  if (!outcome.reserved) throw refusalOf(inbound.caller, outcome)
  const { holdId, groupId } = outcome
  let body: string
  let failure: unknown
  try {
    body = await work()
  } catch (thrown) {
    failure = thrown
    throw thrown
  } finally {
    const settlement = { ...freeSettlement(inbound, model, failure), holdId, groupId }
    const latencyMs = clock.monotonicMs() - startedMs
    // Nothing was spent, so the answer goes out even if the books cannot be written; the hold ends when they can.
    await ledger
      .settle({ ...settlement, latencyMs })
      .catch(() => ledger.void(holdId, 'not recorded'))
  }
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

/** What the ledger is asked to reserve for a request that costs nothing. */
export function freeAsk({ requestId, endpoint, caller }: InboundRequest, model: string): Ask {
  return {
    requestId,
    keyId: caller.keyId,
    groupId: caller.groupId,
    groupVersion: caller.groupVersion,
    allowVersion: caller.allowVersion,
    endpoint,
    modelAsked: model,
    candidates: [NO_COST],
    whenTight: caller.whenTight,
    estimatedTokens: 0,
    recounted: true,
  }
}

function freeSettlement(
  { requestId, endpoint, caller, trace }: InboundRequest,
  model: string,
  failure: unknown,
): Omit<Settlement, 'holdId' | 'groupId' | 'latencyMs'> {
  return {
    requestId,
    keyId: caller.keyId,
    endpoint,
    modelAsked: model,
    modelServed: null,
    provider: null,
    ...endedWith(failure),
    tokens: NO_USAGE,
    costNanodollars: 0n,
    price: null,
    estimated: false,
    firstTokenMs: null,
    traceId: trace.spans?.traceId ?? null,
    endUser: null,
    tags: {},
    attempts: [],
  }
}

/**
 * POST /v1/messages/count_tokens and /v1/responses/input_tokens: the input tokens of a request, by the provider's own
 * count where it gives one, else counted here.
 */
export const countTokens: Handler<Parts> = async (parts, inbound, reply) => {
  const { caller, codec, trace, providerHeaders } = inbound
  const isMessages = codec.format === 'messages'
  // In the messages format, a request whose tokens are only counted needs no output limit.
  const readCall = isMessages ? readCountCall : codec.readCall
  const request = await readRequest(parts, inbound, readCall)
  const { call } = request
  const model = permitModel(parts.registry.catalog, caller, { call, kind: 'chat' })
  trace.model = model.id
  const { routes } = parts.registry.route(caller, model, request)
  const [first] = await prepare(request, routes)
  const asked = { inbound, model: call.model, dropped: first?.dropped ?? [], reply }
  await answerFree(parts, asked, async () => {
    const told = first && (await countAt(first, providerHeaders, reply.closed))
    const input_tokens = told ?? (await countHere(parts, request, readCall))
    return JSON.stringify(
      isMessages ? { input_tokens } : { object: 'response.input_tokens', input_tokens },
    )
  })
}

async function countHere(
  { tokenizer }: Parts,
  request: ClientRequest,
  readCall: EdgeCodec['readCall'],
): Promise<number> {
  await request.nextStep()
  const counted = await tokenizer.count(textsOf(readCall, request.content.value))
  return likelyInput(request.call.input, counted?.likely)
}
