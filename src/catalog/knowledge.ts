// What is known about a provider's model: what the operator says, wherever in the configuration, then the price data and
// the built-in facts. A price belongs to a target: the name that clients use has no part in it.
import type { ModelKind } from '../core/endpoints.ts'
import { factsOf, IMAGE_TOKENS_MAX } from './model-facts.ts'
import type { Vendor } from './model-facts.ts'
import { targetName, UNKNOWN_ABILITIES } from './models.ts'
import type { Abilities, Figures, ModelEntry, TargetEntry, Timeouts } from './models.ts'
import type { PriceList, PriceLookup } from './price-data.ts'
import { inRegion, withDiscount } from './prices.ts'
import type { Price } from './prices.ts'

export type CatalogParts = {
  /** Perhaps also some that are left out: prices there can be referred to. */
  readonly providers: readonly CatalogProvider[]
  /** Providers that are configured but cannot be used, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>
  /** Null = the main models of every provider that has any. */
  readonly entries: readonly ModelEntry[] | null
  /** Empty when the sandbox is off. */
  readonly sandbox: readonly SandboxModel[]
  readonly prices: PriceLookup
  /** The price lists that price_like can name, whether their provider is configured or not. */
  readonly priceLists: ReadonlyMap<string, PriceList>
  readonly now: number
}

export type CatalogProvider = {
  readonly name: string
  /** The vendor whose main models it serves; null = none, because only the operator knows what it serves. */
  readonly vendor: Vendor | null
  readonly priceList: PriceList | null
  /** Whether a model has a regional price there, which the list does not contain. */
  readonly isRegional: (model: string) => boolean
  /** Whether a model there may write its cache, and bill for it, without being asked to. */
  readonly writesCacheUnasked: (model: string) => boolean
  /** The operator chooses the names of its models, so a name says nothing about the model. */
  readonly hasFreeNames: boolean
  readonly timeouts: Partial<Timeouts>
  /** Taken off the list prices there, in millionths. */
  readonly discount: number
  /** What the operator says about its models, by their names there. */
  readonly models: ReadonlyMap<string, ProviderFigures>
}

type ProviderFigures = Figures & {
  /** Replaces the provider's own. */
  readonly discount?: number | undefined
}

/** What the sandbox declares about its own models. */
export type SandboxModel = {
  readonly id: string
  readonly kind: ModelKind
  readonly price: Price
  readonly context: number
  readonly maxOutput: number
  readonly abilities: Abilities
  /** Whether it thinks; unset = if it has the ability. Some accept settings for it without ever thinking. */
  readonly reasons?: boolean
}

/** The name of the provider that ships with Tollgate; no configured provider may have it. */
export const SANDBOX = 'sandbox'

/** Everything that is known about targets, from all sources. */
export type Knowledge = {
  readonly parts: CatalogParts
  readonly providers: ReadonlyMap<string, CatalogProvider>
  readonly entries: ReadonlyMap<string, ModelEntry>
  /** The entries among whose targets it is: their figures are its own, whoever else names it. */
  readonly ownersOf: (target: Place) => readonly ModelEntry[]
  /** Cached, because the price library is slow. */
  readonly knownOf: (reference: Reference) => Known
  /** The moments at which something in the price data changes, of what was looked up so far. */
  readonly changes: () => readonly number[]
}

/** A provider's model. */
type Place = Pick<TargetEntry, 'provider' | 'model'>

type Reference = Place & {
  /** `provider` names a price list, not a configured provider. */
  readonly isList?: true
}

export function knowledgeOf(parts: CatalogParts, entries: readonly ModelEntry[]): Knowledge {
  const providers = new Map(parts.providers.map((provider) => [provider.name, provider]))
  const known = new Map<string, Known>()
  const owners = ownersByTarget(entries)
  return {
    parts,
    providers,
    entries: new Map(entries.map((entry) => [entry.id, entry])),
    ownersOf: ({ provider, model }) => owners.get(targetName(provider, model)) ?? [],
    knownOf: (reference) => {
      const { provider, model, isList } = reference
      const name = `${targetName(provider, model)}${isList ? ' by list' : ''}`
      const found = known.get(name) ?? lookUp(parts, providers, reference)
      known.set(name, found)
      return found
    },
    changes: () => [...known.values()].flatMap(({ changesAt }) => changesAt ?? []),
  }
}

function ownersByTarget(
  entries: readonly ModelEntry[],
): ReadonlyMap<string, readonly ModelEntry[]> {
  const owners = new Map<string, ModelEntry[]>()
  for (const entry of entries) {
    for (const { provider, model } of entry.targets) {
      const name = targetName(provider, model)
      owners.set(name, [...(owners.get(name) ?? []), entry])
    }
  }
  return owners
}

/**
 * What the operator says about a target: about the provider's model itself, else in an entry that has it among its
 * targets. Entries that contradict each other were refused with the configuration.
 */
