// Amazon Bedrock: Claude in the messages format, every other model in Converse, both with AWS signatures or a Bedrock
// key. Its streams are binary frames; each is passed on as the event it carries.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { AwsV4Signer } from 'aws4fetch'
import { z } from 'zod'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { defined, objectOf, parseObject, stringOf } from '../core/json.ts'
import { renamed, text } from '../core/setting-kinds.ts'
import { sseEvent, writeSse } from '../wire/contract/sse.ts'
import { decodeError } from '../wire/converse/answer-decode.ts'
import { takenBetas, untakenBetas } from './anthropic.ts'
import type { AdapterTools, Named } from './upstream/adapter.ts'
import { apiKeys, COMMON, defineAdapter, missingKey, providerBaseUrl } from './upstream/adapter.ts'
import { KeyPool } from './upstream/credentials.ts'
import { SecretFilter, secretsIn } from './upstream/echoed-secrets.ts'
import { fetchJson, namesIn, readText } from './upstream/fetch-json.ts'
import type { Provider, UpstreamAnswer } from './upstream/provider.ts'

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

// Answers, as the codecs read them: the frames of an AWS event stream become events, and errors take the shape of their
// format.

/** Bedrock's exceptions, and the error types of the messages format that they become. */
const ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ['throttlingException', 'rate_limit_error'],
  ['serviceUnavailableException', 'overloaded_error'],
  ['modelNotReadyException', 'overloaded_error'],
  ['validationException', 'invalid_request_error'],
  ['accessDeniedException', 'permission_error'],
])

/** A Converse answer: each frame is one event, and its header names the event. */
export function converseAnswer(answer: UpstreamAnswer, sent: SentRequest): UpstreamAnswer {
  if (!sent.stream || answer.status !== 200) return answer
  return { ...answer, body: events(answer.body, sent.headers, converseEvent) }
}

/** A Claude answer: each frame wraps an event of the messages format; errors come without that format's envelope. */
export function claudeAnswer(answer: UpstreamAnswer, sent: SentRequest): UpstreamAnswer {
  if (answer.status !== 200) return { ...answer, body: inEnvelope(answer.body) }
  const { stream, headers } = sent
  return stream ? { ...answer, body: events(answer.body, headers, claudeEvent) } : answer
}

type SentRequest = {
  readonly stream: boolean
  /** The headers of the request, which no frame may quote. */
  readonly headers: Readonly<Record<string, string>>
}

async function* events(
  bytes: AsyncIterable<Uint8Array>,
  headers: SentRequest['headers'],
  toText: (frame: EventFrame) => string,
): AsyncIterable<Uint8Array> {
  const filter = new SecretFilter(secretsIn(headers))
  // An event ends with a line end, so nothing of it is kept back.
  for await (const frame of readFrames(bytes)) yield filter.push(Buffer.from(toText(frame)))
}

function converseEvent({ headers, payload }: EventFrame): string {
  const error = errorOf({ headers, payload })
  if (error !== undefined) return writeSse(sseEvent('exception', error))
  return writeSse(sseEvent(headers.get(':event-type') ?? '', inOneLine(payload.toString())))
}

function claudeEvent({ headers, payload }: EventFrame): string {
  const error = errorOf({ headers, payload })
  if (error !== undefined) return writeSse(sseEvent('error', { type: 'error', error }))
  // The frame wraps the event in base64; servers that stand in for Bedrock may send it bare.
  const outside = payload.toString()
  const { bytes } = read(outside)
  const data = typeof bytes === 'string' ? Buffer.from(bytes, 'base64').toString() : outside
  return writeSse(sseEvent(stringOf(read(data)['type']) ?? '', inOneLine(data)))
}

/** Between JSON tokens a line end is only white space. */
function inOneLine(json: string): string {
  return json.replaceAll(/[\r\n]/g, ' ')
}

function errorOf({ headers, payload }: EventFrame): JsonObject | undefined {
  const kind = headers.get(':exception-type') ?? headers.get(':error-code')
  if (kind === undefined) return undefined
  const { message } = objectOf(parseObject(payload.toString()))
  return {
    // Codes begin with a capital letter, names of exceptions do not.
    type: ERROR_TYPES.get(kind.charAt(0).toLowerCase() + kind.slice(1)) ?? 'api_error',
    message: stringOf(message) ?? headers.get(':error-message') ?? kind,
  }
}

async function* inEnvelope(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const { message = 'the provider gave no reason' } = decodeError(read(await readText(bytes)))
  yield Buffer.from(JSON.stringify({ type: 'error', error: { type: 'error', message } }))
}

function read(text: string): JsonObject {
  const value = parseObject(text)
  if (value !== undefined) return value
  throw new GatewayError('provider_failed', 'the provider sent a frame that is not a JSON object')
}

type EventFrame = {
  /** Texts only: Bedrock sends no other type of header. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Buffer
}

/** Two lengths and their checksum. */
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
/** A frame may not grow without bound. The longest event of a text stream fits, also in base64. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024
const TEXT = 7

/** Cuts bytes into length-prefixed frames with headers, a payload and checksums, wherever the chunks end. */
export async function* readFrames(bytes: AsyncIterable<Uint8Array>): AsyncIterable<EventFrame> {
  let chunks: Uint8Array[] = []
  let waitingBytes = 0
  let neededBytes = PRELUDE_BYTES
  for await (const chunk of bytes) {
    chunks.push(chunk)
    waitingBytes += chunk.length
    // Joined only once a frame is complete: else a long frame would be copied again for each of its chunks.
    if (waitingBytes < neededBytes) continue
    let rest = Buffer.concat(chunks, waitingBytes)
    for (;;) {
      neededBytes = bytesOfFrame(rest)
      if (rest.length < neededBytes) break
      yield readFrame(rest.subarray(0, neededBytes))
      rest = rest.subarray(neededBytes)
    }
    chunks = [rest]
    waitingBytes = rest.length
  }
}

/** The length of the frame that begins here; while that is unknown, the bytes needed to read it. */
function bytesOfFrame(rest: Buffer): number {
  if (rest.length < PRELUDE_BYTES) return PRELUDE_BYTES
  const length = rest.readUInt32BE(0)
  if (length > FRAME_BYTES_MAX || length < PRELUDE_BYTES + CHECKSUM_BYTES) throw broken()
  return length
}

function readFrame(frame: Buffer): EventFrame {
  const end = frame.length - CHECKSUM_BYTES
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw broken()
  const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4)
  if (headersEnd > end) throw broken()
  const headers = new Map<string, string>()
  for (let at = PRELUDE_BYTES; at < headersEnd;) {
    const nameEnd = at + 1 + frame.readUInt8(at)
    if (nameEnd + 3 > headersEnd || frame.readUInt8(nameEnd) !== TEXT) throw broken()
    const valueEnd = nameEnd + 3 + frame.readUInt16BE(nameEnd + 1)
    if (valueEnd > headersEnd) throw broken()
    headers.set(
      frame.toString('utf8', at + 1, nameEnd),
      frame.toString('utf8', nameEnd + 3, valueEnd),
    )
    at = valueEnd
  }
  return { headers, payload: frame.subarray(headersEnd, end) }
}

function broken(): GatewayError {
  return new GatewayError('provider_failed', 'the provider sent a broken event stream')
}
