// `tollgate models`: the configured models with their prices, and which are unavailable and why.
import type { Command } from 'commander'
import { modelJson, perMillion } from '../catalog/model-json.ts'
import { targetName } from '../catalog/models.ts'
import type { Catalog, Model } from '../catalog/models.ts'
import type { Rates } from '../catalog/prices.ts'
import { catalogOf } from '../config/catalog-of.ts'
import type { Config } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import { ABILITIES } from '../core/endpoints.ts'
import { closest } from '../core/text.ts'
import { SANDBOX_MODELS } from '../providers/sandbox/models.ts'
import { common, readConfig, type CommonOptions } from './context.ts'
import { printJson, printText, table } from './output.ts'

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
    .action(async (name: string, _options: CommonOptions, command: Command) => {
      const { discover } = await import('./discover.ts')
      // `models` has the same options, so they may come before or after `discover`.
      await discover(name, command.optsWithGlobals<CommonOptions>())
    })
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
  const meant = closest(
    name,
    catalog.list().map(({ id }) => id),
  )
  const question = meant === undefined ? '' : `did you mean "${meant}"? `
  return `there is no model "${name}" right now, so the key cannot call it yet: ${question}\`tollgate models\` lists all`
}

export function modelsText(models: readonly Model[]): string {
  const rows = table<Model>(
    [
      { title: 'MODEL', of: (model) => model.id },
      { title: 'KIND', of: (model) => model.kind },
      { title: 'SERVED BY', of: servedBy },
      { title: 'INPUT', of: (model) => rate(model, 'input'), align: 'right' },
      { title: 'CACHED', of: (model) => rate(model, 'cached'), align: 'right' },
      {
        title: 'OUTPUT',
        of: (model) => (model.kind === 'chat' ? rate(model, 'output') : '-'),
        align: 'right',
      },
      { title: 'CONTEXT', of: (model) => tokens(model.context), align: 'right' },
      {
        title: 'MAX OUTPUT',
        of: (model) => (model.kind === 'chat' ? tokens(model.maxOutput) : '-'),
        align: 'right',
      },
      {
        title: 'CANNOT',
        of: (model) =>
          ABILITIES.filter(
            (ability) => model.kind === 'chat' && model.abilities[ability] === false,
          ).join(', ') || '-',
      },
    ],
    models.filter(({ available }) => available),
  )
  const problems = models.flatMap(({ id, available, reason }) =>
    reason === null ? [] : [`  ${id}${available ? '' : ' is unavailable'}: ${reason}`],
  )
  const prices = 'Prices in USD per million tokens.'
  const dearer = models.flatMap(dearerWhenLong)
  const others = models.flatMap(pricedOtherwise)
  const discounted = [...new Set(models.flatMap(discounts))]
  return [
    rows,
    '',
    prices,
    ...(others.length === 0 ? [] : ['', 'Other targets have their own prices:', ...others]),
    ...(discounted.length === 0 ? [] : ['', 'Less than the list price:', ...discounted]),
    ...(dearer.length === 0 ? [] : ['', 'All tokens of a long request cost more:', ...dearer]),
    ...(problems.length === 0 ? [] : ['', 'Not as configured:', ...problems]),
  ].join('\n')
}

/** The table shows the price of the first target. */
function pricedOtherwise({ id, price: first, targets, fallbacks }: Model): readonly string[] {
  return [...targets, ...fallbacks]
    .filter(({ price }) => price.version !== first?.version)
    .map(({ provider, model, price: { rates } }) => {
      const [input, cached, output] = [rates.input, rates.cached, rates.output].map(perMillion)
      return `  ${id} at ${targetName(provider, model)}: ${input} (cached ${cached}), output ${output}`
    })
}

function discounts({ targets, fallbacks }: Model): readonly string[] {
  return [...targets, ...fallbacks].flatMap(({ provider, model, price: { discount } }) => {
    if (discount === undefined) return []
    const { input, output } = discount.list.rates
    const list = `${perMillion(input)}, output ${perMillion(output)}`
    return [`  ${targetName(provider, model)}: ${discount.millionths / 10_000} % off ${list}`]
  })
}

function dearerWhenLong({ id, price }: Model): readonly string[] {
  const tiers = price?.tiers ?? []
  return tiers.map(({ aboveInputTokens, rates }) => {
    const [input, cached, output] = [rates.input, rates.cached, rates.output].map(perMillion)
    return `  ${id} above ${tokens(aboveInputTokens)} input tokens: ${input} (cached ${cached}), output ${output}`
  })
}

/** The targets, and the fallbacks if they fail. */
function servedBy({ targets, fallbacks }: Model): string {
  const names = (of: Model['targets']): string =>
    of.map(({ provider, model }) => targetName(provider, model)).join(', ')
  const first = names(targets) || '-'
  return fallbacks.length === 0 ? first : `${first}, then ${names(fallbacks)}`
}

function rate({ price }: Model, name: keyof Rates): string {
  return price === null ? '-' : perMillion(price.rates[name])
}

function tokens(count: number | null): string {
  return count === null ? '-' : count.toLocaleString('en')
}
