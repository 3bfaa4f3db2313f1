// Builds the catalogue from the operator's configuration, the sandbox's models, the price data and the built-in facts.
// Pure: the time and the price data are arguments, so the same parts make the same catalogue.
import { ABILITIES } from '../core/endpoints.ts'
import type { Ability, ModelKind } from '../core/endpoints.ts'
import { defined } from '../core/json.ts'
import { factsOf, mainModels } from './facts.ts'
import { IMAGE_TOKENS_MAX } from './main-models.ts'
import type { Vendor } from './main-models.ts'
import { targetName, UNKNOWN_ABILITIES } from './models.ts'
import type {
  Abilities,
  Catalog,
  Model,
  ModelEntry,
  Target,
  TargetEntry,
  Timeouts,
} from './models.ts'
import type { PriceList, PriceLookup } from './price-data.ts'
import { inRegion } from './prices.ts'
import type { Price } from './prices.ts'

export type CatalogParts = {
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
}

/** What the sandbox declares about its own models. */
export type SandboxModel = {
  readonly id: string
  readonly kind: ModelKind
  readonly price: Price
  readonly context: number
  readonly maxOutput: number
  readonly abilities: Abilities
}

/** The name of the provider that ships with Tollgate; no configured provider may have it. */
export const SANDBOX = 'sandbox'

/** The defaults. */
export const TIMEOUTS: Timeouts = {
  connectMs: 5_000,
  firstByteMs: 120_000,
  idleMs: 120_000,
  totalMs: 1_800_000,
}
/** A model that thinks may be silent for long; the official SDKs wait this long too. */
const FIRST_BYTE_MS_THINKING = 600_000

export function buildCatalog(parts: CatalogParts): Catalog {
  const entries = [
    ...parts.sandbox.map(sandboxEntry),
    ...(parts.entries ?? mainEntries(parts.providers)),
  ]
  const providers = new Map(parts.providers.map((provider) => [provider.name, provider]))
  const known = new Map<string, Known>()
  const context: Context = {
    parts,
    providers,
    entries: new Map(entries.map((entry) => [entry.id, entry])),
    knownOf: (reference) => {
      const { provider, model, isList } = reference
      const name = `${targetName(provider, model)}${isList ? ' by list' : ''}`
      const found = known.get(name) ?? lookUp(parts, providers, reference)
      known.set(name, found)
      return found
    },
  }
  const models = new Map(entries.map((entry) => [entry.id, resolveModel(context, entry)]))
  const changes = [...known.values()].flatMap(({ changesAt }) => changesAt ?? [])
  return {
    get: (id) => models.get(id),
    list: () => [...models.values()],
    changesAt: changes.length === 0 ? null : Math.min(...changes),
  }
}

type Context = {
  readonly parts: CatalogParts
  readonly providers: ReadonlyMap<string, CatalogProvider>
  readonly entries: ReadonlyMap<string, ModelEntry>
  /** Cached, because the price library is slow. */
  readonly knownOf: (reference: Reference) => Known
}

type Reference = Pick<TargetEntry, 'provider' | 'model'> & {
  /** `provider` names a price list, not a configured provider. */
  readonly isList?: true
}

function sandboxEntry({ id }: SandboxModel): ModelEntry {
  return entryFor(id, SANDBOX)
}

/** With two providers of one vendor, the first serves its models; several targets are for the operator to configure. */
function mainEntries(providers: readonly CatalogProvider[]): readonly ModelEntry[] {
  const entries = new Map<string, ModelEntry>()
  for (const { name, vendor } of providers) {
    for (const id of vendor === null ? [] : mainModels(vendor)) {
      if (!entries.has(id)) entries.set(id, entryFor(id, name))
    }
  }
  return [...entries.values()]
}

function entryFor(id: string, provider: string): ModelEntry {
  const target = { provider, model: id, weight: 1, timeouts: {} }
  return { id, targets: [target], fallbacks: [], abilities: {} }
}

function resolveModel(context: Context, entry: ModelEntry): Model {
  const kind = kindOf(context, entry)
  const resolve = (role: 'target' | 'fallback') => (target: TargetEntry) =>
    resolveTarget(context, { entry, kind, target, role })
  const targets = entry.targets.map(resolve('target'))
  const fallbacks = entry.fallbacks.map(resolve('fallback'))
  const usable = targets.filter((target) => typeof target !== 'string')
  const problems = [...targets, ...fallbacks].filter((target) => typeof target === 'string')
  return {
    id: entry.id,
    kind,
    targets: usable,
    fallbacks: fallbacks.filter((target) => typeof target !== 'string'),
    price: usable[0]?.price ?? null,
    context: least(usable.map((target) => target.context)),
    maxOutput: least(usable.map((target) => target.maxOutput)),
    defaultOutput: entry.defaultOutput ?? null,
    abilities: abilitiesOf(context, entry),
    available: usable.length > 0,
    reason: problems.length === 0 ? null : problems.join('; '),
  }
}

type TargetQuestion = {
  readonly entry: ModelEntry
  readonly kind: ModelKind
  readonly target: TargetEntry
  readonly role: 'target' | 'fallback'
}

