// The last gate before a provider is called: the worst case of a request, held on the key and on the frame. Returns
// only with a committed hold; otherwise throws a refusal that explains itself.
import type { Model, Target } from '../catalog/models.ts'
import { countedBound, likelyInput, recountedBound, worstCase } from '../catalog/tokens.ts'
import type { Call } from '../core/call.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { GatewayError } from '../core/errors.ts'
import type { Nanodollars } from '../core/money.ts'
import { costAtMost, costAtMostWith } from '../ledger/judge.ts'
import type { Ask, Balances, Ledger, Refused, Reserved } from '../ledger/ledger.ts'
import type { Caller } from './caller.ts'
import type { Basis, RaisedBounds } from './raised-bounds.ts'
import { refusalOf } from './refusal.ts'
import type { Tokenizer } from './tokenizer.ts'
import type { Count } from './tokenizer-worker.ts'

export type Admission = {
  readonly caller: Caller
  readonly model: Model
  readonly call: Call
  readonly hold: Reserved
  /** Whether the hold pays for the searches that targets may run. */
  readonly maySearch: boolean
  /** The input the hold assumes, and what that bound rests on. */
  readonly inputTokens: number
  readonly basis: Basis
  /** The limit that must be sent upstream; undefined where there is no output to pay for. */
  readonly outputTokensMax: number | undefined
}

export type AdmissionRequest = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly model: Model
  readonly call: Call
  /** The request's texts, for counting them when their bytes alone bound the input too loosely. */
  texts(): readonly string[]
  /** Whether the request can be sent to a target of its model: some formats cannot express it. */
  mayReach(target: Target): boolean
  /** A target's exact input, where it is known. */
  inputTokensOf(target: Target): number | undefined
  /** How many web searches the request may make at a target. */
  searchesMaxOf(target: Target): number
  /** Reports how the limits stand when the request is refused. */
  tell(balances: Balances): void
  /** The counts of those providers that give one: a round trip, worth it only where little is left. */
  countAtTargets(): Promise<(target: Target) => number | undefined>
  /** Aborted when the client has gone. */
  readonly closed: AbortSignal
}

export type AdmissionParts = {
  readonly ledger: Ledger
  readonly tokenizer: Tokenizer
  readonly raisedBounds: RaisedBounds
}

export async function admit(parts: AdmissionParts, request: AdmissionRequest): Promise<Admission> {
  const { caller, model, call } = request
  const said = await ledgerSays(parts, request, 'reserve')
  const { outcome, maySearch, inputTokens, basis } = said
  if (!outcome.reserved) {
    if ('balances' in outcome) request.tell(outcome.balances)
    request.closed.throwIfAborted()
    const refusal = refusalOf(caller, outcome)
    parts.ledger.countRefused(caller.keyId, call.model)
    throw refusal
  }
  return {
    caller,
    model,
    call,
    hold: outcome,
    maySearch,
    inputTokens,
    basis,
    outputTokensMax: outcome.outputTokens > 0 ? outcome.outputTokens : undefined,
  }
}

/** What `admit` would do now, decided by the same code, with nothing held. */
export type Forecast = {
  readonly worstCaseNanodollars: Nanodollars
  readonly outcome: Reserved | GatewayError
  readonly maySearch: boolean
}

export async function forecast(
  parts: AdmissionParts,
  request: AdmissionRequest,
): Promise<Forecast> {
  const { ask, outcome, maySearch } = await ledgerSays(parts, request, 'dryRun')
  return {
    worstCaseNanodollars: worstCaseOf(ask, outcome),
    outcome: outcome.reserved ? outcome : refusalOf(request.caller, outcome),
    maySearch,
  }
}

function worstCaseOf({ worstCase: worst }: Ask, outcome: Reserved | Refused): Nanodollars {
  if ('shortage' in outcome) return outcome.shortage.requiredNanodollars
  return 'balances' in outcome
    ? costAtMostWith(outcome.balances, worst)
    : costAtMost(worst, worst.outputTokens)
}

/**
 * Asks the ledger with the input bounded by its bytes. If that does not fit, asks once more with its texts counted, and
 * without searches if the key accepts a smaller answer.
 */
