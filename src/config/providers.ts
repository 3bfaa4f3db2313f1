// The settings of each kind of provider. An adapter reads its own kind and no other; nothing here leaves this file but
// as one of these shapes.
import { z } from 'zod'

import { httpUrl, oneOf, text, wait } from './units.ts'

export const PRESETS = [
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'vllm',
  'llamacpp',
  'ollama',
] as const
/** Servers people run themselves, which mostly ask for no key. */
const LOCAL_PRESETS: readonly string[] = ['vllm', 'llamacpp', 'ollama']

/** One secret or several, among which requests take turns. Empty text is allowed here and leaves the provider out. */
const apiKey = z
  .union([z.string(), z.array(z.string()).min(1)], {
    error: () =>
      'must be a secret, or a list of secrets: ${VARIABLE} or file:/path keeps it out of this file',
  })
  .transform((keys) => (typeof keys === 'string' ? [keys] : keys))

const timeout = wait.refine(
  (ms) => ms > 0,
  'must be more than nothing: leave it out for the default',
)

/** What the operator set for the upstream calls; the rest is in the catalogue's hands. */
export const timeouts = z
  .strictObject({
    connect: timeout.optional(),
    first_byte: timeout.optional(),
    idle: timeout.optional(),
    total: timeout.optional(),
  })
  .transform(({ connect, first_byte, idle, total }) => ({
    ...(connect === undefined ? {} : { connectMs: connect }),
    ...(first_byte === undefined ? {} : { firstByteMs: first_byte }),
    ...(idle === undefined ? {} : { idleMs: idle }),
    ...(total === undefined ? {} : { totalMs: total }),
  }))

const common = { timeouts: timeouts.prefault({}) }

const openai = z
  .strictObject({
    kind: z.literal('openai'),
    api_key: apiKey.optional(),
    base_url: httpUrl.optional(),
    preset: oneOf(PRESETS).optional(),
    api: oneOf(['chat', 'responses']).optional(),
    organization: text.optional(),
    project: text.optional(),
    ...common,
  })
  .transform(({ api_key, base_url, ...rest }) => ({ ...rest, apiKeys: api_key, baseUrl: base_url }))

const azure = z
  .strictObject({
    kind: z.literal('azure'),
    base_url: httpUrl,
    api_version: text.optional(),
    api_key: apiKey.optional(),
    entra: z
      .strictObject({ tenant_id: text, client_id: text, client_secret: text })
      .transform(({ tenant_id, client_id, client_secret }) => ({
        tenantId: tenant_id,
        clientId: client_id,
        clientSecret: client_secret,
      }))
      .optional(),
    ...common,
  })
  .transform(({ api_key, base_url, api_version, ...rest }) => ({
    ...rest,
    apiKeys: api_key,
    baseUrl: base_url,
    apiVersion: api_version,
  }))

const anthropic = z
  .strictObject({
    kind: z.literal('anthropic'),
    api_key: apiKey.optional(),
    base_url: httpUrl.optional(),
    version: text.optional(),
    betas: z.array(text).optional(),
    ...common,
  })
  .transform(({ api_key, base_url, ...rest }) => ({ ...rest, apiKeys: api_key, baseUrl: base_url }))

const gemini = z
  .strictObject({
    kind: z.literal('gemini'),
    api_key: apiKey.optional(),
    base_url: httpUrl.optional(),
    ...common,
  })
  .transform(({ api_key, base_url, ...rest }) => ({ ...rest, apiKeys: api_key, baseUrl: base_url }))

const bedrock = z
  .strictObject({
    kind: z.literal('bedrock'),
    region: text,
    profile: text.optional(),
    access_key_id: text.optional(),
    secret_access_key: text.optional(),
    session_token: text.optional(),
    ...common,
  })
  .transform(({ access_key_id, secret_access_key, session_token, ...rest }) => ({
    ...rest,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    sessionToken: session_token,
  }))

const vertex = z.strictObject({
  kind: z.literal('vertex'),
  project: text,
  location: text,
  /** The JSON of a service account, best as file:/path; without it, what the machine is allowed to do. */
  credentials: text.optional(),
  ...common,
})

export const provider = z.discriminatedUnion(
  'kind',
  [openai, azure, anthropic, gemini, bedrock, vertex],
  {
    error: ({ code }) =>
      code === 'invalid_union'
        ? 'must be one of openai, azure, anthropic, gemini, bedrock, vertex'
        : 'must be a section such as { kind: openai, api_key: "${OPENAI_API_KEY}" }',
  },
)

/** Kinds that can be configured already, and that no adapter speaks yet. */
export const WITHOUT_ADAPTER: readonly string[] = ['azure', 'gemini', 'bedrock', 'vertex']

export type ProviderSettings = z.output<typeof provider>
export type ProviderKind = ProviderSettings['kind']

/** Why a provider with these settings cannot be used; undefined = it can. */
export function whatIsMissing(settings: ProviderSettings): 'empty' | 'absent' | undefined {
  if (settings.kind === 'bedrock' || settings.kind === 'vertex') return undefined
  if (settings.apiKeys?.some((key) => key === '')) return 'empty'
  if (settings.apiKeys !== undefined) return undefined
  switch (settings.kind) {
    case 'openai':
      return settings.baseUrl === undefined && !LOCAL_PRESETS.includes(settings.preset ?? '')
        ? 'absent'
        : undefined
    case 'azure':
      return settings.entra === undefined ? 'absent' : undefined
    case 'anthropic':
    case 'gemini':
      return 'absent'
  }
}
