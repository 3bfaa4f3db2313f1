// The configuration of Tollgate that an import is about to write: its providers, models and other settings, each with
// remarks for the operator; and whether Tollgate would accept it and serve its models, by the same checks as
// `tollgate check`, with placeholders for what only the environment knows.
import { isDeepStrictEqual } from 'node:util'
import { targetName, type Catalog, type Model } from '../catalog/models.ts'
import { bundledPrices } from '../catalog/price-data.ts'
import { catalogOf } from '../config/catalog-of.ts'
import { crossCheck } from '../config/cross-check.ts'
import { toEntry } from '../config/load.ts'
import { problemsOf, type Problem } from '../config/problems.ts'
import { file } from '../config/schema.ts'
import { isObject } from '../core/json.ts'
import { priceListOf, providerSettings } from '../providers/adapters.ts'
import type { Deployment, Timeouts } from './deployments.ts'
import type { Setting } from './source.ts'

/** What is said about a provider's model, under `providers.NAME.models`. */
export type Figures = {
  readonly price?: 'free' | Readonly<Record<string, number>>
  readonly price_like?: string
  readonly context?: number
  readonly max_output?: number
}

export type TargetDraft = {
  readonly provider: string
  readonly model: string
  readonly weight: number
  readonly timeouts: Timeouts
}

export type ModelDraft = {
  /** Where LiteLLM's configuration has it. */
  readonly from: Setting
  readonly kind: Deployment['kind']
  readonly targets: readonly TargetDraft[]
  readonly fallbacks: readonly TargetDraft[]
  readonly defaultOutput: number | null
  readonly abilities: Readonly<Record<string, boolean>>
  readonly remarks: readonly string[]
}

type ProviderDraft = {
  settings: Readonly<Record<string, unknown>>
  readonly models: Map<string, { figures: Figures; remarks: readonly string[] }>
  readonly remarks: readonly string[]
}

/** Settings that open something. */
const SECRETS = ['api_key', 'secret_access_key', 'session_token', 'client_secret', 'credentials']

/** Whether it is written out, and not taken from a variable or a file. */
function isPlainSecret(name: string, value: unknown): value is string {
  return SECRETS.includes(name) && typeof value === 'string' && !/^(file:|\$\{)/.test(value)
}

/** The names of the secrets that are written out. */
export function plainSecrets({ settings }: ProviderDraft): readonly string[] {
  const entra = isObject(settings['entra']) ? settings['entra'] : {}
  return Object.entries({ ...settings, ...entra }).flatMap(([name, value]) =>
    isPlainSecret(name, value) ? [name] : [],
  )
}

/** The same without secrets, to be shown. */
export function masked(draft: Draft): Draft {
  const mask = (settings: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(settings).map(([name, value]: [string, unknown]) => {
        if (isObject(value)) return [name, mask(value)]
        return [name, isPlainSecret(name, value) ? '…' : value]
      }),
    )
  const providers = [...draft.providers].map(
    ([name, each]) => [name, { ...each, settings: mask(each.settings) }] as const,
  )
  return { ...draft, providers: new Map(providers) }
}

/** What an import writes. */
export type Draft = {
  /** Sections apart from providers and models, with remarks by their names. */
  readonly sections: Readonly<Record<string, unknown>>
  readonly sectionRemarks: ReadonlyMap<string, string>
  readonly providers: ReadonlyMap<string, ProviderDraft>
  readonly models: ReadonlyMap<string, ModelDraft>
}

type Stated = {
  readonly figures: Figures
  readonly remarks: readonly string[]
}

/** The providers of a draft: deployments with the same credentials share one, unless they say different things. */
export class ProviderSections {
  readonly sections = new Map<string, ProviderDraft>()

  /** Where the deployment goes. */
  place(deployment: Deployment, { figures, remarks }: Stated): TargetDraft {
    const { vendor, settings, detail = '', target: model, notes = [], timeouts } = deployment
    const fits = ({ settings: others, models }: ProviderDraft): boolean => {
      const said = models.get(model)
      return (
        isDeepStrictEqual(strict(others), strict(settings)) &&
        (said === undefined || isDeepStrictEqual(said.figures, figures))
      )
    }
    const [known] = [...this.sections].find(([, section]) => fits(section)) ?? []
    const provider = known ?? this.#newName(vendor.name, detail)
    const before = this.sections.get(provider)
    const section = before ?? { settings, models: new Map(), remarks: notes }
    // One that is written there must be set; one that LiteLLM falls back to may be missing.
    if (before !== undefined && isDeepStrictEqual(strict(settings), settings)) {
      before.settings = settings
    }
    this.sections.set(provider, section)
    if (!section.models.has(model)) section.models.set(model, { figures, remarks })
    return { provider, model, weight: 1, timeouts }
  }

  #newName(vendor: string, detail: string): string {
    const plain = detail
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]+/g, '-')
      .slice(0, 40)
    const full = plain === '' || plain === vendor ? vendor : `${vendor}-${plain}`
    const names = [vendor, full.replace(/-+$/, '')]
    const free = names.find((name) => !this.sections.has(name) && name !== 'sandbox')
    if (free !== undefined) return free
    let count = 2
    while (this.sections.has(`${full}-${count}`)) count++
    return `${full}-${count}`
  }
}

