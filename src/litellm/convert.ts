// From a LiteLLM configuration to one of Tollgate: reads everything, drafts it, checks the draft as `tollgate check`
// would, and takes out what could not be served. Every setting ends up taken over, needless or named.
import { factsOf, mainModels } from '../catalog/model-facts.ts'
import { targetName, type Catalog } from '../catalog/models.ts'
import { bundledPrices } from '../catalog/price-data.ts'
import { PRICE_LISTS } from '../config/catalog-of.ts'
import { counterpartOf, type Section } from './counterparts.ts'
import { readDeployment, weightsOf, type Deployment } from './deployments.ts'
import {
  isPricedHere,
  merged,
  ProviderSections,
  type Draft,
  type Figures,
  type ModelDraft,
  type TargetDraft,
  unservedIn,
  verify,
} from './draft.ts'
import { Findings, Params, type Summary } from './findings.ts'
import { readAliases, readFallbacks, readSections, type Adjustments } from './sections.ts'
import { ImportError, placeOf, readSource, type Setting } from './source.ts'
import { completed, isPriced, type PriceData, type TokenPrices, writtenPrice } from './units.ts'

export type Conversion = {
  readonly file: string
  readonly draft: Draft
  readonly catalog: Catalog
  readonly summary: Summary
  /** What LiteLLM charges for each target that was taken over, by PROVIDER/MODEL. */
  readonly theirPrices: ReadonlyMap<string, TokenPrices>
  /** The public names of each access group, which allowlists there may name. */
  readonly accessGroups: ReadonlyMap<string, readonly string[]>
}

type ConvertOptions = {
  readonly prices: PriceData | null
  readonly now: number
}

/** Throws an ImportError with everything that keeps it from being read. */
export function convert(path: string, { prices, now }: ConvertOptions): Conversion {
  const sections = readSource(path)
  const findings = new Findings()
  const entries = modelList(sections.get('model_list'), findings)
  const credentials = credentialList(sections.get('credential_list'), findings)
  const include = sections.get('include')
  if (include !== undefined) findings.take(include)
  const deployments = entries.flatMap(
    (entry) => readDeployment({ findings, credentials }, entry) ?? [],
  )
  const adjustments = readSections(sections, findings)
  const conversion = new Converter({ findings, sections, prices, now, adjustments })
  const { draft, catalog, theirPrices, accessGroups } = conversion.run(deployments)
  nameTheRest(findings, sections)
  const summary = findings.summary(sections.values(), unknownSetting)
  const file = sections.values().next().value?.file ?? path
  return { file, draft, catalog, summary, theirPrices, accessGroups }
}

/** The entries that name a model and what serves it. */
function modelList(list: Setting | undefined, findings: Findings): readonly Setting[] {
  if (list === undefined || (list.value === null && list.items === null && !list.members)) return []
  if (list.items === null) throw new ImportError([`${placeOf(list)} must be a list of models`])
  return list.items.filter((entry) => {
    const name = entry.members?.get('model_name')?.text
    const model = entry.members?.get('litellm_params')?.members?.get('model')?.text
    const missing = name ? (model ? null : 'litellm_params.model') : 'model_name'
    if (missing !== null) findings.leave(entry, `has no ${missing}, so nothing can serve it`)
    return missing === null
  })
}

function credentialList(
  list: Setting | undefined,
  findings: Findings,
): ReadonlyMap<string, Setting> {
  const credentials = new Map<string, Setting>()
  for (const { members } of list?.items ?? []) {
    const name = members?.get('credential_name')
    const values = members?.get('credential_values')
    const info = members?.get('credential_info')
    if (info !== undefined) findings.needless(info, 'says nothing about how to sign in')
    if (name === undefined || values === undefined) continue
    findings.take(name)
    credentials.set(name.text, values)
  }
  return credentials
}

const SECTIONS: readonly Section[] = ['litellm_settings', 'router_settings', 'general_settings']