async function ledgerSays(
  { ledger, tokenizer, raisedBounds }: AdmissionParts,
  request: AdmissionRequest,
  how: 'reserve' | 'dryRun',
): Promise<Said> {
  const first = askOf(request, raisedBounds)
  const outcome = await ledger[how](first.ask)
  if (outcome.reserved || outcome.reason !== 'recount') {
    return { ...first, basis: 'bytes', outcome, maySearch: true }
  }
  const { unbounded, fetched } = request.call.input
  const [texts, countedAt] = await Promise.all([
    // Input that only the context window bounds stays so bounded, however few texts it has.
    unbounded ? undefined : tokenizer.count(request.texts()),
    // The owner of an address may serve a page to the count and a book to the model.
    fetched ? undefined : request.countAtTargets(),
  ])
  const maySearch = request.caller.whenTight === 'refuse'
  const recounted = askOf(request, raisedBounds, { texts, countedAt, maySearch })
  const basis = recounted.inputTokens < first.inputTokens ? 'count' : 'bytes'
  return { ...recounted, basis, outcome: await ledger[how](recounted.ask), maySearch }
}

type Bounded = {
  readonly ask: Ask
  /** The input it assumes. */
  readonly inputTokens: number
}

type Said = Bounded & {
  readonly basis: Basis
  readonly outcome: Reserved | Refused
  readonly maySearch: boolean
}

type Recount = {
  readonly maySearch: boolean
  /** Undefined if they could not be counted: then their bytes still bound them. */
  readonly texts: Count | undefined
  /** Undefined where no provider's count would be reliable. */
  readonly countedAt: ((target: Target) => number | undefined) | undefined
}

/** The request to the ledger, with the input bounded by its bytes, or by its texts once they are counted. */
function askOf(request: AdmissionRequest, raisedBounds: RaisedBounds, recount?: Recount): Bounded {
  const { caller, model, call } = request
  const costs = worstCase({
    model,
    input: call.input,
    output: call.output,
    // A test key has the limits of a live one, but reaches none of the targets.
    ...(caller.mode === 'live' && { mayReach: (target) => request.mayReach(target) }),
    searchesMaxOf: (target) => (recount?.maySearch === false ? 0 : request.searchesMaxOf(target)),
    raiseOf: (target) => raisedBounds.factorOf(target, 'bytes'),
    inputTokensOf: (target) => {
      const exact = request.inputTokensOf(target)
      if (exact !== undefined || recount === undefined) return exact
      const counted = countedTokens(request, recount, target)
      return counted && Math.ceil(counted * raisedBounds.factorOf(target, 'count'))
    },
  })
  // A test key is answered by the sandbox at no cost, with the limits a live key would have.
  const free = { fixedPicodollars: 0n, outputTokenPicodollars: 0n }
  const { inputTokens } = costs
  const isKnown = isExact(request)
  const ask: Ask = {
    requestId: request.requestId,
    keyId: caller.keyId,
    allowVersion: caller.allowVersion,
    endpoint: request.endpoint,
    modelAsked: call.model,
    worstCase: caller.mode === 'test' ? { ...costs, ...free } : costs,
    whenTight: caller.whenTight,
    estimatedTokens: isKnown ? inputTokens : likelyTokensOf(call, inputTokens, recount),
    recounted: recount !== undefined || isKnown,
    signal: request.closed,
  }
  return { ask, inputTokens }
}

/** The input bound by a provider's count, else by the tokenizer's; undefined = there is no count. */
function countedTokens(
  { model, call }: AdmissionRequest,
  { countedAt, texts }: Recount,
  target: Target,
): number | undefined {
  const counted = countedAt?.(target)
  if (counted !== undefined) return countedBound(counted)
  if (texts === undefined) return undefined
  return recountedBound(call.input, texts.most, { kind: model.kind, window: target })
}

/** Tokens per minute go by the likely count; where bytes do not tell, only the bound is known. */
function likelyTokensOf({ input }: Call, bound: number, recount: Recount | undefined): number {
  return input.unbounded ? bound : Math.min(likelyInput(input, recount?.texts?.likely), bound)
}

/** If the exact input is known for every target within reach, there is nothing to recount. */
function isExact(request: AdmissionRequest): boolean {
  const { caller, model } = request
  const isKnown = (target: Target): boolean =>
    request.inputTokensOf(target) !== undefined || !request.mayReach(target)
  return caller.mode === 'live' && [...model.targets, ...model.fallbacks].every(isKnown)
}
