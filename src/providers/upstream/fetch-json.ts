// Calls to a provider other than clients' requests: for a list of models, a token count, an access token. The answer is
// a small JSON document, and may be slow.
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, listOf, objectOf, parseObject, stringOf } from '../../core/json.ts'
import { readWhole, type HttpClient } from './http.ts'

const BYTES_MAX = 8 * 1024 * 1024
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 }

type JsonCall = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON or a form; absent = a GET. */
  readonly body?: JsonObject | URLSearchParams
}

/** The document. Throws a provider_failed that says what arrived instead. */
export async function fetchJson(
  http: HttpClient,
  { url, headers, body }: JsonCall,
  signal: AbortSignal,
): Promise<JsonObject> {
  const call = { url: new URL(url), headers, timeouts: TIMEOUTS }
  const sent = body instanceof URLSearchParams ? body.toString() : JSON.stringify(body ?? {})
  const { status, body: answer } = await http.send(
    body === undefined
      ? { ...call, method: 'GET' }
      : { ...call, method: 'POST', body: Buffer.from(sent) },
    signal,
  )
  const text = await readText(answer)
  if (status !== 200) throw failed(`it answered ${status}`)
  const document = parseObject(text)
  if (document === undefined) throw failed('it answered something that is no JSON object')
  return document
}

/** The members of a body that an endpoint counts as input; it refuses all others. */
export function onlyMembers(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)))
}

/** A text that is not a model's answer, up to a size limit. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await readWhole(body, BYTES_MAX)
  return bytes.toString()
}

export function failed(why: string): GatewayError {
  return new GatewayError('provider_failed', why)
}

/**
 * The names of the models a provider offers, in alphabetical order, from the shape of OpenAI and Anthropic:
 * `{ data: [{ id }] }`. Throws a provider_failed that says what the provider answered.
 */
export async function listModels(
  http: HttpClient,
  call: Omit<JsonCall, 'body'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { data } = await fetchJson(http, call, signal)
  if (!isArray(data)) throw failed('it answered something else than a list of models')
  return namesIn(data, 'id')
}

/** What the entries of a list have in one of their members, in alphabetical order. */
export function namesIn(models: Json | undefined, member: string): readonly string[] {
  return listOf(models)
    .flatMap((model) => stringOf(objectOf(model)[member]) ?? [])
    .toSorted()
}
