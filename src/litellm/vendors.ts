// LiteLLM's providers, by the prefix of a model's name there, and what each is here: its kind, its address and where
// its key is. Addresses and variables are those that LiteLLM itself falls back to.
import { type Params, usualVariable } from './findings.ts'

/** Where a deployment's requests go. */
export type Upstream = {
  /** The section under `providers`. */
  readonly settings: Readonly<Record<string, unknown>>
  /** The model's name there. */
  readonly model: string
  /** What tells it from others of its kind: a region, a host. */
  readonly detail?: string
  readonly notes?: readonly string[]
}

type Vendor = {
  /** How its provider is called here. */
  readonly name: string
  /** A sentence instead of a provider: why there is none here. */
  readonly connect: (params: Params, model: string) => Upstream | string
  /** The price list that price_like names. */
  readonly list?: string
  /** Run by the operator, and free of charge there. */
  readonly isLocal?: true
  /** The vendor whose main models a wildcard means. */
  readonly maker?: 'openai' | 'anthropic' | 'gemini' | 'mistral' | 'groq' | 'deepseek' | 'xai'
}

type Server = {
  readonly preset?: string
  readonly url?: string
  /** The variable with its key. */
  readonly key?: string
  /** The variable with its address. */
  readonly base?: string
  readonly adapt?: (url: string) => string
  readonly model?: (name: string) => string
}

/** A server that speaks OpenAI's formats. */
function compatible(server: Server): Vendor['connect'] {
  return (params, model) => {
    const given = params.text('api_base') ?? params.text('base_url')
    const address = given ?? server.url ?? (server.base && `\${${server.base}}`)
    const url = address === undefined ? undefined : (server.adapt ?? asWritten)(address)
    const isElsewhere =
      given !== undefined && server.preset === undefined && server.url === undefined
    const key = keyOf(params, isElsewhere ? undefined : server.key)
    const usesResponses = model.startsWith('responses/')
    const isChatOnly = params.flag('use_chat_completions_api') === true
    const plain = model.replace(/^responses\//, '')
    return {
      settings: {
        kind: 'openai',
        ...(server.preset !== undefined && { preset: server.preset }),
        ...(url !== undefined && { base_url: url }),
        ...key,
        ...(usesResponses && { api: 'responses' }),
        ...(isChatOnly && { api: 'chat' }),
        ...textual(params, { organization: 'organization' }),
      },
      model: server.model?.(plain) ?? plain,
      ...(url !== undefined && { detail: hostOf(url) }),
      ...(isElsewhere &&
        key.api_key === undefined &&
        server.key !== undefined && {
          notes: [`no key is written for this address, where LiteLLM would send ${server.key}`],
        }),
    }
  }
}

function asWritten(url: string): string {
  return url.replace(/\/(chat\/completions|embeddings)\/?$/, '')
}

/** LiteLLM takes the server's address, Tollgate that of its API. */
function withV1(url: string): string {
  return /\/v1\/?$/.test(url) ? url : `${url.replace(/\/(api\/?)?$/, '')}/v1`
}

function keyOf(params: Params, variable: string | undefined): { readonly api_key?: string } {
  const given = params.text('api_key') ?? (variable && usualVariable(variable))
  return given === undefined ? {} : { api_key: given }
}

/** Settings that only have another name here. */
function textual(params: Params, names: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([theirs, ours]) => {
      const text = params.text(theirs)
      return text === undefined ? [] : [[ours, text] as const]
    }),
  )
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.split('.')[0] ?? ''
}

const AZURE_MARKS = /^(responses|o_series|gpt5_series|chat)\//

function azure(params: Params, model: string): Upstream | string {
  const base = params.text('api_base') ?? params.text('base_url') ?? '${AZURE_API_BASE}'
  const [address = '', query = ''] = base.split('?')
  const written = params.text('api_version') ?? new URLSearchParams(query).get('api-version')
  // Azure's API without versions has these as names of its own.
  const version = written === 'latest' || written === 'preview' || written === 'v1' ? null : written
  const sign = azureSignIn(params)
  if (typeof sign === 'string') return sign
  return {
    settings: {
      kind: 'azure',
      base_url: address.replace(/\/openai(\/.*)?$/, ''),
      ...(version !== null && { api_version: version }),
      ...sign,
    },
    model: params.text('deployment_id') ?? model.replace(AZURE_MARKS, ''),
    detail: hostOf(address),
    ...(written === null && {
      notes: ['no api_version there: here it is the one that Azure keeps up to date'],
    }),
  }
}