/** With variables that must be set. */
function strict(settings: ProviderDraft['settings']): ProviderDraft['settings'] {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace(/^(\$\{\w+):-\}$/, '$1}') : value,
    ]),
  )
}

/** Targets that come twice are one, with both shares. */
export function merged(targets: readonly TargetDraft[]): readonly TargetDraft[] {
  const byName = new Map<string, TargetDraft>()
  for (const target of targets) {
    const name = targetName(target.provider, target.model)
    const before = byName.get(name)
    const weight = Math.min(1_000, (before?.weight ?? 0) + target.weight)
    byName.set(name, { ...(before ?? target), weight })
  }
  return [...byName.values()]
}

/** The draft as a configuration file says it. */
export function documentOf({ sections, providers, models }: Draft): Record<string, unknown> {
  return {
    ...sections,
    ...(providers.size > 0 && {
      providers: Object.fromEntries(
        [...providers].map(([name, provider]) => [name, providerDocument(provider)]),
      ),
    }),
    ...(models.size > 0 && {
      models: Object.fromEntries([...models].map(([id, model]) => [id, modelDocument(model)])),
    }),
  }
}

function providerDocument({ settings, models }: ProviderDraft): Record<string, unknown> {
  const said = [...models].filter(([, { figures }]) => Object.keys(figures).length > 0)
  const stated = Object.fromEntries(said.map(([model, { figures }]) => [model, figures]))
  return { ...settings, ...(said.length > 0 && { models: stated }) }
}

function modelDocument(model: ModelDraft): Record<string, unknown> {
  const { kind, targets, fallbacks, defaultOutput, abilities } = model
  const isSplit = new Set(targets.map(({ weight }) => weight)).size > 1
  return {
    ...(kind === 'embedding' && { kind }),
    targets: targets.map((target) => targetDocument(target, isSplit)),
    ...(fallbacks.length > 0 && {
      fallbacks: fallbacks.map((target) => targetDocument(target, false)),
    }),
    ...(defaultOutput !== null && { default_output: defaultOutput }),
    ...(Object.keys(abilities).length > 0 && { abilities }),
  }
}

function targetDocument({ provider, model, weight, timeouts }: TargetDraft, isSplit: boolean) {
  const to = targetName(provider, model)
  const hasTimeouts = Object.keys(timeouts).length > 0
  if (!isSplit && !hasTimeouts) return to
  return { to, ...(isSplit && { weight }), ...(hasTimeouts && { timeouts }) }
}

// Whether Tollgate would accept a draft and serve its models: by the same checks as `tollgate check`, with placeholders
// for what only the environment knows.

type Verdict = {
  readonly problems: readonly Problem[]
  /** Null: the draft is not valid. */
  readonly catalog: Catalog | null
}

export function verify(draft: Draft, now: number): Verdict {
  const document = filled(documentOf(draft))
  const { data, error } = file.safeParse(document)
  if (data === undefined) return { problems: problemsOf(error, []), catalog: null }
  const { providers = {}, models = {}, sandbox } = data
  const problems = crossCheck(data, new Set(Object.keys(providers)))
  if (problems.length > 0) return { problems, catalog: null }
  const named = Object.entries(providers).map(([name, settings]) => ({ ...settings, name }))
  const entries = Object.entries(models).map(([id, model]) => toEntry(id, model))
  const config = { providers: named, leftOut: new Map(), keyless: [], models: entries, sandbox }
  return { problems: [], catalog: catalogOf(config, { sandbox: [], now }) }
}

type Unserved = {
  readonly model: string
  /** PROVIDER/MODEL */
  readonly target: string
  readonly reason: string
}

/** Targets that would not be served, with what is missing. */
export function unservedIn(draft: Draft, models: readonly Model[]): readonly Unserved[] {
  return models.flatMap(({ id, leftOut }) =>
    leftOut.flatMap(({ role, index, reason }) => {
      const target = draft.models.get(id)?.[role][index]
      if (target === undefined) return []
      return [{ model: id, target: targetName(target.provider, target.model), reason }]
    }),
  )
}

/** Whether the price data has a price for a provider's model, under its own name. */
export function isPricedHere(
  settings: Readonly<Record<string, unknown>>,
  model: string,
  now: number,
): boolean {
  const { data } = providerSettings.safeParse(filled(settings))
  const list = data === undefined ? null : priceListOf(data)
  return list !== null && bundledPrices({ list, model, now }) !== undefined
}

const SOMEWHERE = 'https://set-by-a-variable.invalid/v1'

/** Variables and files hold what they hold when the gateway starts. */
function filled(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (!/^file:|(?<!\$)\$\{/.test(value)) return value
    if (name === 'base_url') return SOMEWHERE
    return name === 'credentials' ? '' : 'set-by-a-variable'
  }
  if (Array.isArray(value)) return value.map((each) => filled(each))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, key)]))
}
