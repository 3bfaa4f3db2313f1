// The last gate before a provider is called: the worst case of a request is held on the key and on the frame. Admits only
// with a committed hold; otherwise throws a refusal that explains itself. A dry run asks the same, with nothing held.
import { refusalOf } from '../access/refusal.ts'
import type { AdmissionInput, Basis, Candidate, RaisedBounds } from '../access/reservation.ts'
import { askOf } from '../access/reservation.ts'
import type { Tokenizer } from '../access/tokenizer.ts'
import type { Model } from '../catalog/models.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { formatUsd, type Nanodollars } from '../core/money.ts'
import type { Ask, Ledger, Refused, Reserved } from '../ledger/ledger.ts'
import { costAtMost, costAtMostWith } from '../ledger/rules/judge.ts'
import { affordable, countAt, type OutboundRequest } from './prepare.ts'
import { setBalanceHeaders, type Reply } from './reply.ts'
import type { ClientRequest } from './request.ts'

export type AdmissionParts = {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly tokenizer: Tokenizer
  readonly raisedBounds: RaisedBounds
}

/** A request, what its routes would be sent, and where it is answered. */
export type Asked = {
  readonly request: Pick<ClientRequest, 'inbound' | 'call' | 'texts' | 'nextStep'>
  readonly model: Model
  readonly prepared: readonly OutboundRequest[]
  readonly reply: Reply
}

export type Admission = {
  readonly hold: Reserved
  /** Whether the hold pays for the searches that targets may run. */
  readonly maySearch: boolean
  /** The input the hold assumes, and what that bound rests on. */
  readonly inputTokens: number
  readonly basis: Basis
  /** The highest output limit that any target may be told; undefined where there is no output to pay for. */
  readonly outputTokensMax: number | undefined
}

export async function admit(parts: AdmissionParts, asked: Asked): Promise<Admission> {
  const { outcome, maySearch, inputTokens, basis } = await askLedger(parts, asked, 'reserve')
  if (!outcome.reserved) {
    const { reply, request } = asked
    const { caller, codec } = request.inbound
    if ('balances' in outcome) {
      setBalanceHeaders(reply, outcome.balances, { family: codec.family, clock: parts.clock })
    }
    reply.closed.throwIfAborted()
    const refusal = refuse(asked, outcome)
    parts.ledger.countRefused(caller.keyId, request.call.model)
    throw refusal
  }
  const outputTokensMax = mostOutput(outcome) || undefined
  return { hold: outcome, maySearch, inputTokens, basis, outputTokensMax }
}

function mostOutput({ outputTokens, grants = [] }: Reserved): number {
  return grants.reduce<number>(
    (most, grant) => (typeof grant === 'string' ? most : Math.max(most, grant.outputTokens)),
    outputTokens,
  )
}

/** A refusal says which of several targets it is about. */
function refuse({ request, prepared }: Asked, outcome: Refused): GatewayError {
  const { caller } = request.inbound
  const names = caller.mode === 'live' ? prepared.map(({ route }) => route.target.name) : []
  return refusalOf(caller, outcome, names)
}

type Answered = {
  readonly ask: Ask
  readonly outcome: Reserved | Refused
  readonly inputTokens: number
  readonly basis: Basis
  readonly maySearch: boolean
}

/**
 * Asks the ledger with the input bounded by its bytes. If that does not fit, asks once more with its tokens counted, and
 * without searches if the key accepts a smaller answer and the first target needs one.
 */
async function askLedger(
  { ledger, tokenizer, raisedBounds }: AdmissionParts,
  asked: Asked,
  how: 'reserve' | 'dryRun',
): Promise<Answered> {
  const input = admissionInput(asked)
  const first = askOf(input, raisedBounds)
  const outcome = await ledger[how](first.ask)
  if (outcome.reserved || outcome.reason !== 'recount') {
    return { ...first, outcome, basis: 'bytes', maySearch: true }
  }
  const { unbounded, fetched } = input.call.input
  const [texts, told] = await Promise.all([
    // Input that only the context window bounds stays so bounded, however few texts it has.
    unbounded ? undefined : textsOf(asked).then((found) => tokenizer.count(found)),
    // The owner of an address may serve a page to the count and a book to the model.
    fetched ? [] : countAtRoutes(asked),
  ])
  const maySearch = input.caller.whenTight === 'refuse' || outcome.isFirstFit
  const recounted = askOf({ ...input, recount: { texts, told, maySearch } }, raisedBounds)
  const basis = recounted.inputTokens < first.inputTokens ? 'count' : 'bytes'
  return { ...recounted, outcome: await ledger[how](recounted.ask), basis, maySearch }
}

