// Canonical events as a messages answer: the frames of a stream, or the whole message that the same frames add up to.
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import type { AnswerContext, EventEncoder } from '../codec.ts'
import { encodeError } from '../errors.ts'
import { sseEvent, writeSse } from '../sse.ts'
import { FrameWriter } from './frame-writer.ts'
import { assembleMessage } from './frames-assemble.ts'

export const KEEP_ALIVE = writeSse(sseEvent('ping', { type: 'ping' }))

export function encodeEvents(answer: AnswerContext, inputTokens?: number): EventEncoder {
  const writer = new FrameWriter(answer, inputTokens)
  return {
    encode: (event) => writer.write(event).map((frame) => sseEvent(frame.type, frame)),
    fail: failing(answer),
    keepAlive: KEEP_ALIVE,
  }
}

/** Separate from the encoder because a forwarded stream needs only this. */
export function failing({ requestId }: AnswerContext): EventEncoder['fail'] {
  return (error) => [sseEvent('error', encodeError('messages', error, requestId))]
}

export function encodeResponse(
  events: readonly CanonicalEvent[],
  answer: AnswerContext,
): JsonObject {
  const writer = new FrameWriter(answer)
  return assembleMessage(events.flatMap((event) => writer.write(event)))
}
