// Calls to a provider other than clients' requests: for a list of models, a token count, an access token. The answer is
// a small JSON document, and may be slow.
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { parseObject } from '../core/json.ts'
import type { HttpCall, HttpClient } from './http.ts'
import { readWhole } from './whole.ts'

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
