// Calls to a provider other than clients' requests: for a list of models, a token count, an access token. The answer is
// a small JSON document, and may be slow.
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, parseObject, stringOf } from '../../core/json.ts'
import { readWhole } from './answers.ts'
import type { HttpCall, HttpClient } from './http.ts'

const BYTES_MAX = 8 * 1024 * 1024
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 }

/** The document. Throws a provider_failed that says what arrived instead. */
export async function fetchJson(
  http: HttpClient,
  call: Omit<HttpCall, 'timeouts'>,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { status, body } = await http.send({ ...call, timeouts: TIMEOUTS }, signal)
  const text = await readText(body)
  if (status !== 200) throw failed(`it answered ${status}`)
  const document = parseObject(text)
  if (document === undefined) throw failed('it answered something that is no JSON object')
  return document
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
  call: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { data } = await fetchJson(http, { ...call, method: 'GET' }, signal)
  if (!isArray(data)) throw failed('it answered something else than a list of models')
  return data.flatMap((model) => (isObject(model) ? (stringOf(model['id']) ?? []) : [])).toSorted()
}

/** The same from Google's shape, `[{ name }]` with the full path of each. */
export function namesIn(models: Json | undefined): readonly string[] {
  return listOf(models)
    .flatMap((model) => (isObject(model) ? (stringOf(model['name']) ?? []) : []))
    .map((name) => name.replace(/^.*\//, ''))
    .toSorted()
}
