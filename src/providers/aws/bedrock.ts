// Amazon Bedrock: Claude in the messages format, every other model in Converse, both with AWS signatures or a Bedrock
// key. Its streams are binary frames; each is passed on as the event it carries.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AwsV4Signer } from 'aws4fetch'
import { z } from 'zod'
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import { renamed, text } from '../../core/setting-kinds.ts'
import type { AdapterTools, Named } from '../upstream/adapter.ts'
import { apiKeys, COMMON, defineAdapter, missingKey, providerBaseUrl } from '../upstream/adapter.ts'
import { fetchJson, namesIn } from '../upstream/fetch-json.ts'
import { takenBetas, untakenBetas } from '../upstream/hosted-claude.ts'
import { KeyPool } from '../upstream/key-pool.ts'
import type { Provider } from '../upstream/provider.ts'
import { claudeAnswer, converseAnswer } from './bedrock-answer.ts'

/** Sent in the body of a Claude request; Anthropic itself expects a header. */
const ANTHROPIC_VERSION = 'bedrock-2023-05-31'

/** An empty text, from a variable that is not set, leaves the provider out. */
const secret = z.string()

const settings = z
  .strictObject({
    kind: z.literal('bedrock'),
    region: text,
    /** A Bedrock key, instead of the credentials below. */
    api_key: apiKeys.optional(),
    access_key_id: secret.optional(),
    secret_access_key: secret.optional(),
    session_token: secret.optional(),
    /** The section of ~/.aws/credentials to use if no other credentials are given. */
    profile: text.default('default'),
    base_url: providerBaseUrl.optional(),
    ...COMMON,
  })
  .transform(
    renamed({
      api_key: 'apiKeys',
      access_key_id: 'accessKeyId',
      secret_access_key: 'secretAccessKey',
      session_token: 'sessionToken',
      base_url: 'baseUrl',
    }),
  )

export const bedrock = defineAdapter({
  kind: 'bedrock',
  settings,
  priceLists: { bedrock: 'aws' },
  vendor: () => null,
  // Claude caches only what it is asked to; GPT caches prompts unasked, and bills for the writing.
  writesCacheUnasked: (model) => !isClaude(model),
  missing: (settings) => {
    if (settings.apiKeys !== undefined) return missingKey(settings.apiKeys)
    if (settings.accessKeyId === '') return { setting: 'access_key_id', is: 'empty' }
    return credentialsOf(settings) === undefined
      ? { setting: 'access_key_id', is: 'absent' }
      : undefined
  },
  make: bedrockProvider,
})

type Settings = z.output<typeof settings>

function bedrockProvider(settings: Named<Settings>, tools: AdapterTools): Provider {
  const { http } = tools
  const keys = new KeyPool(settings, tools)
  const host = `https://bedrock-runtime.${settings.region}.amazonaws.com`
  const base = settings.baseUrl ?? host
  return {
    name: settings.name,
    formatsOf: (model) => (isClaude(model) ? ['messages'] : ['converse']),
    leavesOut: ({ model, headers }) => (isClaude(model) ? untakenBetas(headers) : []),
    // The model and whether to stream are in the URL alone; betas go into the body, where Anthropic has a header.
    adapt: ({ model, headers }) => (isClaude(model) ? claudeMembers(takenBetas(headers)) : {}),
    send: async ({ model, stream, body, timeouts, trace }, signal) => {
      const url = new URL(
        `${base}/model/${encodeURIComponent(model)}/${operationOf(model, stream)}`,
      )
      let headers: Readonly<Record<string, string>> = {}
      const answer = await keys.send(async (key) => {
        headers = await signed(settings, { url, body, key })
        const call = { url, headers, body, timeouts, trace, hasFrames: stream }
        return http.send({ ...call, method: 'POST' }, signal)
      })
      const asked = { stream, headers }
      return isClaude(model) ? claudeAnswer(answer, asked) : converseAnswer(answer, asked)
    },
    listModels: async (signal) => {
      const control = settings.baseUrl === undefined ? host.replace('-runtime', '') : base
      const names: string[] = []
      for (const { path, list, name } of LISTS) {
        const url = new URL(control + path)
        const headers = await signed(settings, { url, key: keys.next() })
        const { [list]: entries } = await fetchJson(http, { url: url.href, headers }, signal)
        names.push(...namesIn(entries, name))
      }
      return names.toSorted()
    },
  }
}

/** Models by their own names, and by the names under which a group of regions serves them. */
const LISTS = [
  { path: '/foundation-models', list: 'modelSummaries', name: 'modelId' },
  {
    path: '/inference-profiles?maxResults=1000',
    list: 'inferenceProfileSummaries',
    name: 'inferenceProfileId',
  },
]

/** `eu.anthropic.claude-…`, or the same inside the ARN of an inference profile. */
function isClaude(model: string): boolean {
  return model.includes('anthropic.claude')
}

function operationOf(model: string, stream: boolean): string {
  if (isClaude(model)) return stream ? 'invoke-with-response-stream' : 'invoke'
  return stream ? 'converse-stream' : 'converse'
}

function claudeMembers(betas: readonly string[]): JsonObject {
  return {
    model: undefined,
    stream: undefined,
    anthropic_version: ANTHROPIC_VERSION,
    anthropic_beta: betas.length === 0 ? undefined : betas,
  }
}

type Signed = {
  readonly url: URL
  /** Absent = a GET. */
  readonly body?: Buffer
  readonly key: string | undefined
}

async function signed(
  settings: Settings,
  { url, body, key }: Signed,
): Promise<Record<string, string>> {
  const type = { 'content-type': 'application/json' }
  if (key !== undefined) return { ...type, authorization: `Bearer ${key}` }
  // Read for every request: a renewed credentials file takes effect without a reload.
  const credentials = credentialsOf(settings)
  if (credentials === undefined) throw new Error('a provider without credentials is left out')
  const signer = new AwsV4Signer({
    ...credentials,
    service: 'bedrock',
    region: settings.region,
    method: body === undefined ? 'GET' : 'POST',
    url: url.href,
    headers: type,
    ...(body === undefined ? {} : { body }),
  })
  const { headers } = await signer.sign()
  return Object.fromEntries(headers)
}

type Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

type GivenCredentials = { readonly [Name in keyof Credentials]?: string | undefined }

function credentialsOf(settings: Settings): Credentials | undefined {
  return whole(settings) ?? whole(credentialsIn(settings.profile))
}

function whole(given: GivenCredentials): Credentials | undefined {
  const { accessKeyId, secretAccessKey, sessionToken } = given
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return defined({ accessKeyId, secretAccessKey, sessionToken })
}

/** A section of the file in which AWS's own tools keep credentials. */
function credentialsIn(profile: string): GivenCredentials {
  let file: string
  try {
    file = readFileSync(join(homedir(), '.aws', 'credentials'), 'utf8')
  } catch {
    return {}
  }
  const [, section = ''] = file.split(`[${profile}]`)
  const [own = ''] = section.split(/^\[/m)
  const values = new Map(
    own.split('\n').map((line) => {
      const [name = '', ...value] = line.split('=')
      return [name.trim(), value.join('=').trim()] as const
    }),
  )
  return {
    accessKeyId: values.get('aws_access_key_id'),
    secretAccessKey: values.get('aws_secret_access_key'),
    sessionToken: values.get('aws_session_token'),
  }
}
