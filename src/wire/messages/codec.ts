// The messages codec: the client's half, the provider's half, and passthrough. Where both sides speak messages, bytes
// pass through unchanged, except for the model name, the output limit, what is removed from every request, and
// reasoning of other formats.
import type { JsonObject } from '../../core/json.ts'
import { PACK_MARK } from '../content/opaque-reasoning.ts'
import type {
  AnswerContext,
  Codec,
  EventForwarder,
  JsonAnswer,
  RequestChange,
} from '../contract/codec.ts'
import type { SseEvent } from '../contract/sse.ts'
import { replaceData } from '../contract/sse.ts'
import type { JsonBody } from '../json/body.ts'
import { findMember, findString, replaceMember, rewriteMembers, setMembers } from '../json/body.ts'
import { decodeError, decodeEvents, decodeResponse } from './answer-decode.ts'
import { encodeEvents, encodeResponse, failing, KEEP_ALIVE } from './answer-encode.ts'
import {
  affinityOf,
  readCall,
  removalsFrom,
  withoutForeignReasoning,
  withoutReasoning,
} from './call.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest, MESSAGES_LOSSES } from './request-encode.ts'

export const messagesCodec: Codec = {
  format: 'messages',
  family: 'messages',
  losses: MESSAGES_LOSSES,
  readCall,
  affinityOf,
  decodeRequest,
  withoutReasoning,
  encodeRequest,
  encodeEvents,
  encodeResponse,
  decodeEvents,
  decodeResponse,
  decodeError,
  forwardRequest,
  forwardEvents,
  forwardResponse,
}

export function forwardRequest(body: JsonBody, change: RequestChange): Buffer {
  const { outputTokensMax, searchesMax } = change
  const hasPacked = body.bytes.includes(PACK_MARK)
  const changesTo = (value: JsonObject): JsonObject => ({
    ...removalsFrom(value, { maySearch: searchesMax !== undefined }).changes,
    ...(hasPacked ? withoutForeignReasoning(value)?.changes : {}),
    model: change.model,
    ...(outputTokensMax === undefined ? {} : { max_tokens: outputTokensMax }),
  })
  return rewriteMembers(body, changesTo, change.adapt)
}

export function forwardEvents(answer: AnswerContext): EventForwarder {
  return {
    forward: (event) => renameModel(named(event), answer),
    fail: failing(answer),
    keepAlive: KEEP_ALIVE,
  }
}

export function forwardResponse({ text }: JsonAnswer, { model }: AnswerContext): string {
  return setMembers(text, { model })
}

/** Some providers leave out the name of an event, without which SDKs drop it. Its data has the same name. */
function named(event: SseEvent): SseEvent {
  const span = event.event === '' ? findString(event.data, ['type']) : undefined
  if (span === undefined) return event
  const name = event.data.slice(span.start, span.end)
  return { ...event, event: name, raw: `event: ${name}\n${event.raw}` }
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
