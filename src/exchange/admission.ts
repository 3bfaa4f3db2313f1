// The two gates before a provider is called. The last one: the worst case of a request is held on all its legs, so that it
// runs only with a committed hold, or is refused with its reason; a dry run asks the same, with nothing held. Before that
// one, `Overload`: while more requests come than can be served, it turns some away before anything is done for them, so
// that those it takes are answered in time.
import { refusalOf } from '../access/refusal.ts'
import type { Count } from '../access/tokenizer-thread.ts'
import type { Tokenizer } from '../access/tokenizer.ts'
import type { Model, Target } from '../catalog/models.ts'
import {
  countedBound,
  likelyInput,
  recountedBound,
  worstCase,
  type Basis,
  type RaisedBounds,
  type WorstCase,
} from '../catalog/worst-case.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { formatUsd, type Nanodollars } from '../core/money.ts'
import type { Ask, Ledger, Refused, Reserved } from '../ledger/ledger.ts'
import { costAtMost, costAtMostWith } from '../ledger/rules/judge.ts'
import type { Log } from '../telemetry/log.ts'
import { affordable, countAt, type OutboundRequest } from './prepare.ts'
import { setBalanceHeaders, type Reply } from './reply.ts'
import type { ClientRequest } from './request.ts'

export type AdmissionParts = {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly tokenizer: Tokenizer
  readonly raisedBounds: RaisedBounds
  readonly overload: Pick<Overload, 'begin' | 'end'>
}

