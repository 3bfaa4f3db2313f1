// How much a request can read and write at most, and what that can cost at most at a target. The ledger holds the
// dearest that fits before anything goes upstream (docs/using.md, Budgets). Bounds, never guesses: each states what it rests on.
import type { ModelKind } from '../core/endpoints.ts'
import { OUTPUT_MINIMUM, OUTPUT_MINIMUM_REASONING } from '../core/limits.ts'
import type { Picodollars } from '../core/money.ts'
import type { InputMeasure, OutputLimits } from '../core/request.ts'
import type { Model, Target } from './models.ts'
import type { Price, Rates } from './prices.ts'

/** Byte-level tokenizers make at most one token per byte. */
const TOKENS_PER_TEXT_BYTE = 1
/** Providers rewrite JSON before they tokenize it; escapes and indentation were seen to triple it. */
const TOKENS_PER_JSON_BYTE = 3
/** Role, separators and the like around each message or item. */
const TOKENS_PER_ITEM = 16
/** Anthropic documents 245 for a shell, 700 for an editor, 735 for a screen. */
const TOKENS_PER_VENDOR_TOOL = 1_024
/** What providers put before a prompt themselves, tool instructions included. */
const TOKENS_PER_REQUEST = 1_024

type WorstCaseInput = {
  readonly model: Model
  readonly input: InputMeasure
  readonly output: OutputLimits
  /** A better input figure, if there is one: exact, or recounted. It can only lower the bound. */
  readonly inputTokens?: number | undefined
  /** The most the target can write, where that may be less than the model whose place it takes. */
  readonly outputTokensMax?: number | undefined
  /** How often the request may search the web there. */
  readonly searchesMax?: number
  /** The factor by which the target was found to exceed its bound. */
  readonly raise?: number
}

/** The most that a request can cost at one target, in a form that lets the decision lower the output limit. */
export type WorstCase = {
  /** Input bound, fees, and whatever else does not depend on the output limit. */
  readonly fixedPicodollars: Picodollars
  /** Price of one token of the output limit, times the number of choices. */
  readonly outputTokenPicodollars: Picodollars
  readonly outputTokens: number
  /** A limit the client did not set is lowered to max(4,096 tokens, what 1/8 of the remaining budget pays for). */
  readonly outputTokensFrom: 'client' | 'default'
  /** Capping stops here, as a shorter answer is worthless: 256, 4,096 for reasoning, above any reasoning budget. */
  readonly outputTokensMinimum: number
}

/** A request that costs nothing fits even when nothing remains. */
export const NO_COST: WorstCase = {
  fixedPicodollars: 0n,
  outputTokenPicodollars: 0n,
  outputTokens: 0,
  outputTokensFrom: 'client',
  outputTokensMinimum: 0,
}

export function worstCase(
  target: Target,
  given: WorstCaseInput,
): WorstCase & { readonly inputTokens: number } {
  const { model, input, output, searchesMax: searches = 0 } = given
  const inputTokens = inputTokensAt(target, given)
  // Before each search and after the last, the model reads everything again, with all results so far.
  const read = searches === 0 ? inputTokens : target.context * (searches + 1)
  const rates = dearestRates(target.price, read)
  const isUnasked = target.writesCacheUnasked && input.cacheWrites === 'none'
  const rate = inputRate(rates, isUnasked ? 'short' : input.cacheWrites)
  const preset = model.kind === 'embedding' ? 0 : (model.defaultOutput ?? model.maxOutput ?? 0)
  return {
    inputTokens,
    fixedPicodollars:
      BigInt(read) * (rate + heardRate(input, target)) +
      target.price.fees.request +
      BigInt(searches) * (target.price.fees.webSearch ?? 0n),
    outputTokenPicodollars: rates.output * BigInt(output.choices),
    outputTokens: Math.min(output.tokensMax ?? preset, given.outputTokensMax ?? Infinity),
    outputTokensFrom: output.tokensMax === undefined ? 'default' : 'client',
    outputTokensMinimum: outputMinimum(output, model),
  }
}

function inputTokensAt(target: Target, given: WorstCaseInput): number {
  const { kind } = given.model
  const bound = inputBound(given.input, kind, target)
  const least = Math.min(bound, given.inputTokens ?? bound)
  const raised = Math.ceil(least * (given.raise ?? 1))
  return Math.min(raised, inputMost(given.input, kind, target))
}

type ContextWindow = Pick<Target, 'context' | 'imageTokens'>

/** The most tokens a provider can count for what the request contains. */
export function inputBound(input: InputMeasure, kind: ModelKind, window: ContextWindow): number {
  const most = inputMost(input, kind, window)
  if (input.unbounded) return most
  const bound =
    input.textBytes * TOKENS_PER_TEXT_BYTE +
    input.jsonBytes * TOKENS_PER_JSON_BYTE +
    input.items * TOKENS_PER_ITEM +
    input.images * window.imageTokens +
    (input.vendorTools ?? 0) * TOKENS_PER_VENDOR_TOOL +
    input.tokens +
    TOKENS_PER_REQUEST
  return Math.min(bound, most)
}

/** An embedding request carries many inputs, and each may fill the window. */
function inputMost(input: InputMeasure, kind: ModelKind, { context }: ContextWindow): number {
  return context * (kind === 'embedding' ? Math.max(1, input.items) : 1)
}