function azureSignIn(params: Params): Readonly<Record<string, unknown>> | string {
  const entra = { tenant_id: 'tenant_id', client_id: 'client_id', client_secret: 'client_secret' }
  if (params.has('api_key')) return keyOf(params, undefined)
  const settings = textual(params, entra)
  if (Object.keys(settings).length === Object.keys(entra).length) return { entra: settings }
  if (params.has('azure_ad_token')) {
    return 'signs in with azure_ad_token, a token that expires: give tenant_id, client_id and client_secret'
  }
  return keyOf(params, 'AZURE_API_KEY')
}

/** Azure AI Foundry: Claude in Anthropic's format, everything else as Azure's own models. */
function azureAi(params: Params, model: string): Upstream | string {
  const base = params.text('api_base') ?? '${AZURE_AI_API_BASE}'
  const key = keyOf(params, 'AZURE_AI_API_KEY')
  const detail = hostOf(base)
  if (/^claude/.test(model)) {
    const resource = base.replace(/\/anthropic(\/.*)?$/, '').replace(/\/$/, '')
    const settings = { kind: 'anthropic', base_url: `${resource}/anthropic`, ...key }
    return { settings, model, detail }
  }
  params.text('api_version')
  const isResource = /^\$\{|\.(services\.ai|openai|cognitiveservices)\.azure\.com/.test(base)
  if (!isResource) return { settings: { kind: 'openai', base_url: base, ...key }, model, detail }
  const resource = base.replace(/(\.azure\.com)\/.*$/, '$1')
  return { settings: { kind: 'azure', base_url: resource, ...key }, model, detail }
}

function anthropic(params: Params, model: string): Upstream {
  const base = params.text('api_base') ?? params.text('base_url')
  const url = base?.replace(/\/v1(\/messages)?\/?$/, '')
  const key = keyOf(params, 'ANTHROPIC_API_KEY')
  return {
    settings: { kind: 'anthropic', ...(url !== undefined && { base_url: url }), ...key },
    model,
    ...(url !== undefined && { detail: hostOf(url) }),
  }
}

function gemini(params: Params, model: string): Upstream | string {
  if (params.has('api_base')) return 'has an api_base, which for Gemini is part of a path there'
  return { settings: { kind: 'gemini', ...keyOf(params, 'GEMINI_API_KEY') }, model }
}

const REGION = /^[a-z]{2,3}(-[a-z]+)+-\d$/
/** Not among LiteLLM's ways to sign in that Tollgate has. */
const AWS_ROLES = ['aws_role_name', 'aws_web_identity_token', 'aws_session_name']

function bedrock(params: Params, name: string): Upstream | string {
  const role = AWS_ROLES.find((each) => params.has(each))
  if (role !== undefined) {
    return `signs in by ${role}: give keys, a profile of ~/.aws/credentials, or a Bedrock key as api_key`
  }
  const parts = name.replace(/^(converse|invoke|converse_like)\//, '').split('/')
  const inName = REGION.test(parts[0] ?? '') && parts.length > 1 ? parts.shift() : undefined
  const model = parts.join('/')
  if (/embed/.test(model)) return 'is an embedding model of Bedrock, which has none here'
  const region = params.text('aws_region_name') ?? inName ?? '${AWS_REGION}'
  const notes = []
  let credentials: Readonly<Record<string, string>> = textual(params, {
    api_key: 'api_key',
    aws_access_key_id: 'access_key_id',
    aws_secret_access_key: 'secret_access_key',
    aws_session_token: 'session_token',
    aws_profile_name: 'profile',
  })
  if (Object.keys(credentials).length === 0) {
    notes.push('no credentials there: boto3 looks in more places than these variables')
    credentials = {
      access_key_id: usualVariable('AWS_ACCESS_KEY_ID'),
      secret_access_key: usualVariable('AWS_SECRET_ACCESS_KEY'),
    }
  }
  const address = textual(params, { aws_bedrock_runtime_endpoint: 'base_url' })
  return {
    settings: { kind: 'bedrock', region, ...credentials, ...address },
    model,
    detail: region.replaceAll(/[${}]/g, ''),
    notes,
  }
}

function vertex(params: Params, model: string): Upstream | string {
  if (!/^(claude|gemini)|embedding/.test(model)) {
    return 'is a model of Vertex AI that is neither Gemini nor Claude, nor an embedding model of Google'
  }
  const project = params.text('vertex_project') ?? params.text('vertex_ai_project')
  const location = params.text('vertex_location') ?? params.text('vertex_ai_location')
  const where = location ?? '${VERTEXAI_LOCATION}'
  return {
    settings: {
      kind: 'vertex',
      project: project ?? '${VERTEXAI_PROJECT}',
      location: where,
      credentials: vertexCredentials(params),
    },
    model,
    detail: where.replaceAll(/[${}]/g, ''),
  }
}

/** A path or JSON there; here a path is marked as such. A variable's name must tell which of the two it holds. */
function vertexCredentials(params: Params): string {
  const given = params.text('vertex_credentials') ?? params.text('vertex_ai_credentials')
  const text = given ?? usualVariable('GOOGLE_APPLICATION_CREDENTIALS')
  const isJson = /^\s*\{/.test(text) && !text.startsWith('${')
  const isVariable = /^\$\{(\w+)/.exec(text)
  const holdsPath =
    isVariable === null ? !isJson : /APPLICATION|PATH|FILE/.test(isVariable[1] ?? '')
  return holdsPath ? `file:${text}` : text
}

const ollama = { preset: 'ollama', adapt: withV1 }

/** Servers of OpenAI's formats that Tollgate has no preset for. */
const SERVERS: Readonly<Record<string, readonly [url: string, key: string]>> = {
  perplexity: ['https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY'],
  fireworks_ai: ['https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'],
  cerebras: ['https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'],
  sambanova: ['https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY'],
  nvidia_nim: ['https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'],
  deepinfra: ['https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'],
  moonshot: ['https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'],
  dashscope: ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'],
  novita: ['https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'],
  nebius: ['https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY'],
  meta_llama: ['https://api.llama.com/compat/v1', 'LLAMA_API_KEY'],
  hyperbolic: ['https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY'],
  lambda_ai: ['https://api.lambda.ai/v1', 'LAMBDA_API_KEY'],
  featherless_ai: ['https://api.featherless.ai/v1', 'FEATHERLESS_AI_API_KEY'],
  zai: ['https://api.z.ai/api/paas/v4', 'ZAI_API_KEY'],
  volcengine: ['https://ark.cn-beijing.volces.com/api/v3', 'VOLCENGINE_API_KEY'],
  codestral: ['https://codestral.mistral.ai/v1', 'CODESTRAL_API_KEY'],
  friendliai: ['https://api.friendli.ai/serverless/v1', 'FRIENDLI_TOKEN'],
  github: ['https://models.inference.ai.azure.com', 'GITHUB_API_KEY'],
  wandb: ['https://api.inference.wandb.ai/v1', 'WANDB_API_KEY'],
  baseten: ['https://inference.baseten.co/v1', 'BASETEN_API_KEY'],
  vercel_ai_gateway: ['https://ai-gateway.vercel.sh/v1', 'VERCEL_AI_GATEWAY_API_KEY'],
  voyage: ['https://api.voyageai.com/v1', 'VOYAGE_API_KEY'],
  jina_ai: ['https://api.jina.ai/v1', 'JINA_AI_API_KEY'],
}

const MODELS_OF: Readonly<Record<string, (name: string) => string>> = {
  fireworks_ai: (name) => (name.includes('/') ? name : `accounts/fireworks/models/${name}`),
}

const VENDORS: Readonly<Record<string, Vendor>> = {
  openai: {
    name: 'openai',
    connect: compatible({ key: 'OPENAI_API_KEY' }),
    list: 'openai',
    maker: 'openai',
  },
  azure: { name: 'azure', connect: azure, list: 'openai' },
  azure_ai: { name: 'azure-ai', connect: azureAi, list: 'azure' },
  anthropic: { name: 'anthropic', connect: anthropic, list: 'anthropic', maker: 'anthropic' },
  gemini: { name: 'gemini', connect: gemini, list: 'gemini', maker: 'gemini' },
  vertex_ai: { name: 'vertex', connect: vertex, list: 'vertex' },
  vertex_ai_beta: { name: 'vertex', connect: vertex, list: 'vertex' },
  bedrock: { name: 'bedrock', connect: bedrock, list: 'bedrock' },
  bedrock_converse: { name: 'bedrock', connect: bedrock, list: 'bedrock' },
  ...preset('groq', { key: 'GROQ_API_KEY' }, 'groq'),
  ...preset('mistral', { key: 'MISTRAL_API_KEY' }, 'mistral'),
  ...preset('deepseek', { key: 'DEEPSEEK_API_KEY' }, 'deepseek'),
  ...preset('xai', { key: 'XAI_API_KEY' }, 'xai'),
  ...preset('openrouter', { key: 'OPENROUTER_API_KEY' }),
  together_ai: {
    name: 'together',
    connect: compatible({ preset: 'together', key: 'TOGETHER_API_KEY' }),
    list: 'together',
  },
  ollama: { name: 'ollama', connect: compatible(ollama), isLocal: true },
  ollama_chat: { name: 'ollama', connect: compatible(ollama), isLocal: true },
  ...local('hosted_vllm', { preset: 'vllm', base: 'HOSTED_VLLM_API_BASE' }),
  ...local('vllm', { preset: 'vllm' }),
  ...local('llamafile', { preset: 'llamacpp' }),
  ...local('lm_studio', { base: 'LM_STUDIO_API_BASE' }),
  ...local('docker_model_runner', { base: 'DOCKER_MODEL_RUNNER_API_BASE' }),
  ...local('openai_like', {}),
  ...local('custom_openai', {}),
  litellm_proxy: {
    name: 'litellm',
    connect: compatible({ base: 'LITELLM_PROXY_API_BASE', key: 'LITELLM_PROXY_API_KEY' }),
  },
  databricks: {
    name: 'databricks',
    connect: compatible({ base: 'DATABRICKS_API_BASE', key: 'DATABRICKS_API_KEY' }),
  },
  ...Object.fromEntries(
    Object.entries(SERVERS).map(([prefix, [url, key]]) => {
      const model = MODELS_OF[prefix]
      const connect = compatible({ url, key, ...(model !== undefined && { model }) })
      return [prefix, { name: prefix.replaceAll('_', '-'), connect }]
    }),
  ),
}

function preset(
  name: string,
  server: Server,
  maker?: Vendor['maker'],
): Readonly<Record<string, Vendor>> {
  const connect = compatible({ preset: name, ...server })
  return { [name]: { name, connect, list: name, ...(maker !== undefined && { maker }) } }
}

function local(prefix: string, server: Server): Readonly<Record<string, Vendor>> {
  const name = prefix.replaceAll('_', '-')
  return { [prefix]: { name, connect: compatible(server), isLocal: true } }
}

/** Names without a prefix that LiteLLM recognizes. */
const UNPREFIXED: readonly (readonly [RegExp, string])[] = [
  [/^(gpt|chatgpt|o[1-9]|text-embedding|codex|ft:|dall-e|whisper|tts|omni-)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^(gemini|text-embedding-00|text-multilingual)/, 'vertex_ai'],
  [/^([a-z]{2,6}\.)?(anthropic|amazon|meta|mistral|cohere|ai21|deepseek)\./, 'bedrock'],
]

export type Named = {
  readonly vendor: Vendor
  readonly prefix: string
  /** Without the prefix. */
  readonly model: string
}

/** The provider of a model as LiteLLM names it. A sentence: there is none here. */
export function vendorOf(name: string, provider: string | undefined): Named | string {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  if (provider !== undefined) {
    const model = first === provider ? name.slice(slash + 1) : name
    return found(provider, model) ?? `is of the provider ${provider}, which has no counterpart here`
  }
  if (VENDORS[first] !== undefined || slash >= 0) {
    const model = name.slice(slash + 1)
    return found(first, model) ?? `is of the provider ${first}, which has no counterpart here`
  }
  const [, guessed] = UNPREFIXED.find(([shape]) => shape.test(name)) ?? []
  if (guessed !== undefined) return found(guessed, name) ?? ''
  return `names no provider: write its model as PROVIDER/${name}`
}

function found(prefix: string, model: string): Named | undefined {
  const vendor = Object.hasOwn(VENDORS, prefix) ? VENDORS[prefix] : undefined
  return vendor === undefined ? undefined : { vendor, prefix, model }
}
