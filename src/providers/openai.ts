// OpenAI and everything that speaks its formats: chat completions, responses, embeddings. Well-known servers are listed
// with their differences, and recognized by their preset or by the host of an address in the configuration.
import { z } from 'zod'
import type { Vendor } from '../catalog/model-facts.ts'
import { factsOf } from '../catalog/model-facts.ts'
import type { UpstreamFormat } from '../core/endpoints.ts'
import { defined, numberOf } from '../core/json.ts'
import { oneOf, renamed, text } from '../core/setting-kinds.ts'
import type { Dialect } from '../wire/chat/dialects.ts'
import { inDialect, leftOutIn } from '../wire/chat/dialects.ts'
import { gptVersion } from '../wire/contract/models.ts'
import type { AdapterTools, Named } from './upstream/adapter.ts'
import { apiKeys, COMMON, defineAdapter, missingKey, providerBaseUrl } from './upstream/adapter.ts'
import { KeyPool } from './upstream/credentials.ts'
import { fetchJson, listModels, onlyMembers } from './upstream/fetch-json.ts'
import type { Provider, UnsentRequest } from './upstream/provider.ts'

type Server = {
  readonly url: string
  /** The price library's list for it. */
  readonly prices?: string
  /** The vendor whose main models it serves. */
  readonly vendor?: Vendor
  /** Run by the operator, and mostly without a key. */
  readonly isLocal?: true
  /** Absent = the words that every server knows. */
  readonly dialect?: Dialect
  /** OpenAI itself: it speaks responses, too. */
  readonly isOpenAi?: true
}

const SERVERS = {
  openai: {
    url: 'https://api.openai.com/v1',
    prices: 'openai',
    vendor: 'openai',
    dialect: 'openai',
    isOpenAi: true,
  },
  mistral: {
    url: 'https://api.mistral.ai/v1',
    prices: 'mistral',
    vendor: 'mistral',
    dialect: 'mistral',
  },
  groq: {
    url: 'https://api.groq.com/openai/v1',
    prices: 'groq',
    vendor: 'groq',
    dialect: 'openai',
  },
  deepseek: { url: 'https://api.deepseek.com/v1', prices: 'deepseek', vendor: 'deepseek' },
  xai: { url: 'https://api.x.ai/v1', prices: 'x-ai', vendor: 'xai', dialect: 'openai' },
  together: { url: 'https://api.together.xyz/v1', prices: 'together' },
  openrouter: { url: 'https://openrouter.ai/api/v1', prices: 'openrouter', dialect: 'openrouter' },
  vllm: { url: 'http://127.0.0.1:8000/v1', isLocal: true },
  llamacpp: { url: 'http://127.0.0.1:8080/v1', isLocal: true },
  ollama: { url: 'http://127.0.0.1:11434/v1', isLocal: true },
} satisfies Record<string, Server>

type Preset = keyof typeof SERVERS

const PRESETS = Object.keys(SERVERS) as [Preset, ...Preset[]]

/** About an unknown server it is safest to assume little. */
export function serverOf(at: {
  readonly baseUrl?: string | undefined
  readonly preset?: Preset | undefined
}): Server {
  const { baseUrl, preset } = at
  if (baseUrl === undefined) return SERVERS[preset ?? 'openai']
  return { ...(preset === undefined ? serverAt(baseUrl) : SERVERS[preset]), url: baseUrl }
}

/** Such as eu.api.openai.com. */
function isInOpenAiRegion(baseUrl = SERVERS.openai.url): boolean {
  return hostOf(baseUrl).endsWith(`.${hostOf(SERVERS.openai.url)}`)
}

/** Found by its host or a subdomain, such as that of a region. */
function serverAt(address: string): Partial<Server> {
  const host = hostOf(address)
  const servers: readonly Server[] = Object.values(SERVERS)
  const isThere = ({ url }: Server): boolean =>
    host === hostOf(url) || host.endsWith(`.${hostOf(url)}`)
  return servers.find((server) => server.isLocal !== true && isThere(server)) ?? {}
}

function hostOf(address: string): string {
  return new URL(address).host
}

const settings = z
  .strictObject({
    kind: z.literal('openai'),
    api_key: apiKeys.optional(),
    /** Absent = the address of the preset, or of OpenAI itself. */
    base_url: providerBaseUrl.optional(),
    preset: oneOf(PRESETS).optional(),
    /** The one format it speaks for conversations; absent = the formats known for the server. */
    api: oneOf(['chat', 'responses']).optional(),
    organization: text.optional(),
    project: text.optional(),
    ...COMMON,
  })
  .transform(renamed({ api_key: 'apiKeys', base_url: 'baseUrl' }))

