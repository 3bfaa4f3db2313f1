// Builds the catalogue from the operator's configuration, the sandbox's models, the price data and the built-in facts.
// Pure: the time and the price data are arguments, so the same parts make the same catalogue.
import { ABILITIES } from '../core/endpoints.ts'
import type { Ability, ModelKind } from '../core/endpoints.ts'
import { defined } from '../core/json.ts'
import { SANDBOX } from '../core/limits.ts'
import { factsOf, IMAGE_TOKENS_MAX, mainModels } from './model-facts.ts'
import type { Vendor } from './model-facts.ts'
import { targetName, UNKNOWN_ABILITIES } from './models.ts'
import type {
  Abilities,
  Catalog,
  Figures,
  LeftOut,
  Model,
  ModelEntry,
  Target,
  TargetEntry,
  Timeouts,
} from './models.ts'
import type { PriceList, PriceLookup } from './price-data.ts'
import type { Price } from './prices.ts'
import { inRegion, withDiscount } from './prices.ts'

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
  /** Whether it reasons; unset = if it has the ability. Some accept settings for it without ever reasoning. */
  readonly reasons?: boolean
}

/** A provider's model. */

/** The defaults. */
export const TIMEOUTS: Timeouts = {
  connectMs: 5_000,
  firstByteMs: 120_000,
  idleMs: 120_000,
  totalMs: 1_800_000,
}
/** A model that reasons may be silent for long; the official SDKs wait this long too. */
const FIRST_BYTE_MS_REASONING = 600_000

export function buildCatalog(parts: CatalogParts): Catalog {
  const sandbox = parts.sandbox.map(({ id }) => entryFor(id, SANDBOX))
  const entries = [...sandbox, ...(parts.entries ?? mainEntries(parts))]
  const targetFacts = new TargetFacts(parts, entries)
  const models = new Map(entries.map((entry) => [entry.id, resolveModel(targetFacts, entry)]))
  const changes = targetFacts.changes()
  return {
    get: models.get.bind(models),
    list: () => [...models.values()],
    aliases: new Map(),
    changesAt: changes.length === 0 ? null : Math.min(...changes),
  }
}

/** With two providers of one vendor, the first serves its models; several targets are for the operator to configure. */
function mainEntries({ providers, leftOut }: CatalogParts): readonly ModelEntry[] {
  const entries = new Map<string, ModelEntry>()
  for (const { name, vendor } of providers) {
    for (const id of vendor === null || leftOut.has(name) ? [] : mainModels(vendor)) {
      if (!entries.has(id)) entries.set(id, entryFor(id, name))
    }
  }
  return [...entries.values()]
}

function entryFor(id: string, provider: string): ModelEntry {
  const target = { provider, model: id, weight: 1, timeouts: {} }
  return { id, targets: [target], fallbacks: [], abilities: {} }
}

function resolveModel(targetFacts: TargetFacts, entry: ModelEntry): Model {
  const kind = kindOf(targetFacts, entry)
  const leftOut: LeftOut[] = []
  const resolve = (role: LeftOut['role'], targets: readonly TargetEntry[]): readonly Target[] =>
    targets.flatMap((target, index) => {
      const found = resolveTarget(targetFacts, { entry, kind, target, role })
      if (!('reason' in found)) return [found]
      leftOut.push({ ...found, role, index })
      return []
    })
  const targets = resolve('targets', entry.targets)
  const fallbacks = resolve('fallbacks', entry.fallbacks)
  // Where no target can be used, the fallbacks serve the model, and its figures are theirs.
  const serving = targets.length > 0 ? targets : fallbacks
  return {
    id: entry.id,
    kind,
    targets,
    fallbacks,
    price: serving[0]?.price ?? null,
    context: least(serving.map((target) => target.context)),
    maxOutput: least(serving.map((target) => target.maxOutput)),
    defaultOutput: entry.defaultOutput ?? null,
    abilities: abilitiesOf(targetFacts, entry),
    available: serving.length > 0,
    leftOut,
    reason: leftOut.length === 0 ? null : leftOut.map(({ reason }) => reason).join('; '),
  }
}

