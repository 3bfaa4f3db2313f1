// Canonical events as a chat completions answer. Events become changes to the message of a choice: a stream sends the
// changes one by one and a whole answer is their sum, so the two always agree.
import type {
  CanonicalEvent,
  ChoiceEnd,
  FinishReason,
  TokenLogprob,
  Usage,
  UsageEvent,
} from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, numberOf, objectOf } from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import { packReasoning } from '../content/opaque-reasoning.ts'
import { ownCallId, restoreCustomCalls } from '../content/tools.ts'
import type { AnswerContext, EventEncoder } from '../contract/codec.ts'
import { encodeError } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { sseComment, sseEvent } from '../contract/sse.ts'
import { knowsOnlyFunctions } from './tools.ts'

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

function encodeUsage(usage: Usage): JsonObject {
  const { audioTokens } = usage
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      ...(audioTokens !== undefined && { audio_tokens: audioTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }
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
    // In place: copying a long list for every token would stall all other requests.
    else if (isArray(before) && isArray(piece))
      for (const each of piece) (before as Json[]).push(each)
    else if (isObject(before) && isObject(piece)) grow(before, piece)
    else whole[name] = isArray(piece) ? [...piece] : piece
  }
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

/** One change: what a chunk of a stream carries for one choice. */
type Change = {
  readonly index: number
  readonly delta: JsonObject
  readonly logprobs: JsonObject | null
  readonly finish_reason: string | null
}

class ChoiceState {
  /** True until the choice has something other than reasoning. */
  isSilent = true
  /** Text blocks are joined into one content, so the citations of a block are shifted by where it starts. */
  textLength = 0
  blockStart = 0
  reasoning = ''
  toolCalls = 0
  readonly callIds = new Set<string>()
  /** Whether the current call has any input yet. */
  hasInput = false
  custom = false
}

class DeltaEncoder {
  readonly #answer: AnswerContext
  readonly #choices = new Map<number, ChoiceState>()
  readonly #isLegacy: boolean
  readonly #restore: (event: CanonicalEvent) => readonly CanonicalEvent[]

  constructor(answer: AnswerContext) {
    this.#answer = answer
    this.#isLegacy = knowsOnlyFunctions(answer.body)
    this.#restore = restoreCustomCalls(customToolsOf(answer.body))
  }

  encode(given: CanonicalEvent): readonly Change[] {
    return this.#restore(given).flatMap((event) => {
      if (event.type === 'choice-end') return this.#end(event)
      return 'block' in event ? this.#encodeBlock(event) : []
    })
  }

  #end({ choice, reason, explanation: refusal }: ChoiceEnd): readonly Change[] {
    const started = this.#start(choice, refusal === undefined ? '' : null)
    const { toolCalls, isSilent } = this.#stateOf(choice)
    const finish_reason = this.#finishReason(reason, toolCalls)
    // Clients expect a string when there is nothing else, even when reasoning used up the whole answer.
    const silence = isSilent ? { content: '' } : {}
    const delta = refusal === undefined ? silence : { refusal }
    return [...started, { index: choice, delta, logprobs: null, finish_reason }]
  }

  #encodeBlock(event: BlockEvent): readonly Change[] {
    const { choice } = event
    const started = this.#start(choice, event.type === 'text-start' ? '' : null)
    const delta = this.#deltaOf(event, this.#stateOf(choice))
    if (delta === undefined) return started
    const logprobs =
      event.type === 'text-delta' && event.logprobs !== undefined
        ? { content: event.logprobs.map(encodeLogprob), refusal: null }
        : null
    return [...started, { index: choice, delta, logprobs, finish_reason: null }]
  }

  /** The first change of a choice names the role. */
  #start(choice: number, content: '' | null): readonly Change[] {
    if (this.#choices.has(choice)) return []
    const delta = { role: 'assistant', content, refusal: null }
    return [{ index: choice, delta, logprobs: null, finish_reason: null }]
  }

  #stateOf(choice: number): ChoiceState {
    const state = this.#choices.get(choice) ?? new ChoiceState()
    this.#choices.set(choice, state)
    return state
  }

  #deltaOf(event: BlockEvent, state: ChoiceState): JsonObject | undefined {
    switch (event.type) {
      case 'text-start':
        state.isSilent = false
        state.blockStart = state.textLength
        return undefined
      case 'text-delta':
        state.textLength += event.text.length
        return { content: event.text }
      case 'text-citation': {
        const { start, end, url, title } = event.citation
        const span = { start_index: state.blockStart + start, end_index: state.blockStart + end }
        return { annotations: [{ type: 'url_citation', url_citation: { ...span, url, title } }] }
      }
      case 'refusal-delta':
        return { refusal: event.text }
      case 'reasoning-start':
        state.reasoning = ''
        return undefined
      case 'reasoning-delta':
        state.reasoning += event.text
        return { reasoning_content: event.text }
      case 'reasoning-end':
        return encodeOpaque(event.opaque, state.reasoning)
      case 'tool-call-start':
        state.isSilent = false
        state.toolCalls += 1
        state.hasInput = false
        state.custom = event.custom
        return this.#callDelta(state, {
          name: event.name,
          id: ownCallId(event.id, state.callIds, () => this.#answer.newId('call')),
        })
      case 'tool-call-delta':
        state.hasInput ||= event.text !== ''
        return this.#callDelta(state, { input: event.text })
      case 'tool-call-end':
        // Arguments are JSON: a call without input gets an empty object, not an empty string.
        return state.hasInput || state.custom ? undefined : this.#callDelta(state, { input: '{}' })
      case 'refusal-start':
        state.isSilent = false
        return undefined
      case 'text-end':
      case 'refusal-end':
        return undefined
    }
  }

  #callDelta(state: ChoiceState, piece: CallPiece): JsonObject | undefined {
    // The model was asked for one call at a time. If it makes more, it repeats the others once it has the first result.
    if (this.#isLegacy && state.toolCalls > 1) return undefined
    const input = piece.input ?? ''
    const name = piece.name === undefined ? {} : { name: piece.name }
    const called = state.custom ? { ...name, input } : { ...name, arguments: input }
    if (this.#isLegacy) return { function_call: called }
    const type = state.custom ? 'custom' : 'function'
    const identity = piece.id === undefined ? {} : { id: piece.id, type }
    // This format counts tool calls alone, from 0; canonical blocks are counted across all kinds.
    return { tool_calls: [{ index: state.toolCalls - 1, ...identity, [type]: called }] }
  }

  #finishReason(reason: FinishReason, toolCalls: number): string {
    switch (reason) {
      case 'limit':
      case 'context':
        return 'length'
      case 'refusal':
        return 'content_filter'
      case 'tool-call':
      case 'stop':
      case 'pause':
        if (toolCalls === 0) return 'stop'
        return this.#isLegacy ? 'function_call' : 'tool_calls'
    }
  }
}

type BlockEvent = Extract<CanonicalEvent, { readonly block: number }>
type CallPiece = { readonly id?: string; readonly name?: string; readonly input?: string }

/** With its text, in `reasoning_details`: the one place that chat clients are known to keep and resend. */
function encodeOpaque(opaque: OpaqueReasoning | undefined, text: string): JsonObject | undefined {
  if (opaque === undefined) return undefined
  const packed = packReasoning(opaque, 'chat')
  if (packed === '') return undefined
  const isHidden = text === '' && opaque.kind !== 'signature'
  return {
    reasoning_details: [
      isHidden
        ? { type: 'reasoning.encrypted', data: packed }
        : { type: 'reasoning.text', text, signature: packed },
    ],
  }
}

function encodeLogprob({ token, logprob, bytes, top }: TokenLogprob): JsonObject {
  return { token, logprob, bytes, top_logprobs: top }
}

function customToolsOf({ tools }: JsonObject): ReadonlySet<string> {
  const names = new Set<string>()
  for (const tool of listOf(tools)) {
    const { name } = objectOf(objectOf(tool)['custom'])
    if (typeof name === 'string') names.add(name)
  }
  return names
}
