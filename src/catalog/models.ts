// Which models exist under which public names, what serves them, what they can do and what they cost. A model that
// cannot be served or priced stays in the list with the reason, so that its absence is explained. And the JSON form of a
// model, for both the command line and the admin API.
import type { Ability, ModelKind } from '../core/endpoints.ts'
import { formatUsd, type Picodollars } from '../core/money.ts'
import type { ModelTraits } from '../core/request.ts'
import type { Price, Rates } from './prices.ts'

export type Catalog = {
  get(id: string): Model | undefined
  /** Other names that clients may call a model by, with its public one. */
  readonly aliases: ReadonlyMap<string, string>
  /** Every model, unavailable ones too, in the order of the configuration, the sandbox first. */
  list(): readonly Model[]
  /** When a date or hour changes a price and the catalogue must be rebuilt; null = no such moment is known. */
  readonly changesAt: number | null
}

export type Model = {
  /** The public name: what a client sends, what an allowlist holds, what every reply carries. */
  readonly id: string
  readonly kind: ModelKind
  /** Where traffic is split by weight. May be empty: then the fallbacks serve the model, or nobody does. */
  readonly targets: readonly Target[]
  /** Tried in this order when no target answers. */
  readonly fallbacks: readonly Target[]
  /** The first target's price, for lists; null if there is none. A request is charged by the target that served it. */
  readonly price: Price | null
  /** The smallest window and output limit among the targets; a fallback may have a smaller one. */
  readonly context: number | null
  readonly maxOutput: number | null
  /** The output limit for requests that set none, where the operator wants less than maxOutput. */
  readonly defaultOutput: number | null
  readonly abilities: Abilities
  readonly available: boolean
  /** The targets and fallbacks that are configured and not served. */
  readonly leftOut: readonly LeftOut[]
  /** Why the model is not available, or which of its targets are left out and why. */
  readonly reason: string | null
}

export type LeftOut = {
  readonly role: 'targets' | 'fallbacks'
  readonly index: number
  readonly reason: string
  /** Its whole provider is left out, perhaps on purpose; or the target itself cannot be served: a mistake. */
  readonly because: 'provider' | 'target'
}

export type Target = {
  /** `provider/model`: identifies it, in the form that people write and read. */
  readonly name: string
  readonly provider: string
  /** The provider's own name of the model. */
  readonly model: string
  readonly weight: number
  readonly price: Price
  readonly context: number
  readonly maxOutput: number
  /** Abilities that a fallback is known to lack; empty for targets, whose lacks are in the model's own abilities. */
  readonly lacks: readonly Ability[]
  /** Decides which request parameters it accepts. */
  readonly traits: ModelTraits
  /** The most tokens it counts for one image. */
  readonly imageTokens: number
  /** It may write its cache, and bill for it, without being asked to. */
  readonly writesCacheUnasked: boolean
  readonly timeouts: Timeouts
}

/** The name of a target that is not resolved yet. */
export function targetName(provider: string, model: string): string {
  return `${provider}/${model}`
}

export type Timeouts = {
  readonly connectMs: number
  /** From the request to the first byte of the answer. */
  readonly firstByteMs: number
  /** Between two bytes of the answer. */
  readonly idleMs: number
  readonly totalMs: number
}

/** A request is refused only for an ability known to be missing; unknown ones are allowed. */
export type Abilities = Readonly<Record<Ability, boolean | 'unknown'>>

export const UNKNOWN_ABILITIES: Abilities = {
  tools: 'unknown',
  images: 'unknown',
  files: 'unknown',
  structured_output: 'unknown',
  reasoning: 'unknown',
}

/** What an operator may say about a provider's model; undefined members follow from what is known about it. */
export type Figures = {
  readonly price?: Price | undefined
  /** The name of the model, or provider/model, whose price applies. */
  readonly priceLike?: string | undefined
  readonly context?: number | undefined
  readonly maxOutput?: number | undefined
}

/** A model as the operator configured it. Its figures are those of its targets, never of its fallbacks. */
export type ModelEntry = Figures & {
  readonly id: string
  readonly kind?: ModelKind | undefined
  readonly targets: readonly TargetEntry[]
  readonly fallbacks: readonly TargetEntry[]
  readonly defaultOutput?: number | undefined
  readonly abilities: Partial<Readonly<Record<Ability, boolean>>>
}

export type TargetEntry = {
  readonly provider: string
  readonly model: string
  readonly weight: number
  readonly timeouts: Partial<Timeouts>
}

export function modelJson(model: Model) {
  return {
    id: model.id,
    kind: model.kind,
    provider: (model.targets[0] ?? model.fallbacks[0])?.provider ?? null,
    targets: [
      ...model.targets.map((target) => targetJson(target, 'target')),
      ...model.fallbacks.map((target) => targetJson(target, 'fallback')),
    ],
    price: model.price === null ? null : priceJson(model.price),
    context: model.context,
    max_output: model.maxOutput,
    abilities: model.abilities,
    available: model.available,
    reason: model.reason,
  }
}

/** A target has its own price, whatever the model's first one costs. */
function targetJson({ provider, model, weight, price }: Target, role: 'target' | 'fallback') {
  return { provider, model, weight, role, price: priceJson(price) }
}

/** Tiers only where long inputs cost more; their rates then apply to the whole request. */
function priceJson({ rates, tiers, discount }: Price) {
  return {
    ...ratesJson(rates),
    ...(tiers.length > 0 && {
      tiers: tiers.map((tier) => ({
        above_input_tokens: tier.aboveInputTokens,
        ...ratesJson(tier.rates),
      })),
    }),
    ...(discount !== undefined && {
      discount: String(discount.millionths / 1_000_000),
      list: ratesJson(discount.list.rates),
    }),
  }
}

function ratesJson(rates: Rates) {
  return {
    input: perMillion(rates.input),
    cached: perMillion(rates.cached),
    cache_write: perMillion(rates.cacheWriteShort),
    cache_write_long: perMillion(rates.cacheWriteLong),
    output: perMillion(rates.output),
  }
}

/** pico-USD per token is micro-USD per million tokens. */
export function perMillion(price: Picodollars): string {
  return formatUsd(price * 1_000n)
}