export function statedAbout({ providers, ownersOf }: Knowledge, target: Place): Figures {
  const own = providers.get(target.provider)?.models.get(target.model)
  const all = [...(own === undefined ? [] : [own]), ...ownersOf(target)]
  const priced = all.find((each) => each.price !== undefined || each.priceLike !== undefined)
  return {
    price: priced?.price,
    priceLike: priced?.priceLike,
    context: all.find((each) => each.context !== undefined)?.context,
    maxOutput: all.find((each) => each.maxOutput !== undefined)?.maxOutput,
  }
}

/** What a target costs: its list price less the discount there. A price that the operator states is final. */
export function priceAt(context: Knowledge, target: Place): Price | undefined {
  const list = listPrice(context, target, new Set())
  const provider = context.providers.get(target.provider)
  if (list === undefined || provider === undefined) return list
  const isFinal = statedAbout(context, target).price !== undefined
  const { discount = provider.discount } = provider.models.get(target.model) ?? {}
  return isFinal ? list : withDiscount(list, discount)
}

/** `seen` holds the names that price_like has led through, so that a circle ends. */
function listPrice(context: Knowledge, target: Place, seen: Set<string>): Price | undefined {
  const { price, priceLike } = statedAbout(context, target)
  if (price !== undefined) return price
  return priceLike === undefined
    ? context.knownOf(target).price
    : priceOfLike(context, priceLike, seen)
}

/** The price of another entry, or of provider/model. */
function priceOfLike(context: Knowledge, name: string, seen: Set<string>): Price | undefined {
  if (seen.has(name)) return undefined
  seen.add(name)
  const [first] = context.entries.get(name)?.targets ?? []
  if (first !== undefined) return listPrice(context, first, seen)
  const slash = name.indexOf('/')
  if (slash < 0) return undefined
  const reference = { provider: name.slice(0, slash), model: name.slice(slash + 1) }
  // It may name a price list, such as openai/gpt-5: no provider has that name, or the one that does has no such price.
  return (
    listPrice(context, reference, seen) ??
    context.knownOf(reference).price ??
    context.knownOf({ ...reference, isList: true }).price
  )
}

type Known = {
  readonly kind?: ModelKind | undefined
  readonly price?: Price | undefined
  readonly context?: number | undefined
  readonly maxOutput?: number | undefined
  readonly abilities: Abilities
  readonly reasons?: boolean
  readonly imageTokens: number
  readonly changesAt?: number | null | undefined
  readonly alsoKnownAs?: readonly string[]
}

/** What is known about a provider's model apart from the configuration. */
function lookUp(
  parts: CatalogParts,
  providers: Knowledge['providers'],
  reference: Reference,
): Known {
  if (reference.provider === SANDBOX) {
    const model = parts.sandbox.find(({ id }) => id === reference.model)
    return { abilities: UNKNOWN_ABILITIES, ...model, imageTokens: IMAGE_TOKENS_MAX }
  }
  const provider = providers.get(reference.provider)
  const list = reference.isList
    ? (parts.priceLists.get(reference.provider) ?? null)
    : (provider?.priceList ?? null)
  const priced =
    list === null ? undefined : parts.prices({ list, model: reference.model, now: parts.now })
  const isRegional = !reference.isList && provider?.isRegional(reference.model) === true
  const facts = factsOf(reference.model)
  return {
    abilities: UNKNOWN_ABILITIES,
    imageTokens: IMAGE_TOKENS_MAX,
    context: priced?.context ?? undefined,
    ...facts,
    price: priced && (isRegional ? inRegion(priced.price) : priced.price),
    changesAt: priced?.changesAt,
  }
}

/** What is known about a target: by its name, or if the operator chose that name, by its other names. */
export function knownAbout(context: Knowledge, target: Place): Known {
  const known = context.knownOf(target)
  const provider = context.providers.get(target.provider)
  if (provider?.hasFreeNames !== true || factsOf(target.model) !== undefined) return known
  const alsoKnownAs = otherNames(context, target)
  if (alsoKnownAs.length === 0) return known
  const facts = alsoKnownAs.map(factsOf).find((each) => each !== undefined)
  return { ...known, ...facts, alsoKnownAs }
}

/** The names of the models that it costs as much as, and its public names. */
function otherNames(context: Knowledge, target: Place): readonly string[] {
  const owners = context.ownersOf(target)
  const own = context.providers.get(target.provider)?.models.get(target.model)
  const likes = [own, ...owners].flatMap((figures) => figures?.priceLike ?? [])
  const models = likes.map((like) => {
    const [first] = context.entries.get(like)?.targets ?? []
    return first?.model ?? like.slice(like.indexOf('/') + 1)
  })
  return [...new Set([...models, ...owners.map(({ id }) => id)])]
}
