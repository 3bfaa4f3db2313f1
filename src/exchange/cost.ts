// What a request is charged: by the provider's own count if that count is possible, else by what was received, and
// never nothing once a model has begun to work. Pure; `billing.ts` records it.
import { costOf, NO_SURCHARGE, surchargeOf } from '../catalog/prices.ts'
import type { Cost, CostLine, Price } from '../catalog/prices.ts'
import { likelyInput, likelyTokens, textTokensAtMost } from '../catalog/worst-case.ts'
import type { Clock } from '../core/clock.ts'
import { NO_USAGE, type CanonicalEvent, type Usage } from '../core/events.ts'
import type { Nanodollars } from '../core/money.ts'
import { SEARCHES_MOST, type InputMeasure } from '../core/request.ts'

export type Bill = {
  readonly usage: Usage
  /** Tokens times price; their sum is the cost unless the hold was smaller. */
  readonly lines: readonly CostLine[]
  readonly cost: Nanodollars
  /** What is billed beside the tokens. */
  readonly surcharge: Cost
  /** The provider's count was missing or impossible. */
  readonly estimated: boolean
  /** The provider gave a count, but it is too high or too low to be true. */
  readonly impossible: boolean
}

/** What a bill is made from. */
export type Billable = {
  readonly meter: Meter
  readonly price: Price
  /** The most any provider could count: a context window for each separate input and each time it is read. */
  readonly inputTokensPossible: number
  readonly input: InputMeasure
  /** The exact input, where it is known. */
  readonly inputTokens: number | undefined
  /** A tokenizer's count of the input's texts, if there is one. */
  readonly textTokens: number | undefined
  /** The most input the hold assumed. */
  readonly inputTokensMax: number
  /** The most that could be written: the limit that was sent, times the choices. */
  readonly outputTokensMax: number
  /** Whether the client cut the answer off, perhaps on purpose. */
  readonly hasClientLeft: boolean
  /** How long the model worked unseen, on reasoning or a whole answer, before the client or a timeout cut it off. */
  readonly unseenMs: number
  readonly held: Nanodollars
  /** Whether every cache write counts as a long-lived one. */
  readonly keepsLong: boolean
}

/** Nothing was billed: no provider was called, or it refused before it began. */
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
  const isCredible = told !== undefined && isPossible(told, billable)
  // A model reads something of every request: a server that says it read nothing has not counted.
  const isBelieved = isCredible && told.inputTokens > 0
  const usage = isBelieved ? told : estimate(billable)
  const { lines, nanodollars: cost } = costOf(usage, price)
  const surcharge = surchargeOf(usage, price)
  const impossible = told !== undefined && !isCredible
  return isBelieved || cost + surcharge.nanodollars <= held
    ? { usage, lines, cost, surcharge, estimated: !isBelieved, impossible }
    : { usage, lines, cost: held, surcharge: NO_SURCHARGE, estimated: true, impossible }
}

/** Whether the bill depends on how many tokens the texts of the request have. */
export function needsCount(billable: Billable): boolean {
  if (billable.inputTokens !== undefined || chargesAllInput(billable)) return false
  return inputTold(billable) === undefined
}

/** The most a request can still cost once the provider has reported what it read; undefined until then. */
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

/** Whether any tokenizer or provider can arrive at these counts; no others are believed. */
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

/** Providers bill unseen output too; without this, a client that leaves before it arrives would get it for free. */
const UNSEEN_TOKENS_PER_MS = 0.15

/** The model's work as counted here. Parts that the provider did count are believed. */
function estimate(billable: Billable): Usage {
  const { meter, outputTokensMax, unseenMs } = billable
  // Numbers have fewer bytes per token than prose.
  const seen = Math.max(likelyTokens(meter.outputBytes), meter.outputPieces)
  const written = seen + Math.ceil(unseenMs * UNSEEN_TOKENS_PER_MS)
  const told = meter.usage?.outputTokens ?? 0
  return {
    ...withSearches(inputTold(billable) ?? inputUntold(billable), billable),
    outputTokens: Math.min(Math.max(written, isCount(told) ? told : 0), outputTokensMax),
  }
}

