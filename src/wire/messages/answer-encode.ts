// Canonical events as a messages answer: the events of a stream, or the whole message that the same events add up to.
import type {
  CanonicalEvent,
  ChoiceEnd,
  FinishReason,
  ServiceTier,
  UsageEvent,
} from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { listOf, objectOf } from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import { packReasoning, PACK_MARK } from '../content/opaque-reasoning.ts'
import { ownCallId, toolInputObject, wrapCustomInput } from '../content/tools.ts'
import type { AnswerContext, EventEncoder } from '../contract/codec.ts'
import { encodeError } from '../contract/errors.ts'
import { sseEvent, writeSse } from '../contract/sse.ts'
import { STOP_REASONS } from './answer-decode.ts'
import { asksToSeeReasoning } from './call.ts'
import { shortToolName } from './tools.ts'

export const KEEP_ALIVE = writeSse(sseEvent('ping', { type: 'ping' }))

export function encodeEvents(answer: AnswerContext, inputTokens?: number): EventEncoder {
  const writer = new EventWriter(answer, inputTokens)
  return {
    encode: (event) => writer.write(event).map((sent) => sseEvent(sent.type, sent)),
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
  const writer = new EventWriter(answer)
  return assembleMessage(events.flatMap((event) => writer.write(event)))
}

/** One event of the stream; its type is also the name on the `event:` line, without which SDKs drop the event. */
type StreamEvent =
  | { readonly type: 'message_start'; readonly message: JsonObject }
  | {
      readonly type: 'content_block_start'
      readonly index: number
      readonly content_block: JsonObject
    }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | { readonly type: 'message_delta'; readonly delta: JsonObject; readonly usage: JsonObject }
  | { readonly type: 'message_stop' | 'ping' }

type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'citations_delta'; readonly citation: JsonObject }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }

type ContentEvent = Exclude<CanonicalEvent, { type: 'response-start' | 'usage' | 'ping' }>

/** The signature of reasoning that has none: an empty pack, so that no provider is sent it as its own. */
const EMPTY_PACK = PACK_MARK

class EventWriter {
  readonly #answer: AnswerContext
  readonly #toolNames: ReadonlyMap<string, string>
  readonly #callIds: Set<string>
  readonly #stops: readonly Json[]
  readonly #showsReasoning: boolean
  /** The first choice, whatever its number: this format has only one, and its requests cannot ask for more. */
  #choice: number | undefined
  #counted: UsageEvent
  /** The message starts with the first content, because some providers report their input beside it. */
  #isStarted = false
  #end: ChoiceEnd = { type: 'choice-end', choice: 0, reason: 'stop' }
  /** The blocks started so far, and whether the last one is still open. */
  #blocks = 0
  #isOpen = false
  #isAfterText = false
  /**
   * Gemini signs its texts behind them. The signature is held until another block follows and else left out: no answer of Claude
   * ends with reasoning, and Claude Code reports what the last block says.
   */
  #heldPack: string | undefined
  #hasCalled = false
  #hasRefused = false
  /** The input of a custom tool, which can only be written when it is complete. */
  #customInput: string | undefined

  /** `inputTokens`: what is assumed until the provider reports it. */
  constructor(answer: AnswerContext, inputTokens = 0) {
    this.#answer = answer
    this.#counted = { type: 'usage', usage: { ...NO_USAGE, inputTokens } }
    this.#showsReasoning = asksToSeeReasoning(answer.body)
    this.#toolNames = longToolNames(answer.body)
    this.#callIds = callIdsIn(answer.body)
    this.#stops = listOf(answer.body['stop_sequences'])
  }