/** The target with everything a request needs to know about it, or a sentence on why it cannot be used. */
function resolveTarget(context: Context, question: TargetQuestion): Target | string {
  const { entry, kind, target, role } = question
  const name = targetName(target.provider, target.model)
  const reason = context.parts.leftOut.get(target.provider)
  if (reason !== undefined) return `${name} is left out: ${reason}`
  const isOwn = role === 'target'
  const known = isOwn ? knownOfOwn(context, entry, target) : context.knownOf(target)
  if (known.kind !== undefined && known.kind !== kind) {
    return `${name} is left out: it is ${withArticle(known.kind)} model, and ${entry.id} is ${withArticle(kind)} model`
  }
  const price = resolvePrice(context, question, known)
  if (typeof price === 'string') return price
  const window = prefer(role, entry.context, known.context)
  if (window === undefined)
    return `${name} has no known context window: set context for ${entry.id}`
  const maxOutput = prefer(role, entry.maxOutput, known.maxOutput)
  if (maxOutput === undefined && kind === 'chat') {
    return `${name} has no known output limit: set max_output for ${entry.id}`
  }
  const provider = context.providers.get(target.provider)
  const reasons = certain(prefer(role, entry.abilities.reasoning, known.abilities.reasoning))
  return {
    provider: target.provider,
    model: target.model,
    weight: target.weight,
    price,
    context: window,
    maxOutput: maxOutput ?? 0,
    lacks: isOwn ? [] : ABILITIES.filter((ability) => known.abilities[ability] === false),
    nature: defined({ reasons, alsoKnownAs: known.alsoKnownAs }),
    imageTokens: known.imageTokens,
    writesCacheUnasked: provider?.writesCacheUnasked(target.model) ?? false,
    timeouts: {
      ...TIMEOUTS,
      ...(reasons === true ? { firstByteMs: FIRST_BYTE_MS_THINKING } : {}),
      ...provider?.timeouts,
      ...target.timeouts,
    },
  }
}

function certain(ability: boolean | 'unknown' | undefined): boolean | undefined {
  return ability === 'unknown' ? undefined : ability
}

/** The price, or a sentence on why none is known. */
function resolvePrice(
  context: Context,
  { entry, target, role }: TargetQuestion,
  known: Known,
): Price | string {
  const name = targetName(target.provider, target.model)
  const like = priceLike(context, entry, new Set())
  if (role === 'target' && entry.priceLike !== undefined && like === undefined) {
    return `${name} should cost what ${entry.priceLike} costs, which has no price: set price, or another price_like, for ${entry.id}`
  }
  const price = prefer(role, entry.price ?? like, known.price)
  if (price !== undefined) return price
  const without = `${name} has no price in the price data`
  const isKnown = (each: TargetEntry) => knownOfOwn(context, entry, each).price !== undefined
  return entry.targets.some(isKnown)
    ? `${without}, and a price set for ${entry.id} would replace those of its other targets: give ${target.model} an entry of its own, with price or price_like`
    : `${without}: set price or price_like for ${entry.id}, or price: free`
}

/** The operator's settings of a model hold for its targets; a fallback may be an entirely different model. */
function prefer<Fact>(
  role: TargetQuestion['role'],
  written: Fact | undefined,
  found: Fact | undefined,
): Fact | undefined {
  return role === 'target' ? (written ?? found) : (found ?? written)
}

/** The price of another entry, or of provider/model. */
function priceLike(context: Context, entry: ModelEntry, seen: Set<string>): Price | undefined {
  const name = entry.priceLike
  if (name === undefined || seen.has(name)) return undefined
  seen.add(name)
  const other = context.entries.get(name)
  if (other !== undefined) {
    if (other.priceLike !== undefined) return priceLike(context, other, seen)
    const [first] = other.targets
    return other.price ?? (first === undefined ? undefined : context.knownOf(first).price)
  }
  const slash = name.indexOf('/')
  if (slash < 0) return undefined
  const reference = { provider: name.slice(0, slash), model: name.slice(slash + 1) }
  // It may name a price list, such as openai/gpt-5: no provider has that name, or the one that does has no such price.
  return context.knownOf(reference).price ?? context.knownOf({ ...reference, isList: true }).price
}

type Known = {
  readonly kind?: ModelKind | undefined
  readonly price?: Price | undefined
  readonly context?: number | undefined
  readonly maxOutput?: number | undefined
  readonly abilities: Abilities
  readonly imageTokens: number
  readonly changesAt?: number | null | undefined
  readonly alsoKnownAs?: readonly string[]
}

/** What is known about a provider's model apart from the configuration. */
function lookUp(parts: CatalogParts, providers: Context['providers'], reference: Reference): Known {
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

/** What is known about an entry's own target: by its name, or if the operator chose that name, by its other names. */
function knownOfOwn(context: Context, entry: ModelEntry, target: TargetEntry): Known {
  const known = context.knownOf(target)
  const provider = context.providers.get(target.provider)
  if (provider?.hasFreeNames !== true || factsOf(target.model) !== undefined) return known
  const alsoKnownAs = otherNames(context, entry)
  const facts = alsoKnownAs.map(factsOf).find((each) => each !== undefined)
  return { ...known, ...facts, alsoKnownAs }
}

/** The name of the model in price_like, and the public name. */
function otherNames({ entries }: Context, { id, priceLike: like }: ModelEntry): readonly string[] {
  if (like === undefined) return [id]
  const [first] = entries.get(like)?.targets ?? []
  return [first?.model ?? like.slice(like.indexOf('/') + 1), id]
}

function kindOf(context: Context, entry: ModelEntry): ModelKind {
  if (entry.kind !== undefined) return entry.kind
  const kinds = entry.targets.flatMap((target) => knownOfOwn(context, entry, target).kind ?? [])
  return kinds[0] ?? 'chat'
}

/** True if every target has it, false if any lacks it, else unknown; the operator's setting overrides. */
function abilitiesOf(context: Context, entry: ModelEntry): Abilities {
  const known = entry.targets.map((target) => knownOfOwn(context, entry, target).abilities)
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
