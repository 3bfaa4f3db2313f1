// Google's Gemini API: its own formats for conversations and embeddings. The model is in the URL; the key goes into a
// header, never into the URL, because URLs get logged.
import { z } from 'zod'
import type { UpstreamFormat } from '../core/endpoints.ts'
import type { Json } from '../core/json.ts'
import { numberOf } from '../core/json.ts'
import { renamed } from '../core/setting-kinds.ts'
import type { AdapterTools, Named } from './upstream/adapter.ts'
import { apiKeys, COMMON, defineAdapter, missingKey, providerBaseUrl } from './upstream/adapter.ts'
import { KeyPool } from './upstream/credentials.ts'
import { fetchJson, namesIn } from './upstream/fetch-json.ts'
import type { Provider } from './upstream/provider.ts'

const GEMINI = 'https://generativelanguage.googleapis.com/v1beta'

const settings = z
  .strictObject({
    kind: z.literal('gemini'),
    api_key: apiKeys.optional(),
    base_url: providerBaseUrl.optional(),
    ...COMMON,
  })
  .transform(renamed({ api_key: 'apiKeys', base_url: 'baseUrl' }))

export const gemini = defineAdapter({
  kind: 'gemini',
  settings,
  variable: 'GEMINI_API_KEY',
  priceLists: { gemini: 'google' },
  vendor: () => 'gemini',
  missing: (settings) => missingKey(settings.apiKeys),
  make: geminiProvider,
})

type Settings = Named<z.output<typeof settings>>

function geminiProvider(settings: Settings, tools: AdapterTools): Provider {
  const { http } = tools
  const keys = new KeyPool(settings, tools)
  const base = settings.baseUrl ?? GEMINI
  const headersFor = (key: string | undefined) => ({
    'content-type': 'application/json',
    'x-goog-api-key': key ?? '',
  })
  return {
    name: settings.name,
    formatsOf: () => ['gemini', 'gemini_embeddings'],
    send: ({ format, model, stream, body, timeouts, trace }, signal) => {
      const url = new URL(`${base}/models/${model}:${methodOf(format, stream)}`)
      return keys.send((key) =>
        http.send({ url, method: 'POST', headers: headersFor(key), body, timeouts, trace }, signal),
      )
    },
    countTokens: async ({ format, model, body }, signal) => {
      if (format !== 'gemini') return undefined
      const generateContentRequest = { ...body, model: `models/${model}` }
      const url = `${base}/models/${model}:countTokens`
      const call = { url, headers: headersFor(keys.next()), body: { generateContentRequest } }
      const counted = await fetchJson(http, call, signal)
      return numberOf(counted['totalTokens'])
    },
    listModels: async (signal) => {
      const url = `${base}/models?pageSize=1000`
      const { models } = await fetchJson(http, { url, headers: headersFor(keys.next()) }, signal)
      return namesWithoutPath(models)
    },
  }
}

/** Google names each model by its full path. */
export function namesWithoutPath(models: Json | undefined): readonly string[] {
  return namesIn(models, 'name').map((name) => name.replace(/^.*\//, ''))
}

function methodOf(format: UpstreamFormat, stream: boolean): string {
  if (format === 'gemini_embeddings') return 'batchEmbedContents'
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
}
