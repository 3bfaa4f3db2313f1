// Reads a provider's answer that must be complete before it can be used, up to a size limit.
import { GatewayError } from '../core/errors.ts'
import { formatSize } from '../core/units.ts'

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

export function tooLong(bytesMax: number): GatewayError {
  const size = formatSize(bytesMax)
  return new GatewayError('provider_failed', `the provider's answer is too long: more than ${size}`)
}
