// Rules between settings, which no single value can break.
import { isDeepStrictEqual } from 'node:util'
import { SANDBOX } from '../core/limits.ts'
import { mainModels } from '../catalog/model-facts.ts'
import { targetName } from '../catalog/models.ts'
import { priceFrom } from '../catalog/prices.ts'
import { closest } from '../core/text.ts'
import { adapterOf } from '../providers/adapters.ts'
import type { ProviderSettings } from '../providers/adapters.ts'
import { sqlitePath } from '../store/database/url.ts'
import { pathOf } from './problems.ts'
import type { Path, Problem } from './problems.ts'
import type { FileSettings, ModelSettings } from './schema.ts'

/** `providerNames` are all in the file, valid or not. */
export function crossCheck(
  settings: FileSettings,
  providerNames: ReadonlySet<string>,
): readonly Problem[] {
  const { sandbox, models = {} } = settings
  const known = sandbox ? new Set([...providerNames, SANDBOX]) : providerNames
  return [
    ...checkWorkers(settings),
    ...checkListeners(settings),
    ...checkMail(settings),
    ...checkProviders(settings),
    ...Object.entries(models).flatMap(([id, model]) => checkModel(known, id, model)),
    ...checkAgreement(settings),
  ]
}

function checkWorkers({ server, database }: FileSettings): readonly Problem[] {
  if (server.workers === 1 || sqlitePath(database) === undefined) return []
  const message =
    'must be 1 with SQLite, which has one serving process: several workers need PostgreSQL'
  return [{ path: 'server.workers', message }]
}

function checkListeners({ server, admin: { listen } }: FileSettings): readonly Problem[] {
  if (listen === 'same' || listen.port !== server.port || listen.host !== server.host) return []
  // Port 0 means any free port: the two will differ.
  if (listen.port === 0) return []
  return [{ path: 'admin.listen', message: 'is where the server itself listens: set it to same' }]
}

/** Whoever asks for a link could name any host; mailed there, it would hand an account to whoever owns that host. */
function checkMail({ admin: { smtp, publicUrl } }: FileSettings): readonly Problem[] {
  if (smtp === undefined || publicUrl !== undefined) return []
  const message =
    'is missing: links in mails begin with it, so set it to where people reach the interface'
  return [{ path: 'admin.public_url', message }]
}

function checkProviders(settingsOfAll: FileSettings): readonly Problem[] {
  const { providers = {} } = settingsOfAll
  const named = namesIn(settingsOfAll)
  return Object.entries(providers).flatMap(([name, settings]) => {
    const path = ['providers', name]
    if (name === SANDBOX) {
      const message = 'is the name of the provider that ships with Tollgate: choose another one'
      return [{ path: pathOf(path), message }]
    }
    const called = named ?? mainTargets(name, settings)
    const wrong = [...checkFigures(path, settings.models), ...checkNames(name, settings, called)]
    const missing = adapterOf(settings).missing(settings)
    if (missing?.is !== 'absent') return wrong
    const message = 'is missing: set it, preferably as ${VARIABLE} or file:/path'
    return [{ path: pathOf([...path, missing.setting]), message }, ...wrong]
  })
}

function checkFigures(path: Path, models: ProviderSettings['models']): readonly Problem[] {
  return Object.entries(models).flatMap(([model, figures]) => {
    const problems: Problem[] = []
    const refuse: Refuse = (where, message) => {
      problems.push({ path: pathOf([...path, 'models', model, ...where]), message })
    }
    if (figures.price !== undefined && figures.discount !== undefined) {
      refuse(['discount'], 'contradicts price: it is taken off list prices, so keep one of the two')
    }
    checkPrice(figures, refuse, 'for a model that only embeds, write 0')
    checkLimits(figures, refuse)
    return problems
  })
}

/** Every PROVIDER/MODEL that the entries name, and whatever something costs as much as; undefined: there are no entries. */
function namesIn({ providers = {}, models }: FileSettings): ReadonlySet<string> | undefined {
  if (models === undefined) return undefined
  const entries = Object.values(models)
  const targets = entries.flatMap((entry) => [...entry.targets, ...entry.fallbacks])
  const figures = Object.values(providers).flatMap((each) => Object.values(each.models))
  return new Set([
    ...targets.map(({ provider, model }) => targetName(provider, model)),
    ...[...entries, ...figures].flatMap(({ priceLike }) => priceLike ?? []),
  ])
}

/** What a provider serves where the file has no entries. */
function mainTargets(name: string, settings: ProviderSettings): ReadonlySet<string> {
  const vendor = adapterOf(settings).vendor(settings)
  return new Set(vendor === null ? [] : mainModels(vendor).map((model) => targetName(name, model)))
}

