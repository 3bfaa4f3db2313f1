// Anthropic: the messages format, with its version and beta headers, and its own token counting. And which betas of
// Claude the clouds take.
import { z } from 'zod'
import type { JsonObject } from '../core/json.ts'
import { isGiven, numberOf, objectOf } from '../core/json.ts'
import { renamed, text } from '../core/setting-kinds.ts'
import type { AdapterTools, Named } from './upstream/adapter.ts'
import { apiKeys, COMMON, defineAdapter, missingKey, providerBaseUrl } from './upstream/adapter.ts'
import { KeyPool } from './upstream/credentials.ts'
import { fetchJson, listModels, onlyMembers } from './upstream/fetch-json.ts'
import type { Provider } from './upstream/provider.ts'

const ANTHROPIC = 'https://api.anthropic.com'
/** Sent when neither the client nor the operator names one. */
const VERSION = '2023-06-01'

const settings = z
  .strictObject({
    kind: z.literal('anthropic'),
    api_key: apiKeys.optional(),
    base_url: providerBaseUrl.optional(),
    version: text.optional(),
    /** Enabled for every request; the client's own are added. */
    betas: z.array(text).optional(),
    ...COMMON,
  })
  .transform(renamed({ api_key: 'apiKeys', base_url: 'baseUrl' }))

export const anthropic = defineAdapter({
  kind: 'anthropic',
  settings,
  variable: 'ANTHROPIC_API_KEY',
  priceLists: { anthropic: 'anthropic' },
  vendor: () => 'anthropic',
  missing: (settings) => missingKey(settings.apiKeys),
  make: anthropicProvider,
})

type Settings = Named<z.output<typeof settings>>

function anthropicProvider(settings: Settings, tools: AdapterTools): Provider {
  const { http } = tools
  const keys = new KeyPool(settings, tools)
  const base = settings.baseUrl ?? ANTHROPIC
  const headersFor = (key: string | undefined, client: ReadonlyMap<string, string>) => {
    const betas = [...(settings.betas ?? []), client.get('anthropic-beta') ?? '']
    const beta = betas.filter((name) => name !== '').join(',')
    return {
      'content-type': 'application/json',
      'x-api-key': key ?? '',
      'anthropic-version': client.get('anthropic-version') ?? settings.version ?? VERSION,
      ...(beta === '' ? {} : { 'anthropic-beta': beta }),
    }
  }
  return {
    name: settings.name,
    formatsOf: () => ['messages'],
    send: ({ body, headers, timeouts, trace }, signal) => {
      const url = new URL(`${base}/v1/messages`)
      return keys.send((key) =>
        http.send(
          { url, method: 'POST', headers: headersFor(key, headers), body, timeouts, trace },
          signal,
        ),
      )
    },
    countTokens: async ({ model, body, headers }, signal) => {
      const url = `${base}/v1/messages/count_tokens`
      const sent = { ...onlyMembers(withNewerName(body), COUNTED), model }
      const call = { url, headers: headersFor(keys.next(), headers), body: sent }
      const counted = await fetchJson(http, call, signal)
      return numberOf(counted['input_tokens'])
    },
    listModels: (signal) => {
      const url = `${base}/v1/models?limit=1000`
      return listModels(http, { url, headers: headersFor(keys.next(), new Map()) }, signal)
    },
  }
}

/** The fields that count as input. */
const COUNTED = ['messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config']

/** The endpoint that counts knows only the newer name. */
function withNewerName(body: JsonObject): JsonObject {
  const { output_format: format, output_config: config } = body
  return isGiven(format) ? { ...body, output_config: { ...objectOf(config), format } } : body
}

// Claude's betas on Bedrock and Vertex AI: both refuse a whole request that names a beta they do not know, and coding
// agents name a dozen with every request, so only the betas that both accept are passed on.

/** Betas for what models there still do not do without one. */
const TAKEN: ReadonlySet<string> = new Set([
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
])

type Headers = ReadonlyMap<string, string>

export function takenBetas(client: Headers): readonly string[] {
  return betasIn(client).filter((name) => TAKEN.has(name))
}

/** The betas not passed on, as they are reported to the client. */
export function untakenBetas(client: Headers): readonly string[] {
  return betasIn(client)
    .filter((name) => !TAKEN.has(name))
    .map((name) => `anthropic-beta.${name}`)
}

function betasIn(client: Headers): readonly string[] {
  const names = client.get('anthropic-beta')?.split(',') ?? []
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '')
}