type TargetReference = {
  readonly entry: ModelEntry
  readonly kind: ModelKind
  readonly target: TargetEntry
  readonly role: LeftOut['role']
}

type Unusable = Pick<LeftOut, 'reason' | 'because'>

/** xAI bills the tokens of all agents at the price of one. */
const SEVERAL_AGENTS = /(?:^|\/)grok-[\w.]+-multi-agent/

/** The target with everything a request needs to know about it, or a sentence on why it cannot be used. */
function resolveTarget(targetFacts: TargetFacts, reference: TargetReference): Target | Unusable {
  const { entry, kind, target, role } = reference
  const name = targetName(target.provider, target.model)
  const reason = targetFacts.leftOut.get(target.provider)
  if (reason !== undefined) {
    return { because: 'provider', reason: `${name} is left out: ${reason}` }
  }
  if (SEVERAL_AGENTS.test(target.model)) {
    const why =
      'it answers with several agents, as many as the client’s effort asks for, and no limit bounds what they cost'
    return { because: 'target', reason: `${name} is left out: ${why}` }
  }
  const known = targetFacts.knownAbout(target)
  if (known.kind !== undefined && known.kind !== kind) {
    const clash = `it is ${withArticle(known.kind)} model, and ${entry.id} is ${withArticle(kind)} model`
    return { because: 'target', reason: `${name} is left out: ${clash}` }
  }
  const stated = targetFacts.statedAbout(target)
  const price = targetFacts.priceOf(target)
  if (price === undefined && stated.priceLike !== undefined) {
    const like = `${name} should cost what ${stated.priceLike} costs, which has no price`
    return { because: 'target', reason: `${like}: ${mend(reference, {})}` }
  }
  const window = stated.context ?? known.context
  const maxOutput = stated.maxOutput ?? known.maxOutput ?? (kind === 'embedding' ? 0 : undefined)
  if (price === undefined || window === undefined || maxOutput === undefined) {
    return { because: 'target', reason: lacking(reference, { price, window, maxOutput }) }
  }
  const provider = targetFacts.providers.get(target.provider)
  const isOwn = role === 'targets'
  const written = entry.abilities.reasoning
  const found = known.reasons ?? known.abilities.reasoning
  const reasoning = isOwn ? (written ?? found) : (found ?? written)
  const reasons = reasoning === 'unknown' ? undefined : reasoning
  return {
    name,
    provider: target.provider,
    model: target.model,
    weight: target.weight,
    price,
    context: window,
    maxOutput,
    lacks: isOwn ? [] : ABILITIES.filter((ability) => known.abilities[ability] === false),
    traits: defined({ reasons, alsoKnownAs: known.alsoKnownAs }),
    imageTokens: known.imageTokens,
    writesCacheUnasked: provider?.writesCacheUnasked(target.model) ?? false,
    timeouts: {
      ...TIMEOUTS,
      ...(reasons === true ? { firstByteMs: FIRST_BYTE_MS_REASONING } : {}),
      ...provider?.timeouts,
      ...target.timeouts,
    },
  }
}

type Facts = {
  readonly price?: Price | undefined
  readonly window?: number | undefined
  readonly maxOutput?: number | undefined
}

/** What is not known about a target, and the line of the configuration that says it. */
function lacking(reference: TargetReference, facts: Facts): string {
  const { provider, model } = reference.target
  const name = targetName(provider, model)
  if (provider === SANDBOX) return `${name} is no model of the sandbox`
  const unknown = [
    ...(facts.price === undefined ? ['price'] : []),
    ...(facts.window === undefined ? ['context window'] : []),
    ...(facts.maxOutput === undefined ? ['output limit'] : []),
  ]
  const list = [unknown.slice(0, -1).join(', '), unknown.at(-1)].filter(Boolean).join(' or ')
  return `${name} has no known ${list}: ${mend(reference, facts)}`
}