export const openai = defineAdapter({
  kind: 'openai',
  settings,
  variable: 'OPENAI_API_KEY',
  priceLists: Object.fromEntries(
    Object.entries<Server>(SERVERS).flatMap(([name, { prices }]) =>
      prices === undefined ? [] : [[name, prices]],
    ),
  ),
  priceList: (settings) => {
    const { prices } = serverOf(settings)
    if (prices !== undefined) return { id: prices }
    // The library recognizes many addresses that an operator may configure.
    return settings.baseUrl === undefined ? null : { url: settings.baseUrl }
  },
  // OpenAI charges extra for a region since March 2026, for models released from then on.
  isRegional: (settings, model) =>
    isInOpenAiRegion(settings.baseUrl) && (gptVersion(model) ?? 0) >= 5.4,
  vendor: (settings) => serverOf(settings).vendor ?? null,
  // OpenAI's models cache prompts unasked, whoever resells them, and the newer ones bill for the writing.
  writesCacheUnasked: () => true,
  missing: (settings) => {
    const needsKey = settings.baseUrl === undefined && serverOf(settings).isLocal !== true
    return needsKey || settings.apiKeys !== undefined ? missingKey(settings.apiKeys) : undefined
  },
  make: openAiProvider,
})

type Settings = z.output<typeof settings>
type Headers = Readonly<Record<string, string>>

const PATHS: Partial<Record<UpstreamFormat, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
}

function openAiProvider(settings: Named<Settings>, tools: AdapterTools): Provider {
  const { http } = tools
  const formats = formatsOf(settings)
  const keys = new KeyPool(settings, tools)
  const server = serverOf(settings)
  const { dialect = 'original' } = server
  const parsesFiles = dialect === 'openrouter'
  const urls = new Map(
    Object.entries(PATHS).map(([format, path]) => [format, new URL(`${server.url}${path}`)]),
  )
  const headersByKey = new Map<string | undefined, Headers>()
  const headersFor = (key: string | undefined): Headers => {
    const known = headersByKey.get(key)
    if (known !== undefined) return known
    const headers = headersWith(key, settings)
    headersByKey.set(key, headers)
    return headers
  }
  return {
    name: settings.name,
    formatsOf: () => formats,
    send: ({ format, body, headers, timeouts, trace }, signal) => {
      const url = urls.get(format)
      if (url === undefined) throw new Error(`${settings.name} does not speak ${format}`)
      const beta = headers.get('openai-beta')
      return keys.send((key) => {
        const own = headersFor(key)
        const sent = beta === undefined ? own : { ...own, 'openai-beta': beta }
        return http.send({ url, method: 'POST', headers: sent, body, timeouts, trace }, signal)
      })
    },
    // Others that speak responses have no such endpoint.
    ...(server.isOpenAi === true && {
      countTokens: async ({ format, model, body }: UnsentRequest, signal: AbortSignal) => {
        if (format !== 'responses') return undefined
        const url = `${server.url}/responses/input_tokens`
        const sent = { ...onlyMembers(body, COUNTED), model }
        const call = { url, headers: headersFor(keys.next()), body: sent }
        const counted = await fetchJson(http, call, signal)
        return numberOf(counted['input_tokens'])
      },
    }),
    ...(dialect !== 'openai' && {
      adapt: ({ format, model, body }: UnsentRequest) =>
        inDialect(body, { dialect, format, readsFiles: parsesFiles && readsFiles(model) }),
    }),
    ...(dialect === 'mistral' && {
      leavesOut: ({ format, body }: UnsentRequest) => leftOutIn(body, { dialect, format }),
    }),
    listModels: (signal) =>
      listModels(http, { url: `${server.url}/models`, headers: headersFor(keys.next()) }, signal),
  }
}

/** Claude's versions have a dot at OpenRouter, and a hyphen elsewhere. */
export function readsFiles(model: string): boolean {
  const names = [model, model.replaceAll('.', '-')]
  return names.some((name) => factsOf(name)?.abilities.files === true)
}

/** The fields that count as input. */
const COUNTED = [
  ...['input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text'],
  ...['reasoning', 'personality', 'truncation'],
]

function headersWith(key: string | undefined, { organization, project }: Settings): Headers {
  return defined({
    'content-type': 'application/json',
    authorization: key === undefined ? undefined : `Bearer ${key}`,
    'openai-organization': organization,
    'openai-project': project,
  })
}

/** OpenAI itself speaks both, and shows its reasoning only in responses; at other servers only chat is certain. */
function formatsOf(settings: Settings): readonly UpstreamFormat[] {
  if (settings.api !== undefined) return [settings.api, 'embeddings']
  return serverOf(settings).isOpenAi === true
    ? ['responses', 'chat', 'embeddings']
    : ['chat', 'embeddings']
}
