// A question to a provider beside the requests of clients: a list of models, a count, a token. Its answer is a small JSON
// document, and it may take its time.
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { parseObject } from '../core/json.ts'
import type { HttpCall, HttpClient } from './http.ts'
import { readWhole } from './whole.ts'

const BYTES_MAX = 8 * 1024 * 1024
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 }

/** The document. Throws a provider_failed that says what came instead. */
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

/** What somebody said beside the answers of models, within a bound. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await readWhole(body, BYTES_MAX)
  return bytes.toString()
}

export function failed(why: string): GatewayError {
  return new GatewayError('provider_failed', why)
}