/** Only the operator knows the figures, so these are words in their places. */
function mend({ kind, target: { provider, model } }: TargetReference, facts: Facts): string {
  const output = kind === 'embedding' ? '0' : 'USD'
  const settings = [
    ...(facts.price === undefined ? [`price: { input: USD, output: ${output} }`] : []),
    ...('window' in facts && facts.window === undefined ? ['context: TOKENS'] : []),
    ...('maxOutput' in facts && facts.maxOutput === undefined ? ['max_output: TOKENS'] : []),
  ]
  const unit = facts.price === undefined ? ', in USD per million tokens' : ''
  const name = /^[a-z][\w./:-]*\w$/i.test(model) ? model : JSON.stringify(model)
  return `write ${name}: { ${settings.join(', ')} } under providers.${provider}.models${unit}`
}

function kindOf(targetFacts: TargetFacts, entry: ModelEntry): ModelKind {
  if (entry.kind !== undefined) return entry.kind
  const kinds = entry.targets.flatMap((target) => targetFacts.knownAbout(target).kind ?? [])
  return kinds[0] ?? 'chat'
}

/** True if every target has it, false if any lacks it, else unknown; the operator's setting overrides. */
function abilitiesOf(targetFacts: TargetFacts, entry: ModelEntry): Abilities {
  const known = entry.targets.map((target) => targetFacts.knownAbout(target).abilities)
  const combine = (ability: Ability): boolean | 'unknown' => {
    const written = entry.abilities[ability]
    if (written !== undefined) return written
    if (known.some((abilities) => abilities[ability] === false)) return false
    return known.every((abilities) => abilities[ability] === true) ? true : 'unknown'
  }
  return Object.fromEntries(ABILITIES.map((ability) => [ability, combine(ability)])) as Record<
    Ability,
    boolean | 'unknown'
  >
}

function least(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : Math.min(...numbers)
}

function withArticle(kind: ModelKind): string {
  return kind === 'embedding' ? 'an embedding' : 'a chat'
}

// What is known about a provider's model: what the operator says, wherever in the configuration, then the price data and
// the built-in facts. A price belongs to a target: the name that clients use has no part in it.

type ProviderModel = Pick<TargetEntry, 'provider' | 'model'>