/** A request, what its routes would be sent, and where it is answered. */
export type AdmissionInput = {
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

export async function admit(parts: AdmissionParts, asked: AdmissionInput): Promise<Admission> {
  const { reply, request, model } = asked
  const span = request.inbound.trace.spans?.begin('hold')
  const { outcome, maySearch, inputTokens, basis } = await reserve(parts, asked)
  span?.end(outcome.reserved ? undefined : outcome.reason)
  if (!outcome.reserved) {
    const { codec } = request.inbound
    if ('balances' in outcome) {
      const client = { family: codec.family, clock: parts.clock, model: model.id }
      setBalanceHeaders(reply, outcome.balances, client)
    }
    reply.closed.throwIfAborted()
    throw refuse(asked, outcome)
  }
  const outputTokensMax = mostOutput(outcome) || undefined
  return { hold: outcome, maySearch, inputTokens, basis, outputTokensMax }
}

async function reserve(parts: AdmissionParts, asked: AdmissionInput): Promise<Answered> {
  const sinceMs = parts.overload.begin()
  try {
    return await askLedger(parts, asked, 'reserve')
  } finally {
    parts.overload.end(sinceMs)
  }
}

function mostOutput({ outputTokens, grants = [] }: Reserved): number {
  return grants.reduce<number>(
    (most, grant) => (typeof grant === 'string' ? most : Math.max(most, grant.outputTokens)),
    outputTokens,
  )
}

/** A refusal says which of several targets it is about. */
function refuse({ request, prepared }: AdmissionInput, outcome: Refused): GatewayError {
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
  asked: AdmissionInput,
  how: 'reserve' | 'dryRun',
): Promise<Answered> {
  const first = askOf(asked, raisedBounds)
  const outcome = await ledger[how](first.ask)
  if (outcome.reserved || outcome.reason !== 'recount') {
    return { ...first, outcome, basis: 'bytes', maySearch: true }
  }
  const { inbound, call } = asked.request
  const { unbounded, fetched } = call.input
  const [texts, told] = await Promise.all([
    // Input that only the context window bounds stays so bounded, however few texts it has.
    unbounded ? undefined : textsOf(asked).then((found) => tokenizer.count(found)),
    // The owner of an address may serve a page to the count and a book to the model.
    fetched ? [] : countAtRoutes(asked),
  ])
  const maySearch = inbound.caller.whenTight === 'refuse' || outcome.isFirstFit
  const recounted = askOf(asked, raisedBounds, { texts, told, maySearch })
  const basis = recounted.inputTokens < first.inputTokens ? 'count' : 'bytes'
  return { ...recounted, outcome: await ledger[how](recounted.ask), basis, maySearch }
}

type Recount = {
  /** Undefined if they could not be counted: then their bytes still bound them. */
  readonly texts: Count | undefined
  /** By the providers' own count, in the order of the routes; undefined where one gave none that is reliable. */
  readonly told: readonly (number | undefined)[]
  /** Whether the hold is to pay for searches. */
  readonly maySearch: boolean
}

/**
 * What the ledger is asked to hold: the worst case at each target, with the input bounded by bytes, or by a count of its
 * tokens; and the input that this assumes.
 */
function askOf(
  asked: AdmissionInput,
  raisedBounds: RaisedBounds,
  recount?: Recount,
): { readonly ask: Ask; readonly inputTokens: number } {
  const { request, model, reply } = asked
  const { call, inbound } = request
  const { caller } = inbound
  const candidates = candidatesOf(asked)
  const worsts = candidates.map(({ target, outbound }, index) => {
    const counted = recount && countedTokens(asked, target, { ...recount, index })
    return worstCase(target, {
      model,
      input: call.input,
      output: call.output,
      inputTokens:
        outbound?.inputTokens ??
        (counted && Math.ceil(counted * raisedBounds.factorOf(target, 'count'))),
      outputTokensMax: outbound?.outputTokensMax,
      searchesMax: recount?.maySearch === false ? 0 : (outbound?.searchesMax ?? 0),
      raise: raisedBounds.factorOf(target, 'bytes'),
    })
  })
  const inputTokens = worsts.reduce((most, worst) => Math.max(most, worst.inputTokens), 0)
  // If the exact input is known for every target within reach, there is nothing to recount.
  const isExact =
    caller.mode === 'live' &&
    candidates.every(({ outbound }) => outbound?.inputTokens !== undefined)
  const isBound = isExact || call.input.unbounded
  const ask: Ask = {
    requestId: inbound.requestId,
    keyId: caller.keyId,
    groupId: caller.groupId,
    groupVersion: caller.groupVersion,
    allowVersion: caller.allowVersion,
    endpoint: inbound.endpoint,
    modelAsked: model.id,
    // A test key is answered by the sandbox at no cost, with the limits a live key would have.
    candidates: caller.mode === 'test' ? worsts.slice(0, 1).map(atNoCost) : worsts,
    whenTight: caller.whenTight,
    // Tokens per minute go by the likely count; where bytes do not tell, only the bound is known.
    estimatedTokens: isBound
      ? inputTokens
      : Math.min(likelyInput(call.input, recount?.texts?.likely), inputTokens),
    recounted: recount !== undefined || isExact,
    signal: reply.closed,
  }
  return { ask, inputTokens }
}

/** A target, and what it would be sent. */
type Candidate = { readonly target: Target; readonly outbound: OutboundRequest | undefined }

/** In the order in which they would be tried. A test key has the limits of a live one, but reaches none of the targets. */
function candidatesOf({ request, model, prepared }: AdmissionInput): readonly Candidate[] {
  if (request.inbound.caller.mode === 'live') {
    return prepared.map((outbound) => ({ target: outbound.route.target, outbound }))
  }
  return [...model.targets, ...model.fallbacks].map((target) => ({
    target,
    outbound: prepared.find(({ route }) => route.target.name === target.name),
  }))
}

/** The input bound by a provider's count, else by the tokenizer's; undefined = there is no count. */
function countedTokens(
  { request, model }: AdmissionInput,
  target: Target,
  { told, texts, index }: Recount & { readonly index: number },
): number | undefined {
  const count = told[index]
  if (count !== undefined) return countedBound(count)
  if (texts === undefined) return undefined
  return recountedBound(request.call.input, texts.most, { kind: model.kind, window: target })
}

function atNoCost(worst: WorstCase): WorstCase {
  return { ...worst, fixedPicodollars: 0n, outputTokenPicodollars: 0n }
}

async function textsOf({ request }: AdmissionInput): Promise<readonly string[]> {
  await request.nextStep()
  return request.texts() ?? []
}

/** The counts of those providers that give one: a round trip, worth it only where little is left. */
function countAtRoutes({
  request,
  prepared,
  reply,
}: AdmissionInput): Promise<(number | undefined)[]> {
  return Promise.all(
    prepared.map(async (each) => {
      await request.nextStep()
      return countAt(each, request.inbound.providerHeaders, reply.closed)
    }),
  )
}

/** `x-tollgate-dry-run: 1`: what would happen to this request, by the code that decides it, without doing it. */
export async function dryRun(parts: AdmissionParts, asked: AdmissionInput): Promise<JsonObject> {
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
function worstCaseOf(
  { candidates, modelAsked: model }: Ask,
  outcome: Reserved | Refused,
): Nanodollars {
  if ('shortage' in outcome) return outcome.shortage.requiredNanodollars
  const grants = outcome.reserved ? outcome.grants : undefined
  const costs = candidates
    .filter((_, index) => typeof grants?.[index] !== 'string')
    .map((worst) =>
      'balances' in outcome
        ? costAtMostWith({ balances: outcome.balances, model }, worst)
        : costAtMost(worst, worst.outputTokens),
    )
  return costs.reduce((one, other) => (one > other ? one : other))
}

// In the manner of CoDel: a queue is too long when even the fastest request of a while waited too long in it, and then as
// many may wait as were let through within the time that they may wait. A request that was taken is never turned away.
type OverloadOptions = {
  readonly clock: Clock
  readonly log: Log
  /** How many requests may wait for their holds at most. */
  readonly waitingMax: number
  /** How long they may wait for them, if more come than can be served. */
  readonly waitingMs: number
}

const LOOK_EVERY_MS = 100
/** A burst, a large body or a commit that takes long is no overload. */
const LATE_LOOKS = 2
/** So many may always wait: a gateway that is slow because of something else still serves. */
const WAITING_LEAST = 32
/** How long nobody must have been turned away until it is over, for the log. */
const OVER_AFTER_MS = 5_000

/** The answer to a request that is turned away. It has no line in the log: there may be thousands of them. */
export class TurnedAway extends GatewayError {
  constructor(message: string, retryAfterSeconds: number) {
    super('overloaded', message, { retryAfterSeconds })
  }
}

export class Overload implements Disposable {
  readonly #options: OverloadOptions
  readonly #timer: NodeJS.Timeout
  /** How many may wait at present. */
  #waitingMax: number
  #waiting = 0
  /** Of those that came through since the last look: their number, and how long the fastest waited. */
  #passed = 0
  #fastestMs = Infinity
  #shed = 0
  /** Whether any of those were turned away because too many waited. */
  #isFull = false
  #lookedMs: number
  #lateLooks = 0
  #passedPerMs = 0
  /** From the first request that is turned away until a while after the last. */
  #episode: { readonly sinceMs: number; lastMs: number; shed: number } | undefined

  constructor(options: OverloadOptions) {
    this.#options = options
    this.#waitingMax = options.waitingMax
    this.#lookedMs = options.clock.monotonicMs()
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  /** Requests that wait for their holds. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether requests are being turned away. */
  get isShedding(): boolean {
    return this.#episode !== undefined
  }

  /** A request waits for its hold from now on; returns what its end must be told. Throws if too many wait. */
  begin(): number {
    // At their heads there may have been room for all that came at once.
    if (this.#waiting >= this.#options.waitingMax) throw this.shed('requests')
    this.#waiting += 1
    return this.#options.clock.monotonicMs()
  }

  /** The ledger has decided. */
  end(sinceMs: number): void {
    const waitedMs = this.#options.clock.monotonicMs() - sinceMs
    if (waitedMs < this.#fastestMs) this.#fastestMs = waitedMs
    this.#waiting -= 1
    this.#passed += 1
  }

  /** Why the next request is turned away; asked before anything is done for it. */
  refusal(): TurnedAway | undefined {
    return this.#waiting < this.#waitingMax ? undefined : this.shed('requests')
  }

  /** Turns a request away, because there are too many of something. */
  shed(tooMany: keyof typeof REFUSALS): TurnedAway {
    const { clock, log } = this.#options
    this.#shed += 1
    if (tooMany === 'requests') this.#isFull = true
    if (this.#episode === undefined) {
      const now = clock.monotonicMs()
      this.#episode = { sinceMs: now, lastMs: now, shed: 0 }
      const waiting = { waiting: this.#waiting, waiting_max: this.#waitingMax }
      log.warn('overloaded', { too_many: tooMany, ...waiting })
    }
    const refusals = REFUSALS[tooMany]
    return refusals[Math.floor(Math.random() * refusals.length)] ?? refusals[0]
  }

  /** Called by the timer. */
  look(): void {
    const { clock, waitingMax, waitingMs } = this.#options
    const now = clock.monotonicMs()
    if (this.#passed > 0) {
      const passedPerMs = this.#passed / Math.max(now - this.#lookedMs, 1)
      this.#passedPerMs = (this.#passedPerMs + passedPerMs) / 2
      this.#lateLooks = this.#fastestMs > waitingMs ? this.#lateLooks + 1 : 0
    }
    // Those that are let in wait no longer than they may; that does not mean that there are not too many.
    const isLimited = this.#waitingMax < waitingMax && this.#isFull
    const inTime = Math.max(Math.ceil(this.#passedPerMs * waitingMs), WAITING_LEAST)
    const isOver = this.#lateLooks >= LATE_LOOKS || isLimited
    this.#waitingMax = isOver ? Math.min(inTime, waitingMax) : waitingMax
    this.#noteEpisode(now)
    this.#lookedMs = now
    this.#passed = 0
    this.#fastestMs = Infinity
    this.#shed = 0
    this.#isFull = false
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #noteEpisode(now: number): void {
    const episode = this.#episode
    if (episode === undefined) return
    episode.shed += this.#shed
    if (this.#shed > 0) episode.lastMs = now
    if (now - episode.lastMs < OVER_AFTER_MS) return
    const seconds = Math.round((episode.lastMs - episode.sinceMs) / 1_000)
    this.#options.log.info('overload_over', { requests: episode.shed, seconds })
    this.#episode = undefined
  }
}

const MORE_THAN_SERVED = 'this gateway has more requests than it can serve: try again shortly'

/** Made once, because a stack costs as much as the rest of a refusal. Those who come back do not all come at once. */
const REFUSALS = {
  requests: refusalsWith(MORE_THAN_SERVED),
  connections: refusalsWith(MORE_THAN_SERVED),
  bodies: refusalsWith('too many large requests at once: try again shortly'),
}

function refusalsWith(message: string): readonly [TurnedAway, TurnedAway, TurnedAway] {
  return [new TurnedAway(message, 1), new TurnedAway(message, 2), new TurnedAway(message, 3)]
}