/** Figures of a model that nobody can call are those of another one, mistyped. */
function checkNames(
  provider: string,
  { models }: ProviderSettings,
  called: ReadonlySet<string>,
): readonly Problem[] {
  const others = [...called].flatMap((name) =>
    name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : [],
  )
  return Object.keys(models).flatMap((model) => {
    if (called.has(targetName(provider, model))) return []
    const meant = closest(model.slice(0, NAME_CHARACTERS_MAX), others)
    const question = meant === undefined ? '' : `did you mean ${meant}? `
    const message = `is no model that is called: ${question}No target or fallback is ${targetName(provider, model)}`
    return [{ path: pathOf(['providers', provider, 'models', model]), message }]
  })
}

const NAME_CHARACTERS_MAX = 100

function checkModel(
  providers: ReadonlySet<string>,
  id: string,
  model: ModelSettings,
): readonly Problem[] {
  const problems: Problem[] = []
  const refuse: Refuse = (where, message) => {
    problems.push({ path: pathOf(['models', id, ...where]), message })
  }
  if (id.startsWith(`${SANDBOX}-`)) {
    refuse([], 'begins with sandbox-, which is reserved for the sandbox: choose another name')
  }
  checkTargets(providers, model, refuse)
  checkPrice(
    model,
    refuse,
    model.kind === 'embedding' ? null : 'only a model with kind: embedding has no output',
  )
  checkLimits(model, refuse)
  return problems
}

/** Records what is wrong inside the model. */
type Refuse = (where: Path, message: string) => void

function checkTargets(providers: ReadonlySet<string>, model: ModelSettings, refuse: Refuse): void {
  for (const role of ['targets', 'fallbacks'] as const) {
    const seen = new Set<string>()
    for (const [index, { provider, model: name }] of model[role].entries()) {
      const target = targetName(provider, name)
      if (!providers.has(provider)) {
        refuse([role, index], `names the provider ${provider}, which is not under providers`)
      } else if (seen.has(target)) {
        refuse([role, index], `names ${target} twice: for a larger share, set a weight`)
      }
      seen.add(target)
    }
  }
}

type Priced = Pick<ModelSettings, 'price' | 'priceLike'>

function checkPrice({ price, priceLike }: Priced, refuse: Refuse, without: string | null): void {
  if (price !== undefined && priceLike !== undefined) {
    refuse(['price_like'], 'contradicts price: keep one of the two')
  }
  if (without !== null && typeof price === 'object' && price.output === undefined) {
    refuse(['price', 'output'], `is missing: ${without}`)
  }
}

type Limited = Pick<ModelSettings, 'context' | 'maxOutput'> & { readonly defaultOutput?: unknown }

function checkLimits({ context, maxOutput, defaultOutput }: Limited, refuse: Refuse): void {
  if (maxOutput !== undefined && maxOutput > (context ?? Infinity)) {
    refuse(['max_output'], 'cannot be larger than context')
  }
  if (typeof defaultOutput === 'number' && defaultOutput > (maxOutput ?? Infinity)) {
    refuse(['default_output'], 'cannot be larger than max_output')
  }
}

/** What entries say about their targets, each with the words for it. */
const STATEMENTS = [
  {
    of: ({ price, priceLike }: Priced) => (price === undefined ? priceLike : priceFrom(price)),
    at: ({ price }: Priced) => (price === undefined ? 'price_like' : 'price'),
    setting: 'price',
  },
  { of: ({ context }: Limited) => context, at: () => 'context', setting: 'context' },
  { of: ({ maxOutput }: Limited) => maxOutput, at: () => 'max_output', setting: 'max_output' },
] as const

/** A target costs and takes the same under every name, so two entries must not say different things about it. */
function checkAgreement({ providers = {}, models = {} }: FileSettings): readonly Problem[] {
  return STATEMENTS.flatMap(({ of, at, setting }) => {
    const first = new Map<string, { readonly said: unknown; readonly path: string }>()
    return Object.entries(models).flatMap(([id, model]) => {
      const said = of(model)
      if (said === undefined) return []
      const path = pathOf(['models', id, at(model)])
      return model.targets.flatMap(({ provider, model: name }) => {
        const settings = providers[provider]
        // What cannot be read, or is wrong itself, may say it.
        if (settings === undefined && provider !== SANDBOX) return []
        const figures = settings?.models[name]
        // What is said about the provider's model itself settles it.
        if (figures !== undefined && of(figures) !== undefined) return []
        const target = targetName(provider, name)
        const other = first.get(target)
        if (other === undefined) first.set(target, { said, path })
        if (other === undefined || isDeepStrictEqual(other.said, said)) return []
        const place = pathOf(['providers', provider, 'models', name, setting])
        const message = `contradicts ${other.path}: both are about ${target}, so say the same in both, or say it once as ${place}`
        return [{ path, message }]
      })
    })
  })
}