  write(event: CanonicalEvent): StreamEvent[] {
    if ('choice' in event && event.choice !== (this.#choice ??= event.choice)) return []
    if (event.type === 'response-start') return []
    if (event.type === 'usage') {
      const { inputTokens } = this.#counted.usage
      // Who says that nothing was read has not counted yet.
      const isCounted = event.usage.inputTokens > 0
      this.#counted = isCounted ? event : { ...event, usage: { ...event.usage, inputTokens } }
      return []
    }
    if (event.type === 'ping') return this.#isStarted ? [{ type: 'ping' }] : []
    return this.#isStarted ? this.#content(event) : [this.#messageStart(), ...this.#content(event)]
  }

  #content(event: ContentEvent): StreamEvent[] {
    switch (event.type) {
      case 'text-start':
      case 'refusal-start':
      case 'reasoning-start':
        // The first piece opens the block: clients that send back empty text blocks are refused, and only the end of a
        // reasoning shows whether it is redacted.
        return []
      case 'text-delta':
        return this.#text(event.text)
      case 'refusal-delta':
        this.#hasRefused = true
        return this.#text(event.text)
      case 'text-citation':
        return this.#citation(event.citation)
      case 'reasoning-delta':
        if (!this.#showsReasoning || event.text === '') return []
        return [
          ...this.#openReasoning(),
          this.#delta({ type: 'thinking_delta', thinking: event.text }),
        ]
      case 'reasoning-end':
        return this.#showsReasoning ? this.#endReasoning(event.opaque) : []
      case 'tool-call-start':
        return this.#startToolCall(event)
      case 'tool-call-delta':
        return this.#toolInput(event.text)
      case 'tool-call-end':
        return this.#endToolCall()
      case 'text-end':
      case 'refusal-end':
        return this.#close()
      case 'choice-end':
        this.#end = event
        return []
      case 'response-end':
        return [this.#messageDelta(), { type: 'message_stop' }]
      case 'search':
      case 'citations-lost':
      case 'embedding':
        return []
    }
  }

  #messageStart(): StreamEvent {
    this.#isStarted = true
    const message = {
      id: this.#answer.newId('msg'),
      type: 'message',
      role: 'assistant',
      model: this.#answer.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: encodeUsage(this.#counted),
    }
    return { type: 'message_start', message }
  }

  #messageDelta(): StreamEvent {
    const { stopSequence, explanation = null } = this.#end
    const reason = this.#reason()
    const met = metSequence(stopSequence, this.#stops)
    const delta = {
      stop_reason: reason === 'stop' && met !== undefined ? 'stop_sequence' : STOP_REASONS[reason],
      stop_sequence: met ?? null,
      stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation } : null,
      container: null,
    }
    return { type: 'message_delta', delta, usage: encodeUsage(this.#counted) }
  }

  /** What the answer contains overrides the provider's reason, unless a limit may have cut a call short. */
  #reason(): FinishReason {
    const { reason } = this.#end
    if (reason !== 'stop' && reason !== 'tool-call') return reason
    if (this.#hasCalled) return 'tool-call'
    return this.#hasRefused ? 'refusal' : 'stop'
  }

  #text(text: string): StreamEvent[] {
    if (text === '') return []
    if (this.#isOpen) return [this.#delta({ type: 'text_delta', text })]
    return [...this.#openText(), this.#delta({ type: 'text_delta', text })]
  }

  #openText(): StreamEvent[] {
    // Without `citations`, like Anthropic's own: AI SDK 5 and 6 take a list or nothing, and fail on null.
    return this.#open({ type: 'text', text: '' })
  }

  #citation({ url, title }: { readonly url: string; readonly title: string }): StreamEvent[] {
    const type = 'web_search_result_location'
    const citation = { type, url, title, cited_text: '', encrypted_index: '' }
    return [...this.#openText(), this.#delta({ type: 'citations_delta', citation })]
  }

  #openReasoning(): StreamEvent[] {
    return this.#open({ type: 'thinking', thinking: '', signature: '' })
  }

  #endReasoning(opaque: OpaqueReasoning | undefined): StreamEvent[] {
    if (!this.#isOpen && (opaque === undefined || opaque.value === '')) return []
    const signature = opaque === undefined ? EMPTY_PACK : packReasoning(opaque, 'messages')
    const isSigned = opaque?.format === 'messages' && opaque.kind === 'signature'
    if (this.#isOpen || isSigned) {
      const opened = this.#openReasoning()
      return [...opened, this.#delta({ type: 'signature_delta', signature }), ...this.#close()]
    }
    if (!this.#isAfterText) return this.#redacted(signature)
    this.#heldPack = signature
    return []
  }

  #redacted(data: string): StreamEvent[] {
    return [...this.#open({ type: 'redacted_thinking', data }), ...this.#close()]
  }

  #startToolCall(event: Extract<CanonicalEvent, { type: 'tool-call-start' }>): StreamEvent[] {
    this.#hasCalled = true
    this.#customInput = event.custom ? '' : undefined
    return this.#open({
      type: 'tool_use',
      // Some servers reuse the same call ids in every answer.
      id: ownCallId(event.id, this.#callIds, () => this.#answer.newId('toolu')),
      name: this.#toolNames.get(event.name) ?? event.name,
      input: {},
      caller: { type: 'direct' },
    })
  }

  #toolInput(text: string): StreamEvent[] {
    if (this.#customInput !== undefined) {
      this.#customInput += text
      return []
    }
    return text === '' ? [] : [this.#delta({ type: 'input_json_delta', partial_json: text })]
  }

  #endToolCall(): StreamEvent[] {
    if (this.#customInput === undefined) return this.#close()
    const input = JSON.stringify(wrapCustomInput(this.#customInput))
    return [this.#delta({ type: 'input_json_delta', partial_json: input }), ...this.#close()]
  }

  #open(block: JsonObject): StreamEvent[] {
    if (this.#isOpen) return []
    const data = this.#heldPack
    this.#heldPack = undefined
    const held = data === undefined ? [] : this.#redacted(data)
    this.#isOpen = true
    this.#isAfterText = block['type'] === 'text'
    return [...held, { type: 'content_block_start', index: this.#blocks++, content_block: block }]
  }

  #delta(delta: BlockDelta): StreamEvent {
    return { type: 'content_block_delta', index: this.#blocks - 1, delta }
  }

  #close(): StreamEvent[] {
    if (!this.#isOpen) return []
    this.#isOpen = false
    return [{ type: 'content_block_stop', index: this.#blocks - 1 }]
  }
}

/** Null = any of several. Servers may use the field for other words: only a sequence of the request can be met. */
function metSequence(told: string | null | undefined, stops: readonly Json[]): Json | undefined {
  if (told === null) return stops.length === 1 ? stops[0] : null
  return told !== undefined && stops.includes(told) ? told : undefined
}

function encodeUsage({ usage, tier }: UsageEvent): JsonObject {
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWriteLongTokens } = usage
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWriteLongTokens),
      ephemeral_1h_input_tokens: cacheWriteLongTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use: null,
    service_tier: encodeTier(tier),
    speed: null,
    inference_geo: null,
  }
}

/** The format has no word for a tier other than these two. */
function encodeTier(tier: ServiceTier | undefined): string | null {
  if (tier === undefined) return 'standard'
  return tier === 'priority' ? tier : null
}

/** The whole message that the events of a stream add up to, assembled as the SDKs do it. */
function assembleMessage(events: readonly StreamEvent[]): JsonObject {
  let message: JsonObject = {}
  const blocks: Block[] = []
  for (const event of events) {
    switch (event.type) {
      case 'message_start':
        message = event.message
        break
      case 'content_block_start':
        blocks.push({ ...event.content_block })
        break
      case 'content_block_delta':
        extend(blocks[event.index] ?? {}, event.delta)
        break
      case 'message_delta':
        message = { ...message, ...event.delta, usage: event.usage }
        break
      case 'content_block_stop':
      case 'message_stop':
      case 'ping':
    }
  }
  return { ...message, content: blocks.map(completed) }
}

/** A block that grows. Tool input is collected as text. */
type Block = { [name: string]: Json | undefined }

function extend(block: Block, delta: BlockDelta): void {
  switch (delta.type) {
    case 'text_delta':
      block['text'] = textOf(block['text']) + delta.text
      break
    case 'thinking_delta':
      block['thinking'] = textOf(block['thinking']) + delta.thinking
      break
    case 'input_json_delta':
      block['input'] = textOf(block['input']) + delta.partial_json
      break
    case 'signature_delta':
      block['signature'] = delta.signature
      break
    case 'citations_delta':
      // In place: copying a long list for every citation would stall all other requests.
      ;((block['citations'] ??= []) as Json[]).push(delta.citation)
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function completed(block: Block): Block {
  const { input } = block
  return typeof input === 'string' ? { ...block, input: toolInputObject(input) } : block
}

/** The client's own names of its tools, by their short names. */
function longToolNames(body: JsonObject): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const tool of listOf(body['tools'])) {
    const { name } = objectOf(tool)
    if (typeof name === 'string') names.set(shortToolName(name), name)
  }
  return names
}

/** The ids of all calls in a conversation so far. Clients match results by id alone, so no id may be used again. */
function callIdsIn(body: JsonObject): Set<string> {
  const ids = new Set<string>()
  for (const message of listOf(body['messages'])) {
    for (const block of listOf(objectOf(message)['content'])) {
      const { id } = objectOf(block)
      if (typeof id === 'string') ids.add(id)
    }
  }
  return ids
}
