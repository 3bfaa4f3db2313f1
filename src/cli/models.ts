// `tollgate models`: the configured models with their prices, and which are unavailable and why; `discover` asks a
// provider what it offers, and shows what each model still needs to be used.
import type { Command } from 'commander'
import { factsOf } from '../catalog/model-facts.ts'
import { modelJson, perMillion } from '../catalog/model-json.ts'
import type { Catalog, Model } from '../catalog/models.ts'
import { bundledPrices } from '../catalog/price-data.ts'
import type { Rates } from '../catalog/prices.ts'
import { catalogOf } from '../config/catalog-of.ts'
import type { Config } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import { ABILITIES } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { closest } from '../core/text.ts'
import { makeProvider, priceListOf, type ProviderSettings } from '../providers/adapters.ts'
import { SANDBOX_MODELS } from '../providers/sandbox/models.ts'
import type { Named } from '../providers/upstream/adapter.ts'
import { common, readConfig, type CommonOptions } from './command/context.ts'
import { FailureError, UsageError } from './terminal/failure.ts'
import { printJson, printNote, printText, section, table } from './terminal/output.ts'

export function addModels(program: Command): void {
  const models = common(program.command('models'))
    .description(
      'List the models with their prices in USD per million tokens, their limits and abilities, ' +
        'and what is unavailable and why.',
    )
    .action((options: CommonOptions) => {
      const all = catalogFor(readConfig(options)).list()
      if (options.json) printJson({ models: all.map(modelJson) })
      else printText(modelsText(all))
    })
  common(models.command('discover'))
    .description('List what a configured provider offers, by asking it.')
    .argument('<PROVIDER>', 'its name in the configuration')
    .action((name: string, _options: CommonOptions, command: Command) =>
      discover(name, command.optsWithGlobals<CommonOptions>()),
    )
}

export function catalogFor(config: Config): Catalog {
  return catalogOf(config, { sandbox: SANDBOX_MODELS, now: systemClock.now() })
}

/** An allowlist may name models that do not exist yet, but a mistyped name deserves a note. */
export function unknownModels(config: Config, names: readonly string[]): readonly string[] {
  const catalog = catalogFor(config)
  return names.flatMap((name) => {
    const model = catalog.get(name)
    if (model === undefined) return [noModel(name, catalog)]
    return model.available ? [] : [`${name} is unavailable: ${model.reason}`]
  })
}

function noModel(name: string, catalog: Catalog): string {
  if (name.includes('*')) {
    return `an allowlist has no wildcards, so "${name}" allows nothing: name each model`
  }
  const known = catalog.list().map(({ id }) => id)
  const meant = closest(name, known)
  const question = meant === undefined ? '' : `did you mean "${meant}"? `
  return `there is no model "${name}" right now, so the key cannot call it yet: ${question}\`tollgate models\` lists all`
}

export function modelsText(models: readonly Model[]): string {
  const rows = table<Model>(
    models.filter(({ available }) => available),
    [
      ['MODEL', (model) => model.id],
      ['KIND', (model) => model.kind],
      ['SERVED BY', servedBy],
      ['INPUT', (model) => rate(model, 'input'), 'right'],
      ['CACHED', (model) => rate(model, 'cached'), 'right'],
      ['OUTPUT', (model) => (model.kind === 'chat' ? rate(model, 'output') : '-'), 'right'],
      ['CONTEXT', (model) => tokens(model.context), 'right'],
      ['MAX OUTPUT', (model) => (model.kind === 'chat' ? tokens(model.maxOutput) : '-'), 'right'],
      ['CANNOT', cannot],
    ],
  )
  const problems = models.flatMap(({ id, available, reason }) =>
    reason === null ? [] : [`  ${id}${available ? '' : ' is unavailable'}: ${reason}`],
  )
  return [
    rows,
    '',
    'Prices in USD per million tokens.',
    ...section('Other targets have their own prices:', models.flatMap(pricedOtherwise)),
    ...section('Less than the list price:', [...new Set(models.flatMap(discounts))]),
    ...section('All tokens of a long request cost more:', models.flatMap(dearerWhenLong)),
    ...section('Not as configured:', problems),
  ].join('\n')
}

function cannot({ kind, abilities }: Model): string {
  const missing = ABILITIES.filter((ability) => kind === 'chat' && abilities[ability] === false)
  return missing.join(', ') || '-'
}

/** The table shows the price of the first target. */
function pricedOtherwise({ id, price: first, targets, fallbacks }: Model): readonly string[] {
  return [...targets, ...fallbacks]
    .filter(({ price }) => price.version !== first?.version)
    .map(({ name, price: { rates } }) => `  ${id} at ${name}: ${ratesText(rates)}`)
}

function discounts({ targets, fallbacks }: Model): readonly string[] {
  return [...targets, ...fallbacks].flatMap(({ name, price: { discount } }) => {
    if (discount === undefined) return []
    const { input, output } = discount.list.rates
    const list = `${perMillion(input)}, output ${perMillion(output)}`
    return [`  ${name}: ${discount.millionths / 10_000} % off ${list}`]
  })
}

