// Messages in, messages out: bytes go on as they came, but for the model's name, the output limit, what is taken out of
// every request, and thoughts that providers of this format would not recognise.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject } from '../../core/json.ts'
import type { AnswerContext, EventForwarder, RequestChange } from '../codec.ts'
import type { JsonAnswer, JsonBody } from '../json.ts'
import { changeMembers } from '../json.ts'
import { findMember, replaceMember, setMembers } from '../json-text.ts'
import { isPacked, SEAL_MARK } from '../seal.ts'
import type { SseEvent } from '../sse.ts'
import { replaceData } from '../sse.ts'
import { failing, KEEP_ALIVE } from './events-encode.ts'
import { removalsFrom } from './removals.ts'

export function forwardRequest(body: JsonBody, change: RequestChange): Uint8Array {
  const { outputTokensMax, searchesMax } = change
  const isCapped = outputTokensMax !== undefined && outputTokensMax !== body.value['max_tokens']
  return changeMembers(body, {
    ...removalsFrom(body.value, { maySearch: searchesMax !== undefined }).changes,
    ...(body.bytes.includes(SEAL_MARK) ? { messages: withoutForeignThoughts(body.value) } : {}),
    model: change.model,
    ...(isCapped ? { max_tokens: outputTokensMax } : {}),
  })
}

export function forwardEvents(answer: AnswerContext): EventForwarder {
  return {
    forward: (event) => renameModel(event, answer),
    fail: failing(answer),
    keepAlive: KEEP_ALIVE,
  }
}

export function forwardResponse({ text }: JsonAnswer, { model }: AnswerContext): string {
  return setMembers(text, { model })
}

/** Only the first event names the model, inside the message that it starts. */
function renameModel(event: SseEvent, answer: AnswerContext): string {
  if (event.event !== 'message_start') return event.raw
  const message = findMember(event.data, 'message')
  if (message === undefined) return event.raw
  const { start, end } = message
  const renamed = replaceMember(event.data.slice(start, end), 'model', JSON.stringify(answer.model))
  const data = event.data.slice(0, start) + renamed + event.data.slice(end)
  return replaceData(event, data)
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
