// The last gate before a provider is called: the worst case of a request, held on the key and on the frame. Returns
// only with a committed hold; otherwise throws a refusal that explains itself.
import { targetName } from '../catalog/models.ts'
import type { Model, Target } from '../catalog/models.ts'
import { countedBound, likelyInput, recountedBound, worstCase } from '../catalog/worst-case.ts'
import type { WorstCase } from '../catalog/worst-case.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { GatewayError } from '../core/errors.ts'
import type { Nanodollars } from '../core/money.ts'
import type { Call } from '../core/request.ts'
import type { Ask, Balances, Ledger, Refused, Reserved } from '../ledger/ledger.ts'
import { costAtMost, costAtMostWith } from '../ledger/rules/judge.ts'
import type { Caller } from './authenticate.ts'
import { refusalOf } from './refusal.ts'
import type { Count } from './tokenizer-thread.ts'
import type { Tokenizer } from './tokenizer.ts'

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
  /** The highest output limit that any target may be told; undefined where there is no output to pay for. */
  readonly outputTokensMax: number | undefined
}

export type AdmissionRequest = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly model: Model
  readonly call: Call
  /** The request's texts, for counting them when their bytes alone bound the input too loosely. */
  texts(): Promise<readonly string[]>
  /** The targets it may go to, in the order in which they would be tried; for a test key, those that a live key has. */
  candidates(): readonly Candidate[]
  /** Reports how the limits stand when the request is refused. */
  tell(balances: Balances): void
  /** The counts of those providers that give one: a round trip, worth it only where little is left. */
  countAtTargets(): Promise<(target: Target) => number | undefined>
  /** Aborted when the client has gone. */
  readonly closed: AbortSignal
}

/** A target that the request can be sent to, and what it would mean there. */
export type Candidate = {
  readonly target: Target
  /** The exact input, where it is known. */
  readonly inputTokens: number | undefined
  /** How many web searches it may make. */
  readonly searchesMax: number
  /** Set for a fallback, which may write less than the model whose place it takes. */
  readonly outputTokensMax?: number | undefined
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
    const refusal = refusalOf(caller, outcome, namesOf(request))
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
    outputTokensMax: mostOutput(outcome) || undefined,
  }
}

function mostOutput({ outputTokens, grants = [] }: Reserved): number {
  return grants.reduce<number>(
    (most, grant) => (typeof grant === 'string' ? most : Math.max(most, grant.outputTokens)),
    outputTokens,
  )
}

/** A refusal says which of several targets it is about. */
function namesOf(request: AdmissionRequest): readonly string[] {
  const candidates = request.caller.mode === 'live' ? request.candidates() : []
  return candidates.map(({ target }) => targetName(target.provider, target.model))
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
    outcome: outcome.reserved ? outcome : refusalOf(request.caller, outcome, namesOf(request)),
    maySearch,
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

/**
 * Asks the ledger with the input bounded by its bytes. If that does not fit, asks once more with its texts counted, and
 * without searches if the key accepts a smaller answer and the first target needs one.
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
    unbounded ? undefined : request.texts().then((texts) => tokenizer.count(texts)),
    // The owner of an address may serve a page to the count and a book to the model.
    fetched ? undefined : request.countAtTargets(),
  ])
  const maySearch = request.caller.whenTight === 'refuse' || outcome.isFirstFit
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
  const { input, output } = call
  const worsts = request.candidates().map((candidate) => {
    const { target, outputTokensMax } = candidate
    const searchesMax = recount?.maySearch === false ? 0 : candidate.searchesMax
    const inputTokens = inputTokensAt(candidate, { request, recount, raisedBounds })
    const raise = raisedBounds.factorOf(target, 'bytes')
    const question = { model, input, output, inputTokens, outputTokensMax, searchesMax, raise }
    return worstCase(target, question)
  })
  const inputTokens = worsts.reduce((most, worst) => Math.max(most, worst.inputTokens), 0)
  const isKnown = isExact(request)
  const ask: Ask = {
    requestId: request.requestId,
    keyId: caller.keyId,
    allowVersion: caller.allowVersion,
    endpoint: request.endpoint,
    modelAsked: call.model,
    // A test key is answered by the sandbox at no cost, with the limits a live key would have.
    candidates: caller.mode === 'test' ? worsts.slice(0, 1).map(atNoCost) : worsts,
    whenTight: caller.whenTight,
    estimatedTokens: isKnown ? inputTokens : likelyTokensOf(call, inputTokens, recount),
    recounted: recount !== undefined || isKnown,
    signal: request.closed,
  }
  return { ask, inputTokens }
}

function atNoCost(worst: WorstCase): WorstCase {
  return { ...worst, fixedPicodollars: 0n, outputTokenPicodollars: 0n }
}

type Bounding = {
  readonly request: AdmissionRequest
  readonly recount: Recount | undefined
  readonly raisedBounds: RaisedBounds
}

/** A better figure than the bytes: exact, or counted. */
function inputTokensAt(
  { inputTokens: exact, target }: Candidate,
  { request, recount, raisedBounds }: Bounding,
): number | undefined {
  if (exact !== undefined || recount === undefined) return exact
  const counted = countedTokens(request, recount, target)
  return counted && Math.ceil(counted * raisedBounds.factorOf(target, 'count'))
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
  const isKnown = ({ inputTokens }: Candidate): boolean => inputTokens !== undefined
  return request.caller.mode === 'live' && request.candidates().every(isKnown)
}

type Name = { readonly provider: string; readonly model: string }

/** What an input bound rests on: the bytes of a request, or a count of its tokens. */
type Basis = 'bytes' | 'count'

/**
 * Targets whose provider counted more input than was held for: the bound was too low. It is raised for the life of
 * this process, so that not every request repeats the mistake. Kept per target and by what the bound rested on: a
 * client can cause a recount that is too low, and that says nothing about bounds from bytes.
 */
export class RaisedBounds {
  readonly #factors = new Map<string, number>()

  /** What bounds of this kind are multiplied by for this target. */
  factorOf(target: Name, basis: Basis): number {
    return this.#factors.size === 0 ? 1 : (this.#factors.get(entryOf(target, basis)) ?? 1)
  }

  /**
   * The hold for the input should have been `times` as large. `from` is the factor it was made with: requests that run
   * at the same time report the same shortfall, which must count only once.
   */
  raise(target: Name, { basis, from, times }: Raise): void {
    const factor = Math.max(this.factorOf(target, basis), from * times)
    this.#factors.set(entryOf(target, basis), factor)
  }
}

type Raise = { readonly basis: Basis; readonly from: number; readonly times: number }

function entryOf({ provider, model }: Name, basis: Basis): string {
  return `${basis} ${targetName(provider, model)}`
}