/** What nothing has read: by the table. */
function nameTheRest(findings: Findings, sections: ReadonlyMap<string, Setting>): void {
  for (const [name, section] of sections) {
    const row = counterpartOf('top', name)
    if (row?.is === 'left') findings.leave(section, row.here)
    const within = SECTIONS.find((each) => each === name)
    for (const [inner, setting] of (within && section.members) || []) {
      const known = within && counterpartOf(within, inner)
      if (findings.isSettled(setting)) continue
      if (setting.value === false) findings.needless(setting, 'is off')
      else if (known?.is === 'needless') findings.needless(setting, known.here)
      else if (known?.is === 'left') findings.leave(setting, known.here)
    }
  }
}

function unknownSetting({ path }: Setting): string {
  return path.startsWith('credential_list')
    ? 'is not used by any model that was taken over'
    : 'is not known, or not as it is written here'
}

type Surroundings = {
  readonly findings: Findings
  readonly sections: ReadonlyMap<string, Setting>
  readonly prices: PriceData | null
  readonly now: number
  readonly adjustments: Adjustments
}

class Converter {
  readonly #with: Surroundings
  readonly #providers = new ProviderSections()
  readonly #models = new Map<string, ModelDraft>()
  readonly #publicNames = new Set<string>()
  readonly #theirPrices = new Map<string, TokenPrices>()
  /** By target: the deployments that became it. */
  readonly #origins = new Map<string, Deployment>()
  readonly #removed: { readonly id: string; readonly target: string; readonly reason: string }[] =
    []

  constructor(surroundings: Surroundings) {
    this.#with = surroundings
  }

