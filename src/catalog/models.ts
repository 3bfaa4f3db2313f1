// What models exist under which public name, what serves them, what they can do and what they cost. A model that
// cannot be served or priced stays in the list with the reason, so that nobody wonders where it went.
import type { OutputLimits } from '../core/call.ts'
import type { Ability, ModelKind } from '../core/endpoints.ts'
import type { Nature } from '../core/request.ts'
import type { Price } from './prices.ts'

export type Catalog = {
  get(id: string): Model | undefined
  /** Every model, unavailable ones too, in the order of the configuration, the sandbox first. */
  list(): readonly Model[]
  /** When a price in this catalogue changes by its date and it must be built again; null = not foreseeable. */
  readonly changesAt: number | null
}

export type Model = {
  /** The public name: what a client sends, what an allowlist holds, what every reply carries. */
  readonly id: string
  readonly kind: ModelKind
  /** Where traffic is split by weight. Empty when the model is not available. */
  readonly targets: readonly Target[]
  /** Tried in this order when no target answers. */
  readonly fallbacks: readonly Target[]
  /** The first target's price, for lists; null when there is none. A request is charged by the target it was served by. */
  readonly price: Price | null
  /** The smallest window and output limit among the targets; a fallback may have a smaller one of its own. */
  readonly context: number | null
  readonly maxOutput: number | null
  /** The output limit for requests that set none, where the operator wants less than maxOutput. */
  readonly defaultOutput: number | null
  readonly abilities: Abilities
  readonly available: boolean
  /** Why the model is not available, or which of its targets are left out and why. */
  readonly reason: string | null
}

export type Target = {
  readonly provider: string
  /** The provider's own name of the model. */
  readonly model: string
  readonly weight: number
  readonly price: Price
  readonly context: number
  readonly maxOutput: number
  /** What a fallback is known not to be able to; of targets, the model's own abilities tell. */
  readonly lacks: readonly Ability[]
  /** What it can be told depends on it. */
  readonly nature: Nature
  /** The most tokens it counts for one image. */
  readonly imageTokens: number
  /** It may write its cache, and bill for that, although the request did not ask. */
  readonly writesCacheUnasked: boolean
  readonly timeouts: Timeouts
}

/** As people write it and read it, and as it is told apart from others. */
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

/** Only what is known to be missing refuses a request; the unknown is allowed. */
export type Abilities = Readonly<Record<Ability, boolean | 'unknown'>>

export const UNKNOWN_ABILITIES: Abilities = {
  tools: 'unknown',
  images: 'unknown',
  files: 'unknown',
  structured_output: 'unknown',
  reasoning: 'unknown',
}

/** Asked to, or because many models think unless they are told not to. */
export function mayThink({ abilities }: Model, { thinks }: OutputLimits): boolean {
  return thinks || abilities.reasoning === true
}

/** A model as the operator wrote it down; what is undefined follows from what is known of its targets. */
export type ModelEntry = {
  readonly id: string
  readonly kind?: ModelKind | undefined
  readonly targets: readonly TargetEntry[]
  readonly fallbacks: readonly TargetEntry[]
  readonly price?: Price | undefined
  /** The name of a model whose price holds, or provider/model. */
  readonly priceLike?: string | undefined
  readonly context?: number | undefined
  readonly maxOutput?: number | undefined
  readonly defaultOutput?: number | undefined
  readonly abilities: Partial<Readonly<Record<Ability, boolean>>>
}

export type TargetEntry = {
  readonly provider: string
  readonly model: string
  readonly weight: number
  readonly timeouts: Partial<Timeouts>
}