/** What OpenAI counts for a search by its smaller models. */
const TOKENS_PER_SEARCH_LIKELY = 8_000

/** After each search the model reads everything again, with all results so far: an earlier count leaves that out. */
function withSearches(read: Usage, { meter, inputTokensPossible }: Billable): Usage {
  const { searches } = meter
  if (searches === 0 || read.webSearches !== undefined) return read
  const found = (TOKENS_PER_SEARCH_LIKELY * searches * (searches + 1)) / 2
  const inputTokens = Math.min(read.inputTokens * (searches + 1) + found, inputTokensPossible)
  return { ...read, inputTokens, webSearches: searches }
}

/** The input the provider reports, split by what is billed differently. A count of 0 cannot be true and is ignored. */
function inputTold(billable: Billable): Usage | undefined {
  const told = usageTold(billable)
  if (told === undefined || told.inputTokens === 0 || !isInputPossible(told, billable)) return
  return { ...told, outputTokens: 0, reasoningTokens: 0 }
}

/**
 * The input most likely read. Where bytes do not tell, as with a document, a client that leaves on purpose would get it
 * for free, so all the input that was held for is charged.
 */
function inputUntold(billable: Billable): Usage {
  const { input, inputTokens, textTokens, inputTokensMax } = billable
  if (chargesAllInput(billable)) {
    const heard = input.audio === true && inputTokensMax > 0
    const usage = { ...NO_USAGE, inputTokens: inputTokensMax }
    return heard ? { ...usage, audioTokens: inputTokensMax } : usage
  }
  const read = inputTokens ?? likelyInput(input, textTokens ?? textTokensAtMost(input))
  return { ...NO_USAGE, inputTokens: Math.min(read, inputTokensMax) }
}

function chargesAllInput({ input, hasClientLeft }: Billable): boolean {
  return hasClientLeft && input.unbounded
}

/**
 * What was received so far, and the provider's usage once it is known: everything the bill is made from. Counts before
 * anything is passed on, so cutting a stream early saves nothing.
 */
export class Meter {
  /** The provider's latest totals. */
  usage: Usage | undefined
  /** Whether those totals came after all of the output: earlier ones leave out what followed. */
  isCounted = false
  /** UTF-8 bytes of everything the model wrote: text, reasoning, tool calls. */
  outputBytes = 0
  /** In how many pieces that came: a provider streams whole tokens, so there are at least as many. */
  outputPieces = 0
  /** The web searches seen so far. */
  searches = 0
  /** Whether the provider marked its answer as complete. */
  isComplete = false
  /** When the model's first output came, in milliseconds of the monotonic clock. */
  firstOutputMs: number | undefined

  /** Whether the model produced anything: received here, or counted by the provider. */
  get hasOutput(): boolean {
    return this.outputBytes > 0 || (this.usage?.outputTokens ?? 0) > 0
  }

  see(event: CanonicalEvent, clock: Pick<Clock, 'monotonicMs'>): void {
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
      case 'tool-call-delta':
        this.#output(event.text, clock)
        break
      case 'tool-call-start':
        this.#output(event.name, clock)
        break
      case 'reasoning-end':
        // Redacted reasoning is billed like any other, and only its opaque text is visible.
        if (event.opaque?.kind === 'redacted') this.#output(event.opaque.value, clock)
        break
      case 'usage':
        this.usage = event.usage
        this.isCounted = true
        break
      case 'search':
        this.searches += 1
        break
      case 'response-end':
        this.isComplete = true
        break
      case 'response-start':
      case 'text-start':
      case 'text-citation':
      case 'text-end':
      case 'refusal-start':
      case 'refusal-end':
      case 'reasoning-start':
      case 'tool-call-end':
      case 'choice-end':
      case 'citations-lost':
      case 'embedding':
      case 'ping':
        break
    }
  }

  #output(text: string, clock: Pick<Clock, 'monotonicMs'>): void {
    this.outputBytes += Buffer.byteLength(text)
    if (text !== '') this.outputPieces += 1
    this.isCounted = false
    this.firstOutputMs ??= clock.monotonicMs()
  }
}
