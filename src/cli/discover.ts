// `tollgate models discover`: asks a provider what it offers, and shows what each model still needs to be used.
import { factsOf } from '../catalog/model-facts.ts'
import type { Catalog } from '../catalog/models.ts'
import { bundledPrices } from '../catalog/price-data.ts'
import type { Config } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { makeProvider, priceListOf } from '../providers/adapters.ts'
import type { ProviderSettings } from '../providers/adapters.ts'
import type { Named } from '../providers/upstream/adapter.ts'
import { HttpClient } from '../providers/upstream/http.ts'
import { readConfig, type CommonOptions } from './context.ts'
import { FailureError, UsageError } from './failure.ts'
import { catalogFor } from './models.ts'
import { printJson, printNote, printText, table } from './output.ts'

type Offer = {
  readonly id: string
  /** The public names under which it is already offered. */
  readonly models: readonly string[]
  /** What the configuration would have to add: price, context, max_output; empty if all is known. */
  readonly missing: readonly string[]
}

export async function discover(name: string, options: CommonOptions): Promise<void> {
  const config = readConfig(options)
  const settings = settingsOf(config, name)
  const catalog = catalogFor(config)
  const offers = usable(await ask(settings)).map((id) => offerOf(id, settings, catalog))
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

async function ask(settings: Named<ProviderSettings>): Promise<readonly string[]> {
  const http = new HttpClient(process.env)
  try {
    // No log: the command reports failures itself.
    const log = { error: () => {} }
    const provider = makeProvider(settings, { http, clock: systemClock, log })
    const list = provider.listModels?.(new AbortController().signal)
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

/** A model with a public name needs nothing more here: `models` shows what it may lack. */
function toConfigure({ models, missing }: Offer): string {
  return models.length > 0 ? '-' : missing.join(', ') || 'nothing'
}

function offersText(offers: readonly Offer[]): string {
  return table<Offer>(
    [
      { title: 'OFFERS', of: ({ id }) => id },
      { title: 'AS', of: ({ models }) => models.join(', ') || '-' },
      { title: 'TO CONFIGURE', of: toConfigure },
    ],
    offers,
  )
}
