// Messages in, messages out: bytes go on as they came, but for the model's name, the output limit, what is taken out of
// every request, and thoughts that providers of this format would not recognise.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject } from '../../core/json.ts'
import type { AnswerContext, EventForwarder, RequestChange } from '../codec.ts'
import { encodeError } from '../errors.ts'
import type { JsonBody } from '../json.ts'
import { changeMembers } from '../json.ts'
import { parseEvent } from '../provider-errors.ts'
import { isPacked, SEAL_MARK } from '../seal.ts'
import type { SseEvent } from '../sse.ts'
import { sseEvent, writeSse } from '../sse.ts'
import { KEEP_ALIVE } from './events-encode.ts'
import { removalsFrom } from './removals.ts'

export function forwardRequest(body: JsonBody, change: RequestChange): Uint8Array {
  const { outputTokensMax } = change
  const isCapped = outputTokensMax !== undefined && outputTokensMax !== body.value['max_tokens']
  return changeMembers(body, {
    ...removalsFrom(body.value).changes,
    ...(body.bytes.includes(SEAL_MARK) ? { messages: withoutForeignThoughts(body.value) } : {}),
    model: change.model,
    ...(isCapped ? { max_tokens: outputTokensMax } : {}),
  })
}

export function forwardEvents(answer: AnswerContext): EventForwarder {
  return {
    forward: (event) => (isStart(event) ? renameModel(event, answer) : event.raw),
    fail: (error) => [sseEvent('error', encodeError('messages', error, answer.requestId))],
    keepAlive: KEEP_ALIVE,
  }
}

export function forwardResponse(body: JsonBody, answer: AnswerContext): Uint8Array {
  return changeMembers(body, { model: answer.model })
}

/** Only the first event names the model. */
function isStart(event: SseEvent): boolean {
  return event.event === 'message_start'
}

function renameModel(event: SseEvent, answer: AnswerContext): string {
  const frame = parseEvent(event)
  if (!isObject(frame['message'])) return event.raw
  const message = { ...frame['message'], model: answer.model }
  return writeSse(sseEvent(event.event, { ...frame, message }))
}

/**
 * A conversation that another format's provider answered for a while (a fallback) carries that provider's thoughts
 * under our mark. A provider of this format would refuse the whole request for their signatures.
 */
function withoutForeignThoughts({ messages }: JsonObject): Json | undefined {
  if (!isArray(messages)) return messages
  return messages.flatMap((message) => {
    if (!isObject(message) || !isArray(message['content'])) return [message]
    const content = message['content'].filter((block) => !isForeignThought(block))
    // An answer that was nothing but such thoughts leaves no turn behind.
    return content.length === 0 && message['content'].length > 0 ? [] : [{ ...message, content }]
  })
}

function isForeignThought(block: Json): boolean {
  if (!isObject(block)) return false
  switch (String(block['type'])) {
    case 'thinking':
      return isPacked(block['signature'])
    case 'redacted_thinking':
      return isPacked(block['data'])
    default:
      return false
  }
}
