// OpenAI and everything that speaks its formats: chat completions, responses, embeddings.
import { z } from 'zod'

import { VENDORS } from '../catalog/main-models.ts'
import type { UpstreamFormat } from '../core/endpoints.ts'
import { oneOf, text } from '../core/units.ts'
import type { AdapterTools, Named } from './adapter.ts'
import { apiKeys, COMMON, defineAdapter, missingKey, providerUrl } from './adapter.ts'
import type { Habits } from './compatible.ts'
import { inOlderWords } from './compatible.ts'
import { Keys } from './keys.ts'
import { listModels } from './list-models.ts'
import type { Provider } from './provider.ts'

type Place = Habits & {
  readonly url: string
  /** The price library's list of it. */
  readonly prices?: string
  /** People run it themselves, and it mostly asks for no key. */
  readonly isLocal?: true
  /** It knows the newer words of chat completions, as OpenAI does; others are told the older ones. */
  readonly isCurrent?: true
}

const OPENAI: Place = { url: 'https://api.openai.com/v1', prices: 'openai', isCurrent: true }

/** Well-known places that speak chat completions. */
const PRESETS = {
  mistral: { url: 'https://api.mistral.ai/v1', prices: 'mistral', isStrict: true },
  groq: { url: 'https://api.groq.com/openai/v1', prices: 'groq', isCurrent: true },
  deepseek: { url: 'https://api.deepseek.com/v1', prices: 'deepseek' },
  xai: { url: 'https://api.x.ai/v1', prices: 'x-ai', isCurrent: true },
  together: { url: 'https://api.together.xyz/v1', prices: 'together' },
  openrouter: { url: 'https://openrouter.ai/api/v1', prices: 'openrouter', isCurrent: true },
  vllm: { url: 'http://127.0.0.1:8000/v1', isLocal: true },
  llamacpp: { url: 'http://127.0.0.1:8080/v1', isLocal: true },
  ollama: { url: 'http://127.0.0.1:11434/v1', isLocal: true },
} satisfies Record<string, Place>
type Preset = keyof typeof PRESETS

const settings = z
  .strictObject({
    kind: z.literal('openai'),
    api_key: apiKeys.optional(),
    /** Where it is; without it, where the preset is, or OpenAI itself. */
    base_url: providerUrl.optional(),
    preset: oneOf(Object.keys(PRESETS) as [Preset, ...Preset[]]).optional(),
    /** The one format it speaks for conversations; without it, what is known of the place. */
    api: oneOf(['chat', 'responses']).optional(),
    organization: text.optional(),
    project: text.optional(),
    ...COMMON,
  })
  .transform(({ api_key, base_url, ...rest }) => ({ ...rest, apiKeys: api_key, baseUrl: base_url }))

export const openai = defineAdapter({
  kind: 'openai',
  settings,
  variable: 'OPENAI_API_KEY',
  priceLists: Object.fromEntries(
    Object.entries({ openai: OPENAI, ...PRESETS }).flatMap(([name, { prices }]: [string, Place]) =>
      prices === undefined ? [] : [[name, prices]],
    ),
  ),
  // The library knows many an address that an operator may write.
  priceList: (settings) => {
    if (settings.baseUrl !== undefined) return { url: settings.baseUrl }
    const { prices } = placeOf(settings)
    return prices === undefined ? null : { id: prices }
  },
  vendor: ({ baseUrl, preset = 'openai' }) =>
    baseUrl === undefined ? (VENDORS.find((vendor) => vendor === preset) ?? null) : null,
  // OpenAI keeps prompts of its own accord, and its newer models bill for the writing.
  writesCacheUnasked: isOpenAi,
  missing: (settings) => {
    const needsKey = settings.baseUrl === undefined && placeOf(settings).isLocal !== true
    return needsKey || settings.apiKeys !== undefined ? missingKey(settings.apiKeys) : undefined
  },
  make: openAiProvider,
})

type Settings = z.output<typeof settings>

const PATHS: Partial<Record<UpstreamFormat, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
}

function openAiProvider(settings: Named<Settings>, { http, clock }: AdapterTools): Provider {
  const formats = formatsOf(settings)
  const keys = new Keys(settings.apiKeys, clock)
  const place = placeOf(settings)
  const base = place.url.replace(/\/$/, '')
  const urls = new Map(
    Object.entries(PATHS).map(([format, path]) => [format, new URL(`${base}${path}`)]),
  )
  const headersByKey = new Map<string | undefined, Record<string, string>>()
  const headersFor = (key: string | undefined): Record<string, string> => {
    const known = headersByKey.get(key)
    if (known !== undefined) return known
    const headers = {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(settings.organization === undefined
        ? {}
        : { 'openai-organization': settings.organization }),
      ...(settings.project === undefined ? {} : { 'openai-project': settings.project }),
    }
    headersByKey.set(key, headers)
    return headers
  }
  return {
    name: settings.name,
    formatsOf: () => formats,
    send: ({ format, body, headers, timeouts }, signal) => {
      const url = urls.get(format)
      if (url === undefined) throw new Error(`${settings.name} does not speak ${format}`)
      const beta = headers.get('openai-beta')
      const words = format === 'chat' && place.isCurrent !== true ? inOlderWords(body, place) : body
      return keys.send((key) =>
        http.send(
          {
            url,
            method: 'POST',
            headers:
              beta === undefined ? headersFor(key) : { ...headersFor(key), 'openai-beta': beta },
            body: words,
            timeouts,
          },
          signal,
        ),
      )
    },
    listModels: (signal) =>
      listModels(
        http,
        { url: new URL(`${base}/models`), headers: headersFor(keys.next()) },
        signal,
      ),
  }
}

/** Of a place that only the operator knows it is safest to assume little. */
function placeOf({ baseUrl, preset }: Settings): Place {
  const known = preset === undefined ? OPENAI : PRESETS[preset]
  return baseUrl === undefined ? known : { ...(preset === undefined ? {} : known), url: baseUrl }
}

/** OpenAI itself speaks both, and thinks aloud only in responses; of other places only chat is certain. */
function formatsOf(settings: Settings): readonly UpstreamFormat[] {
  if (settings.api !== undefined) return [settings.api, 'embeddings']
  return placeOf(settings).url === OPENAI.url
    ? ['responses', 'chat', 'embeddings']
    : ['chat', 'embeddings']
}

function isOpenAi({ baseUrl, preset }: Settings): boolean {
  return baseUrl === undefined && preset === undefined
}
