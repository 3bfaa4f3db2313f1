// Calls that cost nothing: lists, stored responses, token counts. No budget refuses them, the rate limits count them,
// and the books show the status they ended with.
import type { Caller } from '../../access/authenticate.ts'
import { refusalOf } from '../../access/refusal.ts'
import { NO_COST } from '../../catalog/worst-case.ts'
import type { Clock } from '../../core/clock.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Ask, HoldId, Ledger } from '../../ledger/ledger.ts'
import { endedWith } from '../billing.ts'
import { freeDryRun } from '../dry-run.ts'
import { setBalanceHeaders, setDroppedHeader } from '../headers.ts'
import type { Reply } from '../reply.ts'
import type { Asking } from '../request.ts'

export type FreeParts = { readonly ledger: Ledger; readonly clock: Clock }

type FreeCall = {
  readonly asking: Asking
  readonly caller: Caller
  /** Empty if the call concerns no model. */
  readonly model: string
  /** What the answer leaves out of account, under the client's names. */
  readonly dropped?: readonly string[]
  readonly reply: Reply
  /** For a dry run: finds what the work needs, or refuses, and changes nothing. */
  readonly look?: () => Promise<unknown>
}

/** Answers with the result of `work`, if the rate limits let the call through. */
export async function answerFree(
  parts: FreeParts,
  call: FreeCall,
  work: () => string | Promise<string>,
): Promise<void> {
  if (call.asking.readDryRun()) return call.reply.end(JSON.stringify(await rehearse(parts, call)))
  const startedMs = parts.clock.monotonicMs()
  const holdId = await admit(parts, call)
  const close = (failure?: unknown) => settle(parts, call, { holdId, startedMs, failure })
  let body: string
  try {
    body = await work()
  } catch (thrown) {
    await close(thrown)
    throw thrown
  }
  await close()
  setDroppedHeader(call.reply, call.dropped ?? [])
  await call.reply.end(body)
}

/** What would happen to the call, with nothing done or counted. */
async function rehearse({ ledger }: FreeParts, call: FreeCall): Promise<JsonObject> {
  const outcome = await ledger.dryRun(freeAsk(call))
  if (outcome.reserved) await call.look?.()
  return freeDryRun(call, outcome.reserved ? outcome : refusalOf(call.caller, outcome))
}

async function admit({ ledger, clock }: FreeParts, call: FreeCall): Promise<HoldId> {
  const { asking, caller, reply } = call
  const outcome = await ledger.reserve(freeAsk(call))
  const { family } = asking.credentials
  if ('balances' in outcome) {
    setBalanceHeaders(reply, outcome.balances, { family, now: clock.now() })
  }
  if (!outcome.reserved) throw refusalOf(caller, outcome)
  return outcome.holdId
}

/** What the ledger is asked to reserve for a call that costs nothing. */
export function freeAsk({ asking, caller, model }: Omit<FreeCall, 'reply'>): Ask {
  return {
    requestId: asking.requestId,
    keyId: caller.keyId,
    allowVersion: caller.allowVersion,
    endpoint: asking.endpoint,
    modelAsked: model,
    candidates: [NO_COST],
    whenTight: caller.whenTight,
    estimatedTokens: 0,
    recounted: true,
  }
}

type Ended = { readonly holdId: HoldId; readonly startedMs: number; readonly failure: unknown }

async function settle(
  { ledger, clock }: FreeParts,
  { asking, caller, model }: FreeCall,
  { holdId, startedMs, failure }: Ended,
): Promise<void> {
  const { status, errorCode } = endedWith(failure)
  const settled = ledger.settle({
    holdId,
    requestId: asking.requestId,
    keyId: caller.keyId,
    endpoint: asking.endpoint,
    modelAsked: model,
    modelServed: null,
    provider: null,
    status,
    errorCode,
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
