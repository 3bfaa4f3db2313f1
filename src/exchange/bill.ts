// What a request is charged: the provider's own count where it is possible, else what was received, and never nothing
// once a model has begun to work. Pure; `books.ts` enters it.
import { costOf, NO_SURCHARGE, surchargeOf } from '../catalog/prices.ts'
import type { Cost, CostLine, Price } from '../catalog/prices.ts'
import { likelyInput, likelyTokens } from '../catalog/tokens.ts'
import type { InputMeasure } from '../core/call.ts'
import { SEARCHES_MOST } from '../core/call.ts'
import type { Usage } from '../core/events.ts'
import { NO_USAGE, whereAny } from '../core/events.ts'
import type { Nanodollars } from '../core/money.ts'
import type { Meter } from './meter.ts'

export type Bill = {
  readonly usage: Usage
  /** Tokens times price; their sum is the cost unless the hold was smaller. */
  readonly lines: readonly CostLine[]
  readonly cost: Nanodollars
  /** What is billed beside the tokens. */
  readonly surcharge: Cost
  /** The provider's count was missing or impossible. */
  readonly estimated: boolean
  /** It was there, and nobody can have read or written so much, or so little. */
  readonly impossible: boolean
}

/** What a bill is made from. */
export type Billable = {
  readonly meter: Meter
  readonly price: Price
  /** The most any provider could count: the context window, for each input that has one of its own. */
  readonly inputTokensPossible: number
  readonly input: InputMeasure
  /** The most the hold assumed to be read. */
  readonly inputTokensMax: number
  /** The most that could be written: the limit that was sent, times the choices. */
  readonly outputTokensMax: number
  /** Whether its client cut it off, and so may have meant to. */
  readonly isCut: boolean
  /** How long a model was at work unseen, on thoughts or a whole answer, where its client cut it off; else 0. */
  readonly unseenMs: number
  readonly held: Nanodollars
  /** Whether all that was written to a cache counts as kept for long. */
  readonly keepsLong: boolean
}

/** Nothing was billed: no provider was asked, or it refused before it began. */
export const NOTHING: Bill = {
  usage: NO_USAGE,
  lines: [],
  cost: 0n,
  surcharge: NO_SURCHARGE,
  estimated: false,
  impossible: false,
}

export function billOf(billable: Billable): Bill {
  const { meter, price, held } = billable
  const told = meter.isComplete && meter.isCounted ? usageTold(billable) : undefined
  const isBelieved = told !== undefined && isPossible(told, billable)
  const usage = isBelieved ? told : estimate(billable)
  const { lines, nanodollars: cost } = costOf(usage, price)
  const surcharge = surchargeOf(usage, price)
  const impossible = told !== undefined && !isBelieved
  return isBelieved || cost + surcharge.nanodollars <= held
    ? { usage, lines, cost, surcharge, estimated: !isBelieved, impossible }
    : { usage, lines, cost: held, surcharge: NO_SURCHARGE, estimated: true, impossible }
}

/** What a request can still cost once the provider has told what it read; undefined until then. */
export function mostOf(billable: Billable): Nanodollars | undefined {
  const { price, outputTokensMax } = billable
  const read = inputTold(billable)
  if (read === undefined) return undefined
  const usage = { ...read, outputTokens: outputTokensMax }
  return costOf(usage, price).nanodollars + surchargeOf(usage, price).nanodollars
}

function usageTold({ meter: { usage }, keepsLong }: Billable): Usage | undefined {
  return usage && keepsLong ? { ...usage, cacheWriteLongTokens: usage.cacheWriteTokens } : usage
}

/** What no tokenizer and no provider can count, whatever it says. */
function isPossible(usage: Usage, billable: Billable): boolean {
  return (
    isInputPossible(usage, billable) &&
    isCount(usage.outputTokens) &&
    isCount(usage.reasoningTokens) &&
    usage.outputTokens <= billable.outputTokensMax &&
    usage.reasoningTokens <= usage.outputTokens
  )
}

function isInputPossible(usage: Usage, { inputTokensPossible }: Billable): boolean {
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens } = usage
  const { audioTokens = 0, webSearches = 0 } = usage
  return (
    [inputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens].every(isCount) &&
    [audioTokens, webSearches].every(isCount) &&
    inputTokens <= inputTokensPossible &&
    cachedTokens + cacheWriteTokens <= inputTokens &&
    cacheWriteLongTokens <= cacheWriteTokens &&
    audioTokens <= inputTokens &&
    webSearches <= SEARCHES_MOST
  )
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** What nobody sees is billed too, and a client that leaves before it comes would have had it done for nothing. */
const UNSEEN_TOKENS_PER_MS = 0.15

/** What came of a model's work, counted here. A part the provider did count is believed. */
function estimate(billable: Billable): Usage {
  const { meter, outputTokensMax, unseenMs } = billable
  const written = likelyTokens(meter.outputBytes) + Math.ceil(unseenMs * UNSEEN_TOKENS_PER_MS)
  const told = meter.usage?.outputTokens ?? 0
  return {
    ...withSearches(inputTold(billable) ?? inputUntold(billable), billable),
    outputTokens: Math.min(Math.max(written, isCount(told) ? told : 0), outputTokensMax),
  }
}

/** What OpenAI counts for a search by its smaller models. */
const TOKENS_PER_SEARCH_LIKELY = 8_000

/** Everything is read again after each search, with all that was found: a count that came before leaves that out. */
function withSearches(read: Usage, { meter, inputTokensPossible }: Billable): Usage {
  const { searches } = meter
  if (searches === 0 || read.webSearches !== undefined) return read
  const found = (TOKENS_PER_SEARCH_LIKELY * searches * (searches + 1)) / 2
  const inputTokens = Math.min(read.inputTokens * (searches + 1) + found, inputTokensPossible)
  return { ...read, inputTokens, webSearches: searches }
}

/** What the provider says that it read, by what is billed differently. Nothing at all is what nobody reads. */
function inputTold(billable: Billable): Usage | undefined {
  const told = usageTold(billable)
  if (told === undefined || told.inputTokens === 0 || !isInputPossible(told, billable)) return
  return { ...told, outputTokens: 0, reasoningTokens: 0 }
}

/**
 * What was most likely read. Where bytes tell nothing about that, as of a document, a client that leaves on purpose
 * would have it for nothing: then it is all that was held for.
 */
function inputUntold({ input, inputTokensMax, isCut }: Billable): Usage {
  if (isCut && input.unbounded) {
    const heard = input.audio === true ? inputTokensMax : 0
    return { ...NO_USAGE, inputTokens: inputTokensMax, ...whereAny('audioTokens', heard) }
  }
  const read = likelyInput(input)
  return { ...NO_USAGE, inputTokens: Math.min(read, inputTokensMax) }
}
