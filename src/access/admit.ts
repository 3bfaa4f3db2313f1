// The last gate before a provider is called: the worst case of a request, held on the key and on the frame. Returns
// only with a committed hold; everything else is a refusal in words.
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
  /** What the hold assumes that the model reads, and why. */
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
  /** Whether the request can be sent to a target of its model: some cannot be told what it says. */
  mayReach(target: Target): boolean
  /** A target's exact input, where it is known. */
  inputTokensOf(target: Target): number | undefined
  /** How often it may search the web at a target. */
  searchesMaxOf(target: Target): number
  /** Told how the limits stand when the request is refused. */
  tell(balances: Balances): void
  /** What the targets' providers count, as far as they tell: a round trip, and only worth it where little is left. */
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
 * Asks once with the input bounded by its bytes, and once more with its texts counted when that does not fit, and
 * without searches where a smaller answer would do.
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
    // What nothing but the window bounds is bounded by it however few its words are.
    unbounded ? undefined : tokenizer.count(request.texts()),
    // A page was counted, and a book is read: whoever owns the address may change what is there in between.
    fetched ? undefined : request.countAtTargets(),
  ])
  const maySearch = request.caller.whenTight === 'refuse'
  const recounted = askOf(request, raisedBounds, { texts, countedAt, maySearch })
  const basis = recounted.inputTokens < first.inputTokens ? 'count' : 'bytes'
  return { ...recounted, basis, outcome: await ledger[how](recounted.ask), maySearch }
}

type Bounded = {
  readonly ask: Ask
  /** What it assumes that the model reads. */
  readonly inputTokens: number
}

type Said = Bounded & {
  readonly basis: Basis
  readonly outcome: Reserved | Refused
  readonly maySearch: boolean
}

type Recount = {
  readonly maySearch: boolean
  /** Undefined when nobody could count them: then their bytes still bound them. */
  readonly texts: Count | undefined
  /** Undefined when nobody's count would hold. */
  readonly countedAt: ((target: Target) => number | undefined) | undefined
}

/** What is asked of the ledger: with the input bounded by its bytes, or by its texts once they are counted. */
function askOf(request: AdmissionRequest, raisedBounds: RaisedBounds, recount?: Recount): Bounded {
  const { caller, model, call } = request
  const costs = worstCase({
    model,
    input: call.input,
    output: call.output,
    // A test key has the limits of a live one, and reaches none of the targets.
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

/** What somebody's count bounds the input by; undefined = nobody could count. */
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

/** Tokens per minute go by what is likely; of what bytes tell nothing about, only the bound is known. */
function likelyTokensOf({ input }: Call, bound: number, recount: Recount | undefined): number {
  return input.unbounded ? bound : Math.min(likelyInput(input, recount?.texts?.likely), bound)
}

/** Where every target tells its exact input there is nothing to count again. */
function isExact(request: AdmissionRequest): boolean {
  const { caller, model } = request
  const isKnown = (target: Target): boolean =>
    request.inputTokensOf(target) !== undefined || !request.mayReach(target)
  return caller.mode === 'live' && [...model.targets, ...model.fallbacks].every(isKnown)
}