type Reference = ProviderModel & {
  /** `provider` names a price list, not a configured provider. */
  readonly isList?: true
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

/** Everything that is known about targets, from all sources. */
class TargetFacts {
  readonly providers: ReadonlyMap<string, CatalogProvider>
  /** The providers that cannot be used, with the reason. */
  readonly leftOut: CatalogParts['leftOut']
  readonly #parts: CatalogParts
  readonly #entries: ReadonlyMap<string, ModelEntry>
  /** By target: the entries that have it among their targets. Their figures are its own, whoever else names it. */
  readonly #owners = new Map<string, ModelEntry[]>()
  /** Kept, because the price library is slow. */
  readonly #known = new Map<string, Known>()

  constructor(parts: CatalogParts, entries: readonly ModelEntry[]) {
    this.#parts = parts
    this.leftOut = parts.leftOut
    this.providers = new Map(parts.providers.map((provider) => [provider.name, provider]))
    this.#entries = new Map(entries.map((entry) => [entry.id, entry]))
    for (const entry of entries) {
      for (const { provider, model } of entry.targets) {
        const name = targetName(provider, model)
        this.#owners.set(name, [...(this.#owners.get(name) ?? []), entry])
      }
    }
  }

  /** The moments at which something in the price data changes, of what was looked up so far. */
  changes(): readonly number[] {
    return [...this.#known.values()].flatMap(({ changesAt }) => changesAt ?? [])
  }

  /** What the operator says: about the provider's model itself, else in an entry that has it among its targets. */
  statedAbout(target: ProviderModel): Figures {
    const all = this.#statements(target)
    const priced = all.find((each) => each.price !== undefined || each.priceLike !== undefined)
    return {
      price: priced?.price,
      priceLike: priced?.priceLike,
      context: all.find((each) => each.context !== undefined)?.context,
      maxOutput: all.find((each) => each.maxOutput !== undefined)?.maxOutput,
    }
  }

  /** What a target costs: its list price less the discount there. A price that the operator states is final. */
  priceOf(target: ProviderModel): Price | undefined {
    const list = this.#listPrice(target, new Set())
    const provider = this.providers.get(target.provider)
    if (list === undefined || provider === undefined) return list
    const isFinal = this.statedAbout(target).price !== undefined
    const { discount = provider.discount } = provider.models.get(target.model) ?? {}
    return isFinal ? list : withDiscount(list, discount)
  }

  /** What is known about a target: by its name, or if the operator chose that name, by its other names. */
  knownAbout(target: ProviderModel): Known {
    const known = this.#lookUp(target)
    const provider = this.providers.get(target.provider)
    if (provider?.hasFreeNames !== true || factsOf(target.model) !== undefined) return known
    const alsoKnownAs = this.#otherNames(target)
    if (alsoKnownAs.length === 0) return known
    const facts = alsoKnownAs.map(factsOf).find((each) => each !== undefined)
    return { ...known, ...facts, alsoKnownAs }
  }

  #ownersOf({ provider, model }: ProviderModel): readonly ModelEntry[] {
    return this.#owners.get(targetName(provider, model)) ?? []
  }

  #statements(target: ProviderModel): readonly Figures[] {
    const own = this.providers.get(target.provider)?.models.get(target.model)
    return [...(own === undefined ? [] : [own]), ...this.#ownersOf(target)]
  }

  /** `seen` holds the names that price_like has led through, so that a circle ends. */
  #listPrice(target: ProviderModel, seen: Set<string>): Price | undefined {
    const { price, priceLike } = this.statedAbout(target)
    if (price !== undefined) return price
    return priceLike === undefined ? this.#lookUp(target).price : this.#priceOfLike(priceLike, seen)
  }

  /** The price of another entry, or of provider/model. */
  #priceOfLike(name: string, seen: Set<string>): Price | undefined {
    if (seen.has(name)) return undefined
    seen.add(name)
    const [first] = this.#entries.get(name)?.targets ?? []
    if (first !== undefined) return this.#listPrice(first, seen)
    const slash = name.indexOf('/')
    if (slash < 0) return undefined
    const reference = { provider: name.slice(0, slash), model: name.slice(slash + 1) }
    // It may name a price list, such as openai/gpt-5: no provider has that name, or the one that does has no such price.
    return (
      this.#listPrice(reference, seen) ??
      this.#lookUp(reference).price ??
      this.#lookUp({ ...reference, isList: true }).price
    )
  }

  /** The names of the models that it costs as much as, and its public names. */
  #otherNames(target: ProviderModel): readonly string[] {
    const models = this.#statements(target)
      .flatMap(({ priceLike }) => priceLike ?? [])
      .map((like) => {
        const [first] = this.#entries.get(like)?.targets ?? []
        return first?.model ?? like.slice(like.indexOf('/') + 1)
      })
    return [...new Set([...models, ...this.#ownersOf(target).map(({ id }) => id)])]
  }

  /** What is known about a provider's model apart from the configuration. */
  #lookUp(reference: Reference): Known {
    const name = `${targetName(reference.provider, reference.model)}${reference.isList ? ' by list' : ''}`
    const known = this.#known.get(name) ?? this.#lookUpNow(reference)
    this.#known.set(name, known)
    return known
  }

  #lookUpNow({ provider: name, model, isList }: Reference): Known {
    const { sandbox, prices, priceLists, now } = this.#parts
    if (name === SANDBOX) {
      const own = sandbox.find(({ id }) => id === model)
      return { abilities: UNKNOWN_ABILITIES, ...own, imageTokens: IMAGE_TOKENS_MAX }
    }
    const provider = isList ? undefined : this.providers.get(name)
    const list = isList ? priceLists.get(name) : provider?.priceList
    const priced = list ? prices({ list, model, now }) : undefined
    return {
      abilities: UNKNOWN_ABILITIES,
      imageTokens: IMAGE_TOKENS_MAX,
      context: priced?.context ?? undefined,
      ...factsOf(model),
      price: priced && (provider?.isRegional(model) ? inRegion(priced.price) : priced.price),
      changesAt: priced?.changesAt,
    }
  }
}