function admissionInput({ request, model, prepared, reply }: Asked): AdmissionInput {
  const { requestId, endpoint, caller } = request.inbound
  const candidates =
    caller.mode === 'test'
      ? sandboxCandidates(model, prepared)
      : prepared.map((each) => candidateAt(each.route.target, each))
  return {
    requestId,
    endpoint,
    caller,
    model,
    call: request.call,
    candidates,
    closed: reply.closed,
  }
}

/** A test key has the limits of a live one, but reaches none of the targets. */
function sandboxCandidates(
  { targets, fallbacks }: Model,
  prepared: readonly OutboundRequest[],
): readonly Candidate[] {
  return [...targets, ...fallbacks].map((target) => {
    const same = prepared.find(
      ({ route }) =>
        route.target.provider === target.provider && route.target.model === target.model,
    )
    return candidateAt(target, same)
  })
}

function candidateAt(
  target: Candidate['target'],
  outbound: OutboundRequest | undefined,
): Candidate {
  return {
    target,
    inputTokens: outbound?.inputTokens,
    searchesMax: outbound?.searchesMax ?? 0,
    outputTokensMax: outbound?.outputTokensMax,
  }
}

async function textsOf({ request }: Asked): Promise<readonly string[]> {
  await request.nextStep()
  return request.texts() ?? []
}

/** The counts of those providers that give one: a round trip, worth it only where little is left. */
function countAtRoutes({ request, prepared, reply }: Asked): Promise<(number | undefined)[]> {
  return Promise.all(
    prepared.map(async (each) => {
      await request.nextStep()
      return countAt(each, request.inbound.providerHeaders, reply.closed)
    }),
  )
}

/** `x-tollgate-dry-run: 1`: what would happen to this request, by the code that decides it, without doing it. */
export async function dryRun(parts: AdmissionParts, asked: Asked): Promise<JsonObject> {
  const { ask, outcome, maySearch } = await askLedger(parts, asked, 'dryRun')
  const hold = outcome.reserved ? outcome : undefined
  const { outbound, skipped } = affordable(asked.prepared, { hold, maySearch })
  const [first] = outbound
  return {
    object: 'tollgate.dry_run',
    model: asked.request.call.model,
    target: first === undefined ? null : first.route.target.name,
    dropped: first?.dropped ?? [],
    ...(skipped.length > 0 && { skipped: skipped.map(({ target, by }) => ({ target, by })) }),
    worst_case: formatUsd(worstCaseOf(ask, outcome)),
    ...verdictOf(outcome.reserved ? outcome : refuse(asked, outcome)),
  }
}

export function verdictOf(outcome: Reserved | GatewayError): JsonObject {
  if (outcome instanceof GatewayError) {
    const { status, code, message, details } = outcome
    return { passes: false, status, code, message, ...details.facts }
  }
  return {
    passes: true,
    held: formatUsd(outcome.amountNanodollars),
    output_tokens: outcome.outputTokens,
    capped: outcome.capped,
  }
}

/** At the dearest target that is not skipped. */
function worstCaseOf({ candidates }: Ask, outcome: Reserved | Refused): Nanodollars {
  if ('shortage' in outcome) return outcome.shortage.requiredNanodollars
  const grants = outcome.reserved ? outcome.grants : undefined
  const costs = candidates
    .filter((_, index) => typeof grants?.[index] !== 'string')
    .map((worst) =>
      'balances' in outcome
        ? costAtMostWith(outcome.balances, worst)
        : costAtMost(worst, worst.outputTokens),
    )
  return costs.reduce((one, other) => (one > other ? one : other))
}
