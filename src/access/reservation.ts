// What the ledger is asked to hold before a provider is called: the worst case of a request at each of its targets, with
// its input bounded by bytes, or by a count of its tokens where that does not fit. Everything it needs is a value.
import type { Model, Target } from '../catalog/models.ts'
import { countedBound, likelyInput, recountedBound, worstCase } from '../catalog/worst-case.ts'
import type { WorstCase } from '../catalog/worst-case.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { Call } from '../core/request.ts'
import type { Ask } from '../ledger/ledger.ts'
import type { Caller } from './authenticate.ts'
import type { Count } from './tokenizer-thread.ts'

export type AdmissionInput = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly model: Model
  readonly call: Call
  /** The targets it may go to, in the order in which they would be tried; for a test key, those that a live key has. */
  readonly candidates: readonly Candidate[]
  /** Aborted when the client has gone. */
  readonly closed: AbortSignal
  /** Set once its tokens were counted. */
  readonly recount?: Recount
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

type Recount = {
  /** Undefined if they could not be counted: then their bytes still bound them. */
  readonly texts: Count | undefined
  /** By the providers' own count, in the order of the candidates; undefined where one gave none that is reliable. */
  readonly told: readonly (number | undefined)[]
  /** Whether the hold is to pay for searches. */
  readonly maySearch: boolean
}

/** The request to the ledger, and the input that it assumes. */
export function askOf(
  input: AdmissionInput,
  raisedBounds: RaisedBounds,
): { readonly ask: Ask; readonly inputTokens: number } {
  const { caller, model, call, candidates, recount } = input
  const maySearch = recount?.maySearch !== false
  const worsts = candidates.map((candidate, index) => {
    const { target, outputTokensMax } = candidate
    const counted = countedTokens(input, target, index)
    return worstCase(target, {
      model,
      input: call.input,
      output: call.output,
      inputTokens:
        candidate.inputTokens ??
        (counted && Math.ceil(counted * raisedBounds.factorOf(target, 'count'))),
      outputTokensMax,
      searchesMax: maySearch ? candidate.searchesMax : 0,
      raise: raisedBounds.factorOf(target, 'bytes'),
    })
  })
  const inputTokens = worsts.reduce((most, worst) => Math.max(most, worst.inputTokens), 0)
  // If the exact input is known for every target within reach, there is nothing to recount.
  const isExact = caller.mode === 'live' && candidates.every(isCounted)
  const ask: Ask = {
    requestId: input.requestId,
    keyId: caller.keyId,
    allowVersion: caller.allowVersion,
    endpoint: input.endpoint,
    modelAsked: call.model,
    // A test key is answered by the sandbox at no cost, with the limits a live key would have.
    candidates: caller.mode === 'test' ? worsts.slice(0, 1).map(atNoCost) : worsts,
    whenTight: caller.whenTight,
    estimatedTokens: isExact ? inputTokens : likelyTokensOf(input, inputTokens),
    recounted: recount !== undefined || isExact,
    signal: input.closed,
  }
  return { ask, inputTokens }
}

/** The input bound by a provider's count, else by the tokenizer's; undefined = there is no count. */
function countedTokens(
  { model, call, recount }: AdmissionInput,
  target: Target,
  index: number,
): number | undefined {
  const told = recount?.told[index]
  if (told !== undefined) return countedBound(told)
  if (recount?.texts === undefined) return undefined
  return recountedBound(call.input, recount.texts.most, { kind: model.kind, window: target })
}

function isCounted({ inputTokens }: Candidate): boolean {
  return inputTokens !== undefined
}

function atNoCost(worst: WorstCase): WorstCase {
  return { ...worst, fixedPicodollars: 0n, outputTokenPicodollars: 0n }
}

/** Tokens per minute go by the likely count; where bytes do not tell, only the bound is known. */
function likelyTokensOf({ call: { input }, recount }: AdmissionInput, bound: number): number {
  return input.unbounded ? bound : Math.min(likelyInput(input, recount?.texts?.likely), bound)
}

type Name = Pick<Target, 'name'>

/** What an input bound rests on: the bytes of a request, or a count of its tokens. */
export type Basis = 'bytes' | 'count'

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

function entryOf({ name }: Name, basis: Basis): string {
  return `${basis} ${name}`
}
