// `tollgate models`: the configured models with their prices, and which are unavailable and why; `discover` asks a
// provider what it offers, and shows what each model still needs to be used.
import type { Command } from 'commander'
import { factsOf } from '../catalog/model-facts.ts'
import { targetName, type Catalog } from '../catalog/models.ts'
import { bundledPrices } from '../catalog/price-data.ts'
import { catalogOf } from '../config/catalog-of.ts'
import type { Config } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import { ABILITIES } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { makeProvider, priceListOf, type ProviderSettings } from '../providers/adapters.ts'
import type { Named } from '../providers/upstream/adapter.ts'
import { common, readConfig, type CommonOptions } from './command/context.ts'
import { anywhere, connectionOf, needsMachine, type RemoteOptions } from './gateway/connection.ts'
import type { ShownModel } from './gateway/gateway.ts'
import { modelsHere } from './gateway/open.ts'
import { FailureError, UsageError } from './terminal/failure.ts'
import { percentText, printJson, printNote, printText, section, table } from './terminal/output.ts'

export function addModels(program: Command): void {
  const models = anywhere(program.command('models'))
    .description(
      'List the models with their prices in USD per million tokens, their limits and abilities, ' +
        'and what is unavailable and why.',
    )
    .action(async (options: RemoteOptions) => {
      const call = connectionOf(options)
      const models =
        call === undefined ? await modelsHere(options) : (await call('listModels', {})).models
      if (options.json) printJson({ models: models.map(modelOutput) })
      else printText(modelsText(models))
    })
  common(models.command('discover'))
    .description('List what a configured provider offers, by asking it.')
    .argument('<PROVIDER>', 'its name in the configuration')
    .action((name: string, _options: CommonOptions, command: Command) => {
      const options = command.optsWithGlobals<RemoteOptions>()
      if (connectionOf(options) !== undefined) throw needsMachine('models discover')
      return discover(name, options)
    })
}

/** As programs read it: a gateway elsewhere says more. */
function modelOutput(model: ShownModel) {
  const { id, kind, provider, price, context, max_output, abilities, available, reason } = model
  const targets = model.targets.map((target) => {
    const { weight, role } = target
    return { provider: target.provider, model: target.model, weight, role, price: target.price }
  })
  const shown = { id, kind, provider, targets, price, context, max_output }
  return { ...shown, abilities, available, reason }
}

export function modelsText(models: readonly ShownModel[]): string {
  const rows = table<ShownModel>(
    models.filter(({ available }) => available),
    [
      ['MODEL', (model) => model.id],
      ['KIND', (model) => model.kind],
      ['SERVED BY', servedBy],
      ['INPUT', ({ price }) => price?.input ?? '-', 'right'],
      ['CACHED', ({ price }) => price?.cached ?? '-', 'right'],
      ['OUTPUT', ({ kind, price }) => (kind === 'chat' ? (price?.output ?? '-') : '-'), 'right'],
      ['CONTEXT', (model) => tokens(model.context), 'right'],
      ['MAX OUTPUT', (model) => (model.kind === 'chat' ? tokens(model.max_output) : '-'), 'right'],
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

function cannot({ kind, abilities }: ShownModel): string {
  const missing = ABILITIES.filter((ability) => kind === 'chat' && abilities[ability] === false)
  return missing.join(', ') || '-'
}

type ShownTarget = ShownModel['targets'][number]

function nameOf({ provider, model }: ShownTarget): string {
  return targetName(provider, model)
}

/** The table shows the price of the first target. */
function pricedOtherwise({ id, price: first, targets }: ShownModel): readonly string[] {
  return targets
    .filter(({ price }) => JSON.stringify(price) !== JSON.stringify(first))
    .map((target) => `  ${id} at ${nameOf(target)}: ${ratesText(target.price)}`)
}

function discounts({ targets }: ShownModel): readonly string[] {
  return targets.flatMap((target) => {
    const { discount, list } = target.price
    if (discount === undefined || list === undefined) return []
    const before = `${list.input}, output ${list.output}`
    return [`  ${nameOf(target)}: ${percentText(discount)} off ${before}`]
  })
}

function dearerWhenLong({ id, price }: ShownModel): readonly string[] {
  const tiers = price?.tiers ?? []
  return tiers.map(
    (tier) => `  ${id} above ${tokens(tier.above_input_tokens)} input tokens: ${ratesText(tier)}`,
  )
}

type ShownRates = Pick<ShownTarget['price'], 'input' | 'cached' | 'output'>

function ratesText({ input, cached, output }: ShownRates): string {
  return `${input} (cached ${cached}), output ${output}`
}

/** The targets, and the fallbacks if they fail. */
function servedBy({ targets }: ShownModel): string {
  const named = (wanted: ShownTarget['role']): string =>
    targets
      .filter(({ role }) => role === wanted)
      .map(nameOf)
      .join(', ')
  const first = named('target') || '-'
  return named('fallback') === '' ? first : `${first}, then ${named('fallback')}`
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
  const catalog = catalogOf(config, { now: systemClock.now() })
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
  const { openHttp } = await import('../providers/upstream/connections.ts')
  const http = openHttp(process.env)
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
