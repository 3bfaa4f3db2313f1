// Google Cloud's Vertex AI: Gemini in its own format, Claude in the messages format, embeddings as predictions. Signs
// in as a service account.
import { createSign } from 'node:crypto'
import { z } from 'zod'
import type { UpstreamFormat } from '../core/endpoints.ts'
import { numberOf, parseObject } from '../core/json.ts'
import { renamed, text } from '../core/setting-kinds.ts'
import { claudeVersion, generationOf } from '../wire/contract/models.ts'
import { takenBetas, untakenBetas } from './anthropic.ts'
import { namesWithoutPath } from './gemini.ts'
import type { AdapterTools, Named } from './upstream/adapter.ts'
import { COMMON, defineAdapter, providerBaseUrl, providerUrl } from './upstream/adapter.ts'
import { AccessTokens, fetchToken } from './upstream/credentials.ts'
import { fetchJson } from './upstream/fetch-json.ts'
import type { Provider } from './upstream/provider.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
/** How long an assertion is valid; the token it is exchanged for states its own lifetime. */
const ASSERTION_SECONDS = 3600
/** Sent in the body of a Claude request; Anthropic itself expects a header. */
const ANTHROPIC_VERSION = 'vertex-2023-10-16'

const account = z.object({ client_email: text, private_key: text, token_uri: providerUrl })

/** The JSON key of a service account, best as file:/path. An empty text leaves the provider out. */
const credentials = z.string().transform((json, context) => {
  if (json === '') return undefined
  const parsed = account.safeParse(parseObject(json))
  if (parsed.success) return parsed.data
  const message = 'must be the JSON key of a service account, best as file:/path'
  context.issues.push({ code: 'custom', message, input: json })
  return z.NEVER
})

const settings = z
  .strictObject({
    kind: z.literal('vertex'),
    project: text,
    location: text,
    credentials,
    base_url: providerBaseUrl.optional(),
    ...COMMON,
  })
  .transform(renamed({ base_url: 'baseUrl' }))

export const vertex = defineAdapter({
  kind: 'vertex',
  settings,
  priceLists: { vertex: 'google' },
  isRegional: ({ location }, model) => location !== 'global' && hasRegionalPrice(model),
  vendor: () => null,
  missing: ({ credentials }) =>
    credentials === undefined ? { setting: 'credentials', is: 'empty' } : undefined,
  make: vertexProvider,
})

type Settings = z.output<typeof settings>
type ServiceAccount = z.output<typeof account>

function vertexProvider(settings: Named<Settings>, tools: AdapterTools): Provider {
  const { http } = tools
  const { credentials } = settings
  if (credentials === undefined) throw new Error('a provider without credentials is left out')
  const tokens = serviceTokens(credentials, tools)
  const base = `${baseOf(settings)}/v1/projects/${settings.project}/locations/${settings.location}/publishers`
  const headersFor = (token: string) => ({
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
  })
  return {
    name: settings.name,
    formatsOf: (model) => [formatOf(model)],
    leavesOut: ({ model, headers }) => (isClaude(model) ? untakenBetas(headers) : []),
    // The model is in the URL alone.
    adapt: ({ model }) =>
      isClaude(model) ? { model: undefined, anthropic_version: ANTHROPIC_VERSION } : {},
    send: async ({ model, stream, body, headers: client, timeouts, trace }, signal) => {
      const url = new URL(`${base}/${pathOf(model, stream)}`)
      const beta = isClaude(model) ? takenBetas(client).join(',') : ''
      const betas = beta === '' ? {} : { 'anthropic-beta': beta }
      return tokens.send((token) => {
        const headers = { ...headersFor(token), ...betas }
        return http.send({ url, method: 'POST', headers, body, timeouts, trace }, signal)
      })
    },
    countTokens: async ({ format, model, body }, signal) => {
      if (format !== 'gemini') return undefined
      const url = `${base}/google/models/${model}:countTokens`
      const headers = headersFor(await tokens.current())
      const counted = await fetchJson(http, { url, headers, body }, signal)
      return numberOf(counted['totalTokens'])
    },
    listModels: async (signal) => {
      const url = `${baseOf(settings)}/v1beta1/publishers/google/models?pageSize=1000`
      const project = { 'x-goog-user-project': settings.project }
      const headers = { ...headersFor(await tokens.current()), ...project }
      const { publisherModels } = await fetchJson(http, { url, headers }, signal)
      return namesWithoutPath(publisherModels)
    },
  }
}

function baseOf({ baseUrl, location }: Settings): string {
  if (baseUrl !== undefined) return baseUrl
  const host = location === 'global' ? '' : `${location}-`
  return `https://${host}aiplatform.googleapis.com`
}

function isClaude(model: string): boolean {
  return model.startsWith('claude')
}

/** Earlier models cost the same everywhere. */
function hasRegionalPrice(model: string): boolean {
  return isClaude(model) ? (claudeVersion(model) ?? Infinity) >= 4.5 : generationOf(model) >= 3
}

function formatOf(model: string): UpstreamFormat {
  if (isClaude(model)) return 'messages'
  return model.includes('embedding') ? 'vertex_embeddings' : 'gemini'
}

function pathOf(model: string, stream: boolean): string {
  const format = formatOf(model)
  if (format === 'vertex_embeddings') return `google/models/${model}:predict`
  if (format === 'messages') {
    return `anthropic/models/${model}:${stream ? 'streamRawPredict' : 'rawPredict'}`
  }
  return `google/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

function serviceTokens(account: ServiceAccount, { http, clock }: AdapterTools): AccessTokens {
  return new AccessTokens(() => {
    const assertion = assertionOf(account, Math.floor(clock.now() / 1000))
    const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    return fetchToken(http, account.token_uri, { grant_type, assertion })
  }, clock)
}

/** A JSON Web Token that names the account and the scope, signed with the account's key (RFC 7523). */
function assertionOf(
  { client_email, private_key, token_uri }: ServiceAccount,
  now: number,
): string {
  const spell = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    iss: client_email,
    scope: SCOPE,
    aud: token_uri,
    iat: now,
    exp: now + ASSERTION_SECONDS,
  }
  const text = `${spell({ alg: 'RS256', typ: 'JWT' })}.${spell(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(private_key, 'base64url')}`
}
