// Builds the catalogue from the operator's configuration, the sandbox's models, the price data and the built-in facts.
// Pure: the time and the price data are arguments, so the same parts make the same catalogue.
import { ABILITIES } from '../core/endpoints.ts'
import type { Ability, ModelKind } from '../core/endpoints.ts'
import { defined } from '../core/json.ts'
import { SANDBOX } from '../core/limits.ts'
import { mainModels } from './model-facts.ts'
import { targetName } from './models.ts'
import type {
  Abilities,
  Catalog,
  LeftOut,
  Model,
  ModelEntry,
  Target,
  TargetEntry,
  Timeouts,
} from './models.ts'
import type { Price } from './prices.ts'
import { TargetFacts } from './target-facts.ts'
import type { CatalogParts } from './target-facts.ts'

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
function resolveTarget(targetFacts: TargetFacts, question: TargetReference): Target | Unusable {
  const { entry, kind, target, role } = question
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
    return { because: 'target', reason: `${like}: ${mend(question, {})}` }
  }
  const window = stated.context ?? known.context
  const maxOutput = stated.maxOutput ?? known.maxOutput ?? (kind === 'embedding' ? 0 : undefined)
  if (price === undefined || window === undefined || maxOutput === undefined) {
    return { because: 'target', reason: lacking(question, { price, window, maxOutput }) }
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
function lacking(question: TargetReference, facts: Facts): string {
  const { provider, model } = question.target
  const name = targetName(provider, model)
  if (provider === SANDBOX) return `${name} is no model of the sandbox`
  const unknown = [
    ...(facts.price === undefined ? ['price'] : []),
    ...(facts.window === undefined ? ['context window'] : []),
    ...(facts.maxOutput === undefined ? ['output limit'] : []),
  ]
  const list = [unknown.slice(0, -1).join(', '), unknown.at(-1)].filter(Boolean).join(' or ')
  return `${name} has no known ${list}: ${mend(question, facts)}`
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
