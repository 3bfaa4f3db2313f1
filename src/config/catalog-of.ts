// The catalogue a configuration describes: what it says of providers and models, together with the sandbox's models.
import { buildCatalog } from '../catalog/catalog.ts'
import type { CatalogProvider, SandboxModel } from '../catalog/catalog.ts'
import type { Vendor } from '../catalog/facts.ts'
import type { Catalog } from '../catalog/models.ts'
import { bundledPrices, priceListOf } from '../catalog/price-data.ts'
import type { Config, Provider } from './load.ts'

export function catalogOf(
  config: Pick<Config, 'providers' | 'leftOut' | 'models' | 'sandbox'>,
  { sandbox, now }: { readonly sandbox: readonly SandboxModel[]; readonly now: number },
): Catalog {
  return buildCatalog({
    providers: config.providers.map(toCatalogProvider),
    leftOut: config.leftOut,
    entries: config.models,
    sandbox: config.sandbox ? sandbox : [],
    prices: bundledPrices,
    now,
  })
}

function toCatalogProvider(provider: Provider): CatalogProvider {
  const { name, timeouts } = provider
  return {
    name,
    timeouts,
    vendor: vendorOf(provider),
    priceList: priceListOf(provider),
    // OpenAI keeps prompts of its own accord, and its newer models bill for the writing.
    writesCacheUnasked: provider.kind === 'azure' || vendorOf(provider) === 'openai',
  }
}

function vendorOf(provider: Provider): Vendor | null {
  switch (provider.kind) {
    case 'openai':
      return provider.baseUrl === undefined && provider.preset === undefined ? 'openai' : null
    case 'anthropic':
    case 'gemini':
      return provider.kind
    case 'azure':
    case 'bedrock':
    case 'vertex':
      return null
  }
}
