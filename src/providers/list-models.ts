// The list of models a provider offers, as OpenAI and Anthropic both give it: `{ data: [{ id }] }`.
import { GatewayError } from '../core/errors.ts'
import { isArray, isObject, stringOf } from '../core/json.ts'
import type { HttpClient } from './http.ts'
import type { UpstreamAnswer } from './provider.ts'

const BYTES_MAX = 8 * 1_024 * 1_024
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 }

/** The names in alphabetical order. Throws a provider_failed that says what the provider answered. */
export async function listModels(
  http: HttpClient,
  call: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const answer = await http.send({ ...call, method: 'GET', timeouts: TIMEOUTS }, signal)
  const text = await readText(answer)
  if (answer.status !== 200) throw refused(`it answered ${answer.status}`)
  const names = namesIn(text)
  if (names === undefined) throw refused('it answered something else than a list of models')
  return names.toSorted()
}

async function readText({ body }: UpstreamAnswer): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > BYTES_MAX) throw refused('its list of models is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function namesIn(text: string): readonly string[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const data = isObject(value) ? value['data'] : undefined
  if (!isArray(data)) return undefined
  return data.flatMap((model) => (isObject(model) ? (stringOf(model['id']) ?? []) : []))
}

function refused(why: string): GatewayError {
  return new GatewayError('provider_failed', why)
}
