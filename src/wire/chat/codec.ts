// The chat completions codec: the client's half, the provider's half, and passthrough. Where both sides speak chat
// completions, bytes pass through unchanged in both directions, except for the model name, the output limit, the usage
// that metering needs, tools the provider would run itself, and reasoning of other formats.
import type { JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, objectOf, parseObject } from '../../core/json.ts'
import type {
  AnswerContext,
  Codec,
  EventForwarder,
  JsonAnswer,
  RequestChange,
} from '../contract/codec.ts'
import { decodeErrorBody } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { dataStart, replaceData, writeSse } from '../contract/sse.ts'
import type { JsonBody } from '../json/body.ts'
import { findMember, replaceMember, rewriteMembers, setMembers } from '../json/body.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'
import {
  DONE,
  encodeEvents,
  encodeResponse,
  failing,
  isUsageAsked,
  KEEP_ALIVE,
} from './answer-encode.ts'
import {
  affinityOf,
  readCall,
  removalsFrom,
  withoutForeignReasoning,
  withoutReasoning,
} from './call.ts'
import { decodeRequest } from './request-decode.ts'
import { CHAT_LOSSES, encodeRequest } from './request-encode.ts'

export const chatCodec: Codec = {
  format: 'chat',
  family: 'chat',
  losses: CHAT_LOSSES,
  readCall,
  affinityOf,
  decodeRequest,
  withoutReasoning,
  encodeEvents,
  encodeResponse,
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError: decodeErrorBody,
  forwardRequest,
  forwardEvents,
  forwardResponse,
}

export function forwardRequest(body: JsonBody, change: RequestChange): Buffer {
  const changesTo = (value: JsonObject): JsonObject => ({
    model: change.model,
    ...limitChange(value, change.outputTokensMax),
    ...streamChange(value),
    ...removalsFrom(value).changes,
    ...withoutForeignReasoning(value)?.changes,
  })
  return rewriteMembers(body, changesTo, change.adapt)
}

/** Sets the field that the client used, or both if it used both, so that neither stays above the limit. */
function limitChange(body: JsonObject, outputTokensMax: number | undefined): JsonObject {
  if (outputTokensMax === undefined) return {}
  const { max_completion_tokens: newer, max_tokens: older } = body
  if (!isGiven(older)) return { max_completion_tokens: outputTokensMax }
  return {
    max_tokens: outputTokensMax,
    ...(isGiven(newer) && { max_completion_tokens: outputTokensMax }),
  }
}

function streamChange(body: JsonObject): JsonObject {
  if (body['stream'] !== true || isUsageAsked(body)) return {}
  const options = body['stream_options']
  return { stream_options: { ...objectOf(options), include_usage: true } }
}

export function forwardEvents(answer: AnswerContext): EventForwarder {
  const rename = renaming(answer.model)
  const asksUsage = isUsageAsked(answer.body)
  const tell = (event: SseEvent): string =>
    asksUsage ? rename(event) : rename(event).replace(NO_USAGE_YET, '')
  let isMarked = false
  return {
    keepAlive: KEEP_ALIVE,
    fail: failing(answer),
    end: () => (isMarked ? '' : writeSse(DONE)),
    forward(event, [meaning]) {
      // Text deltas arrive by the thousand, and none of the checks below applies to them.
      if (meaning?.type === 'text-delta') return tell(event)
      if (event.data.trim() === DONE.data) isMarked = true
      if (!asksUsage && isUsageChunk(event.data)) return ''
      return tell(event)
    },
  }
}

/** Part of every chunk in a stream that ends with its usage. No text contains it: quotes in texts are escaped. */
const NO_USAGE_YET = ',"usage":null'

/** Replaces the provider's model name. Most chunks begin alike, so the rewritten beginning is kept and reused. */
function renaming(model: string): (event: SseEvent) => string {
  const name = JSON.stringify(model)
  let beginning = ''
  let told = ''
  return (event) => {
    const { raw, data } = event
    const { length } = beginning
    if (length > 0 && raw.slice(0, length) === beginning) return told + raw.slice(length)
    const span = findMember(data, 'model')
    if (span === undefined) return raw
    const start = dataStart(event)
    if (start < 0) return replaceData(event, replaceMember(data, 'model', name))
    beginning = raw.slice(0, start + span.end)
    told = raw.slice(0, start + span.start) + name
    return told + raw.slice(beginning.length)
  }
}

/** Whether this is the extra chunk that carries nothing but the usage. */
function isUsageChunk(data: string): boolean {
  if (!data.includes('"prompt_tokens"')) return false
  // Invalid JSON is reported by the decoder of the stream.
  const { usage, choices } = parseObject(data) ?? {}
  return isObject(usage) && isArray(choices) && choices.length === 0
}

export function forwardResponse({ text }: JsonAnswer, { model }: AnswerContext): string {
  return setMembers(text, { model })
}
