// Canonical events as a chat completions answer: the chunks of a stream, or one object. `deltas.ts` decides which
// changes they carry.
import type { CanonicalEvent, UsageEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, numberOf } from '../../core/json.ts'
import type { AnswerContext, EventEncoder } from '../codec.ts'
import { encodeError } from '../errors.ts'
import type { SseEvent } from '../sse.ts'
import { sseComment, sseEvent } from '../sse.ts'
import type { Change } from './deltas.ts'
import { DeltaEncoder } from './deltas.ts'
import { encodeUsage } from './usage.ts'

export const KEEP_ALIVE = sseComment('keepalive')
export const DONE = sseEvent('', '[DONE]')

export function encodeEvents(answer: AnswerContext): EventEncoder {
  const asksUsage = isUsageAsked(answer.body)
  const head = {
    id: answer.newId('chatcmpl'),
    object: 'chat.completion.chunk',
    created: answer.createdAt,
    model: answer.model,
  }
  // A client that requested usage gets it in the chunk before `[DONE]`, and null in every other chunk. All other
  // clients never see the field.
  const chunk = (choices: readonly Change[]): SseEvent =>
    sseEvent('', { ...head, choices, ...(asksUsage && { usage: null }) })
  const deltas = new DeltaEncoder(answer)
  let counted: UsageEvent | undefined
  return {
    keepAlive: KEEP_ALIVE,
    encode(event) {
      if (event.type === 'usage') counted = event
      if (event.type !== 'response-end') {
        return deltas.encode(event).map((change) => chunk([change]))
      }
      return asksUsage && counted
        ? [sseEvent('', { ...head, choices: [], ...encodeCounted(counted) }), DONE]
        : [DONE]
    },
    fail: failing(answer),
  }
}

/** Separate from the encoder because a forwarded stream needs only this. */
export function failing({ requestId }: AnswerContext): EventEncoder['fail'] {
  return (error) => [sseEvent('', encodeError('chat', error, requestId))]
}

export function isUsageAsked(body: JsonObject): boolean {
  const options = body['stream_options']
  return isObject(options) && options['include_usage'] === true
}

export function encodeResponse(
  events: readonly CanonicalEvent[],
  answer: AnswerContext,
): JsonObject {
  const deltas = new DeltaEncoder(answer)
  const choices = new Map<number, Choice>()
  let counted: UsageEvent | undefined
  for (const event of events) {
    if (event.type === 'usage') counted = event
    for (const change of deltas.encode(event)) addChange(choices, change)
  }
  return {
    id: answer.newId('chatcmpl'),
    object: 'chat.completion',
    created: answer.createdAt,
    model: answer.model,
    choices: [...choices.values()].toSorted((one, other) => one.index - other.index),
    ...(counted && encodeCounted(counted)),
  }
}

function encodeCounted({ usage, tier }: UsageEvent): JsonObject {
  return { usage: encodeUsage(usage), ...(tier && { service_tier: tier }) }
}

type Choice = {
  readonly index: number
  readonly message: Growing
  logprobs: Growing | null
  finish_reason: string | null
}
type Growing = { [name: string]: Json | undefined }

function addChange(choices: Map<number, Choice>, change: Change): void {
  const { index, delta, logprobs, finish_reason } = change
  const choice = choices.get(index) ?? newChoice(index)
  choices.set(index, choice)
  const { tool_calls: calls, role: _, ...rest } = delta
  grow(choice.message, rest)
  if (isArray(calls)) growCalls(choice.message, calls)
  if (logprobs !== null) grow((choice.logprobs ??= {}), logprobs)
  choice.finish_reason = finish_reason ?? choice.finish_reason
}

function newChoice(index: number): Choice {
  const message = { role: 'assistant', content: null, refusal: null, annotations: [] }
  return { index, message, logprobs: null, finish_reason: null }
}

/** Merges one change: strings and lists grow, everything else is set. */
function grow(whole: Growing, delta: JsonObject): void {
  for (const [name, piece] of Object.entries(delta)) {
    const before = whole[name]
    if (typeof before === 'string' && typeof piece === 'string') whole[name] = before + piece
    else if (isArray(before) && isArray(piece)) append(before as Json[], piece)
    else if (isObject(before) && isObject(piece)) grow(before, piece)
    else whole[name] = isArray(piece) ? [...piece] : piece
  }
}

/** In place: copying a long list for every token would stall all other requests. */
function append(list: Json[], more: readonly Json[]): void {
  for (const each of more) list.push(each)
}

/** A stream numbers its calls so that their pieces can be matched; a whole answer just lists them. */
function growCalls(message: Growing, pieces: readonly Json[]): void {
  const calls = (message['tool_calls'] ??= []) as Growing[]
  for (const piece of pieces) {
    if (!isObject(piece)) continue
    const { index, ...call } = piece
    grow((calls[numberOf(index) ?? 0] ??= {}), call)
  }
}
