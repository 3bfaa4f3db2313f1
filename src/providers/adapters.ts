// The kinds of providers. A new kind is one new file, and one entry in this list; one that writes bodies in a format of
// its own also needs a folder in wire/, an entry in wire/codecs.ts, and its name in core/endpoints.ts.
import { z } from 'zod'
import type { PriceList } from '../catalog/price-data.ts'
import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { Adapter, AdapterTools, Named } from './upstream/adapter.ts'
import type { Provider } from './upstream/provider.ts'
import { vertex } from './vertex.ts'

export const ADAPTERS = [openai, azure, anthropic, gemini, bedrock, vertex] as const

type Adapters = typeof ADAPTERS
type SchemasOf<List extends readonly { readonly settings: z.ZodType }[]> = {
  readonly [Index in keyof List]: List[Index]['settings']
}
export type ProviderSettings = z.output<Adapters[number]['settings']>

const KINDS = ADAPTERS.map(({ kind }) => kind)

/** One section under `providers`. */
export const providerSettings = z.discriminatedUnion(
  'kind',
  ADAPTERS.map(({ settings }) => settings) as unknown as SchemasOf<Adapters>,
  {
    error: ({ code }) =>
      code === 'invalid_union'
        ? `must be one of ${KINDS.join(', ')}`
        : 'must be a section such as { kind: openai, api_key: "${OPENAI_API_KEY}" }',
  },
)

/** The adapter for these settings. The schema above guarantees that the two fit. */
export function adapterOf(
  settings: ProviderSettings,
): Adapter<string, z.ZodType<ProviderSettings>> {
  const adapter = ADAPTERS.find(({ kind }) => kind === settings.kind)
  if (adapter === undefined) throw new Error(`there is no adapter of the kind ${settings.kind}`)
  return adapter as unknown as Adapter<string, z.ZodType<ProviderSettings>>
}

/** The price library's list that a provider bills by; null = only the operator knows. */
export function priceListOf(settings: ProviderSettings): PriceList | null {
  const { kind, priceLists, priceList } = adapterOf(settings)
  if (priceList !== undefined) return priceList(settings)
  const id = priceLists[kind]
  return id === undefined ? null : { id }
}

export function makeProvider(settings: Named<ProviderSettings>, tools: AdapterTools): Provider {
  const { kind, propagate: propagates } = settings
  return { ...adapterOf(settings).make(settings, tools), kind, propagates }
}
