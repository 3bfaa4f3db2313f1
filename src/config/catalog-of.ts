// The catalogue a configuration describes: its providers and models, together with the sandbox's models. What is
// configured and cannot be served is logged.
import { buildCatalog } from '../catalog/catalog.ts'
import type { CatalogProvider, SandboxModel } from '../catalog/catalog.ts'
import type { Catalog } from '../catalog/models.ts'
import { bundledPrices } from '../catalog/price-data.ts'
import { priceFrom } from '../catalog/prices.ts'
import { adapterOf, ADAPTERS, priceListOf } from '../providers/adapters.ts'
import type { ProviderSettings } from '../providers/adapters.ts'
import { SANDBOX_MODELS } from '../providers/sandbox/models.ts'
import type { Named } from '../providers/upstream/adapter.ts'
import type { Log } from '../telemetry/log.ts'
import type { Config } from './load.ts'

export function catalogOf(
  config: Pick<Config, 'providers' | 'leftOut' | 'keyless' | 'models' | 'sandbox'> &
    Partial<Pick<Config, 'compat'>>,
  {
    sandbox = SANDBOX_MODELS,
    now,
  }: { readonly sandbox?: readonly SandboxModel[]; readonly now: number },
): Catalog {
  const catalog = buildCatalog({
    providers: [...config.providers, ...config.keyless].map(toCatalogProvider),
    leftOut: config.leftOut,
    entries: config.models,
    sandbox: config.sandbox ? sandbox : [],
    prices: bundledPrices,
    priceLists: PRICE_LISTS,
    now,
  })
  return config.compat?.litellm ? { ...catalog, aliases: prefixed(config, catalog) } : catalog
}

/** What LiteLLM calls a kind of provider, where it is not the name here. */
const PREFIXES: Readonly<Record<string, string>> = { vertex: 'vertex_ai', together: 'together_ai' }

/** `openai/gpt-5` for gpt-5: clients of LiteLLM may name the provider, too. */
function prefixed(
  { providers }: Pick<Config, 'providers'>,
  catalog: Catalog,
): ReadonlyMap<string, string> {
  const kinds = new Map(
    providers.map((provider) => {
      const kind = ('preset' in provider && provider.preset) || provider.kind
      return [provider.name, PREFIXES[kind] ?? kind]
    }),
  )
  const aliases = catalog.list().flatMap(({ id, targets }) =>
    targets.flatMap(({ provider }) => {
      const kind = kinds.get(provider)
      const alias = `${kind}/${id}`
      return kind === undefined || catalog.get(alias) !== undefined ? [] : [[alias, id] as const]
    }),
  )
  return new Map(aliases)
}

export const PRICE_LISTS = new Map(
  ADAPTERS.flatMap(({ priceLists }) => Object.entries(priceLists)).map(
    ([name, id]) => [name, { id }] as const,
  ),
)

function toCatalogProvider(provider: Named<ProviderSettings>): CatalogProvider {
  const { name, timeouts, discount, models } = provider
  const adapter = adapterOf(provider)
  return {
    name,
    timeouts,
    discount,
    vendor: adapter.vendor(provider),
    priceList: priceListOf(provider),
    isRegional: (model) => adapter.isRegional?.(provider, model) ?? false,
    writesCacheUnasked: (model) => adapter.writesCacheUnasked?.(model) ?? false,
    hasFreeNames: adapter.hasFreeNames ?? false,
    models: new Map(
      Object.entries(models).map(([model, { price, ...figures }]) => [
        model,
        { ...figures, price: price && priceFrom(price) },
      ]),
    ),
  }
}

/** Logs what is configured but will not be served, when the configuration takes effect and not at the first call. */
export function warnLeftOut(log: Log, config: Pick<Config, 'leftOut'>, catalog: Catalog): void {
  for (const [provider, reason] of config.leftOut) {
    log.warn('provider_left_out', { provider, reason })
  }
  for (const { id, available, reason } of catalog.list()) {
    if (reason === null) continue
    log.warn(available ? 'target_left_out' : 'model_unavailable', { model: id, reason })
  }
}
