// Turns Bedrock's answers into what the codecs read: the frames of an AWS event stream become events, and errors take
// the shape of their format.
import { crc32 } from 'node:zlib'
import { GatewayError } from '../../core/errors.ts'
import { objectOf, parseObject, stringOf } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { sseEvent, writeSse } from '../../wire/contract/sse.ts'
import { decodeError } from '../../wire/converse/answer-decode.ts'
import { SecretFilter, secretsIn } from '../upstream/echoed-secrets.ts'
import { readText } from '../upstream/fetch-json.ts'
import type { UpstreamAnswer } from '../upstream/provider.ts'

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
