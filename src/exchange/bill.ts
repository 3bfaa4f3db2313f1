// What a request is charged: the provider's own count where it is possible, else what was received, and never nothing
// once a model has begun to work. Pure; `exchange.ts` puts it into the books.
import { costOf, NO_SURCHARGE, surchargeOf } from '../catalog/prices.ts'
import type { Cost, CostLine, Price } from '../catalog/prices.ts'
import { likelyInput, likelyTokens } from '../catalog/tokens.ts'
import type { InputMeasure } from '../core/call.ts'
import type { Usage } from '../core/events.ts'
import { NO_USAGE } from '../core/events.ts'
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
}

export type Billed = {
  readonly meter: Meter
  readonly price: Price
  /** The most any provider could count: the context window, for each input that has one of its own. */
  readonly inputTokensPossible: number
  readonly input: InputMeasure
  /** The most the hold assumed to be read. */
  readonly inputTokensMax: number
  /** The most that could be written: the limit that was sent, times the choices. */
  readonly outputTokensMax: number
  /** How long a model that thinks was at work unseen, where its client cut it off; else 0. */
  readonly unseenMs: number
  readonly held: Nanodollars
}

/** Nothing was billed: no provider was asked, or it refused before it began. */
export const NOTHING: Bill = {
  usage: NO_USAGE,
  lines: [],
  cost: 0n,
  surcharge: NO_SURCHARGE,
  estimated: false,
}

export function billOf(billed: Billed): Bill {
  const { meter, price, held } = billed
  if (meter.isComplete && meter.usage !== undefined && isPossible(meter.usage, billed)) {
    const { lines, nanodollars: cost } = costOf(meter.usage, price)
    const surcharge = surchargeOf(meter.usage, price)
    return { usage: meter.usage, lines, cost, surcharge, estimated: false }
  }
  const usage = estimate(billed)
  const { lines, nanodollars: cost } = costOf(usage, price)
  const limited = cost < held ? cost : held
  return { usage, lines, cost: limited, surcharge: NO_SURCHARGE, estimated: true }
}

/** What a request can still cost once the provider has told what it read. */
export function mostOf({ meter, price, outputTokensMax }: Billed): Nanodollars | undefined {
  if (meter.usage === undefined) return undefined
  const usage = { ...meter.usage, outputTokens: outputTokensMax }
  return costOf(usage, price).nanodollars + surchargeOf(usage, price).nanodollars
}

/** What no tokenizer and no provider can count, whatever it says. */
function isPossible(usage: Usage, { inputTokensPossible, outputTokensMax }: Billed): boolean {
  const counts = Object.values(usage)
  return (
    counts.every((count) => Number.isSafeInteger(count) && count >= 0) &&
    usage.inputTokens <= inputTokensPossible &&
    usage.outputTokens <= outputTokensMax &&
    usage.cachedTokens + usage.cacheWriteTokens <= usage.inputTokens &&
    usage.cacheWriteLongTokens <= usage.cacheWriteTokens &&
    usage.reasoningTokens <= usage.outputTokens &&
    (usage.audioTokens ?? 0) <= usage.inputTokens
  )
}

/** Thoughts that nobody sees are billed too, and a client that cuts its streams would have them for nothing. */
const THOUGHTS_PER_MS = 0.15

/** What came of a model's work, counted here. A part the provider did count is believed where it is larger. */
function estimate({ meter, input, inputTokensMax, outputTokensMax, unseenMs }: Billed): Usage {
  const read = likelyInput(input, likelyTokens(input.textBytes + input.jsonBytes))
  const written = likelyTokens(meter.outputBytes) + Math.ceil(unseenMs * THOUGHTS_PER_MS)
  const told = meter.usage
  const toldInput = told !== undefined && isCount(told.inputTokens) ? told.inputTokens : 0
  const toldOutput = told !== undefined && isCount(told.outputTokens) ? told.outputTokens : 0
  return {
    ...NO_USAGE,
    inputTokens: Math.min(toldInput > 0 ? toldInput : read, inputTokensMax),
    outputTokens: Math.min(Math.max(written, toldOutput), outputTokensMax),
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
