// Azure OpenAI: OpenAI's formats at the operator's own address, where a model is a deployment. Signs in with a key or
// as an Entra ID application.
import { z } from 'zod'
import type { UpstreamFormat } from '../core/endpoints.ts'
import { renamed, text } from '../core/setting-kinds.ts'
import type { AdapterTools, Named } from './upstream/adapter.ts'
import { apiKeys, COMMON, defineAdapter, missingKey, providerBaseUrl } from './upstream/adapter.ts'
import { AccessTokens, fetchToken, KeyPool } from './upstream/credentials.ts'
import { listModels } from './upstream/fetch-json.ts'
import type { Provider, UpstreamAnswer } from './upstream/provider.ts'

const AUTHORITY = 'https://login.microsoftonline.com'
const SCOPE = 'https://cognitiveservices.azure.com/.default'

const entra = z
  .strictObject({
    tenant_id: text,
    client_id: text,
    client_secret: text,
    /** Clouds other than the public one have their own. */
    authority: providerBaseUrl.default(AUTHORITY),
  })
  .transform(
    renamed({ tenant_id: 'tenantId', client_id: 'clientId', client_secret: 'clientSecret' }),
  )

const settings = z
  .strictObject({
    kind: z.literal('azure'),
    base_url: providerBaseUrl,
    /** Absent = the version that Azure itself keeps up to date. */
    api_version: text.optional(),
    api_key: apiKeys.optional(),
    entra: entra.optional(),
    ...COMMON,
  })
  .transform(renamed({ api_key: 'apiKeys', base_url: 'baseUrl', api_version: 'apiVersion' }))

export const azure = defineAdapter({
  kind: 'azure',
  settings,
  priceLists: { azure: 'azure' },
  vendor: () => null,
  writesCacheUnasked: () => true,
  hasFreeNames: true,
  missing: ({ apiKeys, entra }) =>
    entra === undefined || apiKeys !== undefined ? missingKey(apiKeys) : undefined,
  make: azureProvider,
})

type Settings = Named<z.output<typeof settings>>
type Headers = Readonly<Record<string, string>>

function azureProvider(settings: Settings, tools: AdapterTools): Provider {
  const { http } = tools
  const { apiKeys, entra } = settings
  const keys = new KeyPool(settings, tools)
  const tokens =
    apiKeys === undefined && entra !== undefined ? entraTokens(entra, tools) : undefined
  const urlOf = urlsOf(settings)
  const type = { 'content-type': 'application/json' }
  const withKey = (key = ''): Headers => ({ ...type, 'api-key': key })
  const withToken = (token: string): Headers => ({ ...type, authorization: `Bearer ${token}` })
  const signedIn = (send: (headers: Headers) => Promise<UpstreamAnswer>): Promise<UpstreamAnswer> =>
    tokens === undefined
      ? keys.send((key) => send(withKey(key)))
      : tokens.send((token) => send(withToken(token)))
  return {
    name: settings.name,
    formatsOf: () => ['responses', 'chat', 'embeddings'],
    send: ({ format, model, body, timeouts, trace }, signal) => {
      const url = urlOf(format, model)
      return signedIn((headers) =>
        http.send({ url, method: 'POST', headers, body, timeouts, trace }, signal),
      )
    },
    listModels: async (signal) => {
      const headers =
        tokens === undefined ? withKey(keys.next()) : withToken(await tokens.current())
      return listModels(http, { url: urlOf('models').href, headers }, signal)
    },
  }
}

const PATHS: Partial<Record<UpstreamFormat | 'models', string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  models: '/models',
}

/** With an API version, the URL names the deployment; without one, and always for responses, the body does. */
function urlsOf({ baseUrl, apiVersion }: Settings) {
  const resource = baseUrl.replace(/\/openai(\/v1)?$/, '')
  return (what: UpstreamFormat | 'models', deployment?: string): URL => {
    const path = PATHS[what] ?? ''
    if (apiVersion === undefined) return new URL(`${resource}/openai/v1${path}`)
    const isDeployed = deployment !== undefined && what !== 'responses'
    const where = isDeployed ? `/deployments/${encodeURIComponent(deployment)}` : ''
    return new URL(`${resource}/openai${where}${path}?api-version=${apiVersion}`)
  }
}

function entraTokens(
  { tenantId, clientId, clientSecret, authority }: NonNullable<Settings['entra']>,
  { http, clock }: AdapterTools,
): AccessTokens {
  const url = `${authority}/${tenantId}/oauth2/v2.0/token`
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: SCOPE,
  }
  return new AccessTokens(() => fetchToken(http, url, form), clock)
}