/** Other tokenizers count differently; half as much again was above all that were compared. */
const RECOUNT_FACTOR = 1.5

/** A tighter bound, once a tokenizer has counted the texts. Opaque reasoning is still bounded by its bytes. */
export function recountedBound(
  input: InputMeasure,
  textTokens: number,
  { kind, window }: { readonly kind: ModelKind; readonly window: ContextWindow },
): number {
  const textBytes = Math.ceil(textTokens * RECOUNT_FACTOR) + (input.opaqueBytes ?? 0)
  return inputBound({ ...input, textBytes, jsonBytes: 0 }, kind, window)
}

/** Providers call their own counts an estimate, which may be slightly off. */
const COUNT_FACTOR = 1.05

/** A bound based on the provider's own count. */
export function countedBound(tokens: number): number {
  return Math.ceil(tokens * COUNT_FACTOR) + TOKENS_PER_ITEM
}

/** Prose has more bytes per token than this in every common language, so the estimate errs on the high side. */
const BYTES_PER_TOKEN = 3

/** The likely number of tokens in this many bytes of text that were not counted. */
export function likelyTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/** Base64, the densest that was measured, has 1.47. */
const BYTES_PER_TOKEN_LEAST = 1.4

/** For texts that were not counted and must not be charged too little. */
export function textTokensAtMost({ textBytes, jsonBytes, opaqueBytes = 0 }: InputMeasure): number {
  return Math.ceil((textBytes + jsonBytes - opaqueBytes) / BYTES_PER_TOKEN_LEAST)
}

const TOKENS_PER_ITEM_LIKELY = 4
const TOKENS_PER_IMAGE_LIKELY = 1_600

/**
 * The likely input tokens of a request: for display and for rate limits, never for holds. `textTokens`: a tokenizer's
 * count of its texts, if there is one.
 */
export function likelyInput(input: InputMeasure, textTokens?: number): number {
  const { textBytes, jsonBytes, opaqueBytes = 0 } = input
  return (
    (textTokens === undefined
      ? likelyTokens(textBytes + jsonBytes)
      : textTokens + likelyTokens(opaqueBytes)) +
    input.items * TOKENS_PER_ITEM_LIKELY +
    input.images * TOKENS_PER_IMAGE_LIKELY +
    input.tokens
  )
}

/** Because the request asks for it, or because many models reason unless told not to. */
export function mayReason({ abilities }: Model, { reasons }: OutputLimits): boolean {
  return reasons || abilities.reasoning === true
}

/** Reasoning counts against the same limit; a model whose longest answer has no room for it is not expected to reason. */
function outputMinimum(output: OutputLimits, model: Model): number {
  const { reasons, reasoningBudget } = output
  // A request that asks for reasoning gets the room regardless.
  const hasRoom = reasons || (model.maxOutput ?? Infinity) > OUTPUT_MINIMUM_REASONING
  const least = mayReason(model, output) && hasRoom ? OUTPUT_MINIMUM_REASONING : OUTPUT_MINIMUM
  if (reasoningBudget === undefined) return least
  return Math.max(least, Math.min(reasoningBudget + 1, Number.MAX_SAFE_INTEGER))
}

/** The true count may be below the bound and below a tier, so every reachable rate is considered. */
function dearestRates(price: Price, inputTokens: number): Rates {
  if (price.tiers.length === 0) return price.rates
  const reachable = price.tiers
    .filter((tier) => inputTokens > tier.aboveInputTokens)
    .map((tier) => tier.rates)
  const dearest = (rate: keyof Rates): Picodollars =>
    reachable.reduce((most, rates) => max(most, rates[rate]), price.rates[rate])
  return {
    input: dearest('input'),
    cached: dearest('cached'),
    cacheWriteShort: dearest('cacheWriteShort'),
    cacheWriteLong: dearest('cacheWriteLong'),
    output: dearest('output'),
  }
}

/** The extra rate for input that may be audio. */
function heardRate({ audio }: InputMeasure, { price }: Target): Picodollars {
  return audio === true ? (price.fees.audioToken ?? 0n) : 0n
}

/** Cache writes cost more than plain input, but only if they happen. */
function inputRate(rates: Rates, cacheWrites: InputMeasure['cacheWrites']): Picodollars {
  const plain = max(rates.input, rates.cached)
  switch (cacheWrites) {
    case 'none':
      return plain
    case 'short':
      return max(plain, rates.cacheWriteShort)
    case 'long':
      return max(max(plain, rates.cacheWriteShort), rates.cacheWriteLong)
  }
}

function max(one: Picodollars, other: Picodollars): Picodollars {
  return one > other ? one : other
}

type Named = Pick<Target, 'name'>

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
  factorOf(target: Named, basis: Basis): number {
    return this.#factors.size === 0 ? 1 : (this.#factors.get(entryOf(target, basis)) ?? 1)
  }

  /**
   * The hold for the input should have been `times` as large. `from` is the factor it was made with: requests that run
   * at the same time report the same shortfall, which must count only once.
   */
  raise(target: Named, { basis, from, times }: Raise): void {
    const factor = Math.max(this.factorOf(target, basis), from * times)
    this.#factors.set(entryOf(target, basis), factor)
  }
}

type Raise = { readonly basis: Basis; readonly from: number; readonly times: number }

function entryOf({ name }: Named, basis: Basis): string {
  return `${basis} ${name}`
}
