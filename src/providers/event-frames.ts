// Splits an AWS event stream into frames: length-prefixed messages with headers, checksums and a payload. The only file
// that knows this framing.
import { crc32 } from 'node:zlib'

import { GatewayError } from '../core/errors.ts'

export type EventFrame = {
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

/** Cuts bytes into frames, wherever the chunks end. */
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