  run(deployments: readonly Deployment[]) {
    const all = deployments.flatMap((each) => this.#withoutWildcard(each, deployments))
    for (const { publicName } of all) this.#publicNames.add(publicName)
    for (const [name, group] of Map.groupBy(all, ({ publicName }) => publicName)) {
      this.#models.set(name, this.#modelOf(group))
    }
    this.#addAliases()
    this.#addFallbacks()
    const { draft, catalog } = this.#settle()
    const groups = all.flatMap(({ publicName, accessGroups }) =>
      accessGroups.map((group) => [group, publicName] as const),
    )
    const byGroup = Map.groupBy(
      groups.filter(([, name]) => draft.models.has(name)),
      ([group]) => group,
    )
    const accessGroups = new Map(
      [...byGroup].map(([group, pairs]) => [group, [...new Set(pairs.map(([, name]) => name))]]),
    )
    return { draft, catalog, theirPrices: this.#theirPrices, accessGroups }
  }

  /** `openai/*` means every model of the provider: here, those that Tollgate knows of it. */
  #withoutWildcard(deployment: Deployment, all: readonly Deployment[]): readonly Deployment[] {
    const { publicName, target, vendor, entry, settings } = deployment
    if (!`${publicName}${target}`.includes('*')) return [deployment]
    const isPlain = settings['base_url'] === undefined || vendor.isLocal === undefined
    if (vendor.maker === undefined || !target.endsWith('*') || !isPlain) {
      this.#with.findings.leave(entry, 'means every model of a provider: here each has its name')
      return []
    }
    const taken = new Set(all.map((each) => each.publicName))
    const pattern = publicName.includes('*') ? publicName : '*'
    return mainModels(vendor.maker)
      .map((model) => ({
        ...deployment,
        publicName: pattern.replace('*', model),
        target: model,
        theirName: model,
        notes: [...(deployment.notes ?? [])],
        kind: null,
      }))
      .filter((each) => !taken.has(each.publicName))
  }

  #modelOf(group: readonly Deployment[]): ModelDraft {
    const first = group.reduce((least, { order }) => Math.min(least, order), Infinity)
    const front = group.filter(({ order }) => order === first)
    const back = group
      .filter(({ order }) => order !== first)
      .toSorted((one, other) => one.order - other.order)
    const { weights, remark } = weightsOf(front, this.#with.findings)
    const placed = front.map((each) => this.#place(each))
    const targets = placed.flatMap((target, index) => {
      const weight = weights[index] ?? 1
      return weight === 0 ? [] : [{ ...target, weight }]
    })
    const idle = placed.filter((_, index) => weights[index] === 0)
    const [{ entry, kind } = {}] = group
    if (entry === undefined) throw new Error('a group of deployments is never empty')
    const outputs = group.flatMap(({ defaultOutput }) => defaultOutput ?? [])
    const isWild = group.some(({ entry: { members } }) =>
      members?.get('model_name')?.text.includes('*'),
    )
    return {
      from: entry,
      kind: kind ?? null,
      targets: merged(targets),
      fallbacks: merged([...idle, ...back.map((each) => this.#place(each))]),
      defaultOutput: outputs.length === 0 ? null : Math.min(...outputs),
      abilities: Object.assign({}, ...group.map(({ abilities }) => abilities)) as Record<
        string,
        boolean
      >,
      remarks: [
        ...(remark === null ? [] : [remark]),
        ...(back.length > 0 ? ['fallbacks: the deployments of a later order'] : []),
        ...(isWild ? ['one of the models that a wildcard stands for there'] : []),
      ],
    }
  }

  #place(deployment: Deployment): TargetDraft {
    const { discountOf } = this.#with.adjustments
    const settings = { ...deployment.settings, ...discountOf(deployment.prefix) }
    const stated = this.#figuresOf(deployment)
    const target = this.#providers.place({ ...deployment, settings }, stated)
    const name = targetName(target.provider, target.model)
    this.#origins.set(name, deployment)
    const theirs = this.#theirs(deployment)
    if (isPriced(theirs)) this.#theirPrices.set(name, theirs)
    return target
  }

  #theirs(deployment: Deployment): TokenPrices {
    return completed(deployment.prices, this.#with.prices?.(namesOf(deployment))?.prices)
  }

  /** What the operator said about the model, and what LiteLLM takes its price from. */
  #figuresOf(deployment: Deployment) {
    const { now, adjustments } = this.#with
    const { prices, context, maxOutput, settings, target, kind } = deployment
    const limits = {
      ...(context !== null && { context }),
      ...(maxOutput !== null && { max_output: Math.min(maxOutput, context ?? Infinity) }),
    }
    if (isPriced(prices)) {
      const all = this.#theirs(deployment)
      const isWhole = all.input !== null && (all.output !== null || kind === 'embedding')
      if (isWhole) {
        const factor = adjustments.factorOf(deployment.prefix)
        return { figures: { price: writtenPrice(all, factor), ...limits }, remarks: [] }
      }
      this.#leavePrices(deployment)
    }
    const like = this.#priceLike(deployment)
    if (
      like === undefined ||
      (deployment.baseModel === null && isPricedHere(settings, target, now))
    ) {
      return { figures: limits, remarks: [] }
    }
    const remark = `costs what ${like} costs, as LiteLLM ${deployment.baseModel === null ? 'takes it' : 'is told'}`
    return { figures: { price_like: like, ...limits }, remarks: [remark] }
  }

  #leavePrices({ entry }: Deployment): void {
    const sections = ['litellm_params', 'model_info'].map(
      (name) => entry.members?.get(name)?.members,
    )
    const params = new Params(this.#with.findings, sections)
    for (const name of ['input_cost_per_token', 'output_cost_per_token']) {
      params.leave(name, 'is half of a price; the other half is in LiteLLM’s data: see --prices')
    }
  }

  /** Another model whose price the data has: the one that LiteLLM is told, or that the name says. */
  #priceLike({ baseModel, vendor, target, publicName, prefix }: Deployment): string | undefined {
    const { list = '' } = vendor
    const told = baseModel
      ?.replace(/^(azure|openai|azure_ai)\//, '')
      .replace(/^(eu|us|global)\//, '')
    const names = [told, target, ...(prefix === 'azure' ? [publicName] : [])]
    const isKnown = (model: string): boolean => {
      const id = PRICE_LISTS.get(list)
      return (
        id !== undefined && bundledPrices({ list: id, model, now: this.#with.now }) !== undefined
      )
    }
    const found = names.find((name) => name !== undefined && isKnown(name))
    if (found === undefined) return undefined
    // A model of that name would be meant first; Azure's list has OpenAI's models at the same prices.
    const like = `${list}/${found}`
    return list === 'openai' && this.#publicNames.has(like) ? `azure/${found}` : like
  }

  #addAliases(): void {
    const { findings, sections } = this.#with
    for (const { alias, to, setting } of readAliases(sections, findings)) {
      const model = this.#models.get(to)
      const taken = this.#models.get(alias)
      if (taken !== undefined) {
        const other = `${taken.from.file}:${taken.from.line}`
        throw new ImportError([
          `${placeOf(setting)} gives the name ${alias} to ${to}, and ${other} has a model of that name: rename one of them`,
        ])
      }
      if (model === undefined) {
        findings.leave(setting, `names ${to}, which is no model that was taken over`)
        continue
      }
      findings.take(setting)
      this.#models.set(alias, { ...model, from: setting, remarks: [`another name of ${to}`] })
    }
  }

  #addFallbacks(): void {
    const { findings, sections } = this.#with
    const { own, general } = readFallbacks(sections, findings)
    for (const { from, to, setting } of own) {
      const model = this.#models.get(from)
      if (model === undefined) {
        findings.leave(setting, `names ${from}, which is no model that was taken over`)
        continue
      }
      const missing = to.filter((name) => !this.#models.has(name))
      if (missing.length > 0) {
        findings.leave(
          setting,
          `names ${missing.join(', ')}, which is no model that was taken over`,
        )
      } else findings.take(setting)
      this.#models.set(from, this.#withFallbacks(model, to))
    }
    const named = new Set(own.map(({ from }) => from))
    for (const [name, model] of general.length === 0 ? [] : this.#models) {
      if (!named.has(name)) this.#models.set(name, this.#withFallbacks(model, general))
    }
  }

  #withFallbacks(model: ModelDraft, names: readonly string[]): ModelDraft {
    const has = new Set(model.targets.map(({ provider, model: of }) => targetName(provider, of)))
    const added = names
      .flatMap((name) => this.#models.get(name) ?? [])
      .filter(({ kind }) => (kind === 'embedding') === (model.kind === 'embedding'))
      .flatMap(({ targets }) => targets)
      .filter(({ provider, model: of }) => !has.has(targetName(provider, of)))
    return { ...model, fallbacks: merged([...model.fallbacks, ...added]) }
  }

  /** Fills in what LiteLLM's data knows, then takes out what still could not be served. */
  #settle(): { readonly draft: Draft; readonly catalog: Catalog } {
    const { now } = this.#with
    for (let round = 0; ; round++) {
      const draft = this.#draft()
      const { problems, catalog } = verify(draft, now)
      if (catalog === null) {
        for (const { path, message } of problems) this.#takeOut(path, message)
        if (round > 20) throw new Error(`the draft stays wrong: ${problems[0]?.path}`)
        continue
      }
      const unserved = unservedIn(draft, catalog.list())
      if (unserved.length === 0) {
        this.#nameRemoved()
        return { draft, catalog }
      }
      for (const { model, target, reason } of unserved) {
        if (round > 0 || !this.#fill(target)) this.#removeTarget(model, { target, reason })
      }
    }
  }

  #draft(): Draft {
    const { sections, remarks } = this.#with.adjustments
    const used = new Set(
      [...this.#models.values()].flatMap(({ targets, fallbacks }) =>
        [...targets, ...fallbacks].map(({ provider }) => provider),
      ),
    )
    const providers = new Map([...this.#providers.sections].filter(([name]) => used.has(name)))
    return { sections, sectionRemarks: remarks, providers, models: this.#models }
  }

  /** Whether anything could be added about a target. */
  #fill(target: string): boolean {
    const origin = this.#origins.get(target)
    const [provider = '', ...rest] = target.split('/')
    const said = this.#providers.sections.get(provider)?.models.get(rest.join('/'))
    if (origin === undefined || said === undefined) return false
    const known = this.#with.prices?.(namesOf(origin))
    const figures: Figures = { ...filling(origin, known), ...said.figures }
    if (Object.keys(figures).length === Object.keys(said.figures).length) return false
    said.figures = 'price_like' in figures ? without(figures, 'price') : figures
    said.remarks = [
      ...said.remarks,
      known === undefined
        ? 'free, as there; its limits are assumed: they bound no money, so correct them'
        : 'as in LiteLLM’s price data',
    ]
    return true
  }

  #removeTarget(id: string, { target, reason }: { target: string; reason: string }): void {
    const model = this.#models.get(id)
    if (model === undefined) return
    const keep = ({ provider, model: of }: TargetDraft) => targetName(provider, of) !== target
    const targets = model.targets.filter(keep)
    const fallbacks = model.fallbacks.filter(keep)
    const [first, ...others] = targets.length > 0 ? targets : fallbacks
    this.#removed.push({ id, target, reason })
    if (first === undefined) this.#models.delete(id)
    else if (targets.length > 0) this.#models.set(id, { ...model, targets, fallbacks })
    else this.#models.set(id, { ...model, targets: [first], fallbacks: others })
    if (first === undefined && model.from !== this.#origins.get(target)?.entry) {
      this.#with.findings.leave(model.from, 'its model is not served here')
    }
  }

  /** Names what could not be served: the whole entry, unless another of its models is. */
  #nameRemoved(): void {
    const left = [...this.#models.values()].flatMap(({ targets, fallbacks }) =>
      [...targets, ...fallbacks].map(({ provider, model }) => targetName(provider, model)),
    )
    const served = new Set(left.map((name) => this.#origins.get(name)?.entry))
    for (const { target, reason } of this.#removed) {
      const entry = this.#origins.get(target)?.entry
      const model = entry?.members?.get('litellm_params')?.members?.get('model')
      const place = served.has(entry) ? model : entry
      if (place === undefined) continue
      const help = this.#with.prices === null ? '; LiteLLM’s price data may say it: --prices' : ''
      this.#with.findings.leave(place, `is not served here: ${reason}${help}`)
    }
  }

  /** A provider or model that the configuration would not accept. */
  #takeOut(path: string, message: string): void {
    const { findings } = this.#with
    const isAt = (name: string, at: string) =>
      path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`) || name === path
    const at = (section: string, name: string) =>
      `${section}.${/^[\w-]+$/.test(name) ? name : `"${name}"`}`
    for (const [name, model] of [...this.#models]) {
      const providers = [...model.targets, ...model.fallbacks].map(({ provider }) => provider)
      const isWrong = providers.some((each) => isAt(each, at('providers', each)))
      if (!isWrong && !isAt(name, at('models', name))) continue
      findings.leave(model.from, `cannot be written here: ${path} ${message}`)
      this.#models.delete(name)
    }
  }
}

/** The names under which LiteLLM's data may have it. */
function namesOf({ baseModel, theirName, target, prefix }: Deployment): readonly string[] {
  return [...(baseModel === null ? [] : [baseModel]), theirName, `${prefix}/${target}`, target]
}

function filling({ vendor, target }: Deployment, known: ReturnType<PriceData>): Figures {
  if (known !== undefined) {
    const { prices, context, maxOutput } = known
    return {
      ...(prices.input !== null && { price: writtenPrice(prices) }),
      ...(context !== null && { context }),
      ...(maxOutput !== null && { max_output: Math.min(maxOutput, context ?? maxOutput) }),
    }
  }
  if (vendor.isLocal !== true) return {}
  const limits = factsOf(target) === undefined ? { context: 131_072, max_output: 16_384 } : {}
  return { price: 'free', ...limits }
}

function without<Value extends object>(value: Value, name: keyof Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name)) as Value
}
