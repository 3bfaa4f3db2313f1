// What is done with a provider's answer besides relaying it: reading it whole up to a size limit, dropping it, and
// learning from its headers how long to leave the provider alone.
import { GatewayError } from '../../core/errors.ts'
import { formatSize } from '../../core/units.ts'
import type { AnswerHeaders, UpstreamAnswer } from './provider.ts'

/** More than any provider says about a failure. */
export const FAILURE_BYTES_MAX = 1024 * 1024

export async function readWhole(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLong(bytesMax)
    chunks.push(chunk)
  }
  const [first] = chunks
  return chunks.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(chunks, bytes)
}

/** The body of an answer that is there already. */
export async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export function tooLong(bytesMax: number): GatewayError {
  const size = formatSize(bytesMax)
  return new GatewayError('provider_failed', `the provider's answer is too long: more than ${size}`)
}

/** Drops an answer that will not be read: left alone, it would hold its connection until a timeout ends it. */
export async function discard({ body }: UpstreamAnswer): Promise<void> {
  try {
    for await (const _ of body) break
  } catch {
    // The answer is not needed, so its failure does not matter.
  }
}

/** A provider may ask to be left alone for longer, but is tried again after this. */
export const RETRY_AFTER_MS_MAX = 600_000

/**
 * How long a provider's headers ask to be left alone, in seconds. Some send milliseconds in a header outside the
 * standard, some send a date, which is compared with the date of the answer because clocks differ.
 */
export function retryAfterOf(headers: AnswerHeaders): number | undefined {
  const told = headers.get('retry-after') ?? ''
  const seconds =
    Number(headers.get('retry-after-ms')) / 1000 || Number(told) || secondsUntil(told, headers)
  return seconds > 0 ? seconds : undefined
}

function secondsUntil(date: string, headers: AnswerHeaders): number {
  return (Date.parse(date) - Date.parse(headers.get('date') ?? '')) / 1000
}