function dearerWhenLong({ id, price }: Model): readonly string[] {
  const tiers = price?.tiers ?? []
  return tiers.map(
    ({ aboveInputTokens, rates }) =>
      `  ${id} above ${tokens(aboveInputTokens)} input tokens: ${ratesText(rates)}`,
  )
}

function ratesText({ input, cached, output }: Rates): string {
  return `${perMillion(input)} (cached ${perMillion(cached)}), output ${perMillion(output)}`
}

/** The targets, and the fallbacks if they fail. */
function servedBy({ targets, fallbacks }: Model): string {
  const names = (of: Model['targets']): string => of.map(({ name }) => name).join(', ')
  const first = names(targets) || '-'
  return fallbacks.length === 0 ? first : `${first}, then ${names(fallbacks)}`
}

function rate({ price }: Model, name: keyof Rates): string {
  return price === null ? '-' : perMillion(price.rates[name])
}

function tokens(count: number | null): string {
  return count === null ? '-' : count.toLocaleString('en')
}

type Offer = {
  readonly id: string
  /** The public names under which it is already offered. */
  readonly models: readonly string[]
  /** What the configuration would have to add: price, context, max_output; empty if all is known. */
  readonly missing: readonly string[]
}

async function discover(name: string, options: CommonOptions): Promise<void> {
  const config = readConfig(options)
  const settings = settingsOf(config, name)
  const catalog = catalogFor(config)
  const offers = usable(await askForModels(settings)).map((id) => offerOf(id, settings, catalog))
  if (options.json) printJson({ provider: name, models: offers })
  else printText(offers.length === 0 ? `${name} lists no models.` : offersText(offers))
}

/** Far more than any provider lists. */
const MODELS_MAX = 10_000
const MODEL_NAME = /^[^\s\p{C}]{1,200}$/u

/** The names that a target can have, each once: a provider may answer anything. */
function usable(listed: readonly string[]): readonly string[] {
  const all = [...new Set(listed)]
  const names = all.filter((name) => MODEL_NAME.test(name))
  const odd = all.length - names.length
  if (odd > 0) {
    const verb = odd === 1 ? 'name is' : 'names are'
    printNote(`${odd} ${verb} left out: too long, or with spaces or unprintable characters`)
  }
  if (names.length > MODELS_MAX) {
    printNote(`it lists ${names.length} models: only the first ${MODELS_MAX} are shown`)
  }
  return names.slice(0, MODELS_MAX)
}

function settingsOf(config: Config, name: string): Named<ProviderSettings> {
  const found = config.providers.find((provider) => provider.name === name)
  if (found !== undefined) return found
  const reason = config.leftOut.get(name)
  if (reason !== undefined) throw new FailureError(`${name} cannot be asked: ${reason}`)
  const names = config.providers.map((provider) => provider.name).join(', ')
  const known = names === '' ? 'none is configured' : `the configured ones are ${names}`
  throw new UsageError(`there is no provider "${name}" to ask: ${known}`)
}

/** What a provider answers when it is asked for its models. */
export async function askForModels(
  settings: Named<ProviderSettings>,
  signal = new AbortController().signal,
): Promise<readonly string[]> {
  // Loaded here, because listing models calls nobody.
  const { HttpClient } = await import('../providers/upstream/http.ts')
  const http = new HttpClient(process.env)
  try {
    // No log: the command reports failures itself.
    const log = { error: () => {} }
    const provider = makeProvider(settings, { http, clock: systemClock, log })
    const list = provider.listModels?.(signal)
    if (list !== undefined) return await list
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
    throw new FailureError(
      `${settings.name} returned no list of models: ${error.message}${cause}; check its api_key and base_url`,
      { cause: error },
    )
  } finally {
    await http.close()
  }
  throw new FailureError(`${settings.name} offers no list of models that Tollgate can read`)
}

function offerOf(id: string, settings: Named<ProviderSettings>, catalog: Catalog): Offer {
  const list = priceListOf(settings)
  const priced =
    list === null ? undefined : bundledPrices({ list, model: id, now: systemClock.now() })
  const facts = factsOf(id)
  const serves = ({ provider, model }: { provider: string; model: string }): boolean =>
    provider === settings.name && model === id
  return {
    id,
    models: catalog.list().flatMap((model) => (model.targets.some(serves) ? model.id : [])),
    missing: [
      ...(priced === undefined ? ['price'] : []),
      ...((facts?.context ?? priced?.context ?? null) === null ? ['context'] : []),
      ...(facts === undefined ? ['max_output'] : []),
    ],
  }
}

function offersText(offers: readonly Offer[]): string {
  return table<Offer>(offers, [
    ['OFFERS', ({ id }) => id],
    ['AS', ({ models }) => models.join(', ') || '-'],
    // A model with a public name needs nothing more here: `models` shows what it may lack.
    [
      'TO CONFIGURE',
      ({ models, missing }) => (models.length > 0 ? '-' : missing.join(', ') || 'nothing'),
    ],
  ])
}
