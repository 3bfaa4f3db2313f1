// A responses answer on the wire: the writer's steps as numbered events, or the last step's response alone.
import type { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { AnswerContext, EventEncoder } from '../codec.ts'
import type { SseEvent } from '../sse.ts'
import { sseComment, sseEvent } from '../sse.ts'
import { AnswerWriter } from './answer-writer.ts'
import type { Step } from './failure-steps.ts'

/** Keeps a connection alive. A comment, because every event counts in the sequence. */
export const KEEP_ALIVE = sseComment('keepalive')

/** Open Responses requires it at the end of a stream; OpenAI's own clients accept it. */
export const DONE: SseEvent = sseEvent('', '[DONE]')

export function encodeEvents(answer: AnswerContext): EventEncoder {
  const writer = new AnswerWriter(answer)
  let sequence = 0
  const number = (step: Step): SseEvent => numberedEvent(step, sequence++)
  return {
    keepAlive: KEEP_ALIVE,
    encode(event: CanonicalEvent): readonly SseEvent[] {
      const events = writer.write(event).map(number)
      return event.type === 'response-end' ? [...events, DONE] : events
    },
    fail: (error: GatewayError) => writer.fail(error).map(number),
  }
}

export function encodeResponse(
  events: readonly CanonicalEvent[],
  answer: AnswerContext,
): JsonObject {
  const writer = new AnswerWriter(answer)
  let response: JsonObject = {}
  for (const event of events) {
    for (const step of writer.write(event)) {
      if (isObject(step['response'])) response = step['response']
    }
  }
  return response
}

export function numberedEvent(step: Step, sequence: number): SseEvent {
  const { type, ...rest } = step
  return sseEvent(type, { type, sequence_number: sequence, ...rest })
}
