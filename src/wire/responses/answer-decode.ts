// A provider's responses answer as canonical events, streamed or whole. An item that grows while no other is open is
// streamed; any other is taken whole when it and those before it are done, so blocks never interleave. A whole answer
// is a list of items that are already done.
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, FinishReason, TokenLogprob, Usage } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import {
  defined,
  isArray,
  isObject,
  listOf,
  numberOf,
  objectOf,
  stringOf,
  typeOf,
} from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import {
  BlockWriter,
  countIn,
  decodeCitation,
  decodeLogprobs,
  readable,
  readJsonEvent,
  usageEvent,
  whereAny,
} from '../content/answer.ts'
import { decodeComplaint, streamError, withoutContent } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { BETWEEN_SUMMARIES } from './fields.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const answer = new AnswerDecoder()
  return (event) => {
    // A comment: the provider is alive but has nothing to send.
    if (event.data === '') return [{ type: 'ping' }]
    // The final response has already ended the answer; this adds nothing.
    if (event.data === '[DONE]') return []
    return answer.take(readJsonEvent(event), event.event)
  }
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  const events = new AnswerDecoder().whole(body)
  // The last response of a stream may leave out the items that were sent before; a whole answer is all there is.
  if (!isArray(body['output'])) throw withoutContent()
  return events
}

type OpenItem = {
  readonly index: number
  readonly id: string
  readonly key: string
  readonly decoder: ItemDecoder
}

class AnswerDecoder {
  readonly #blocks = new BlockWriter()
  /** The one item that is being streamed, and what its events call it. */
  #open: OpenItem | undefined
  /** Items that began or were done beside the open one, by key, in that order; undefined = not done yet. */
  readonly #waiting = new Map<string, JsonObject | undefined>()
  readonly #told = new Set<string>()
  readonly #toldIds = new Set<string>()
  #hasStarted = false
  #hasCalled = false
  #isEnded = false

  take(data: JsonObject, name: string): readonly CanonicalEvent[] {
    const type = stringOf(data['type']) ?? name
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        this.#start(objectOf(data['response']))
        break
      case 'response.output_item.added':
        this.#add(data)
        break
      case 'response.output_item.done':
        this.#done(data)
        break
      case 'response.completed':
      case 'response.incomplete': {
        // The event's name is the marker, because compatible providers omit the status.
        const status = type.slice('response.'.length)
        return this.whole({ ...objectOf(data['response']), status })
      }
      case 'response.failed':
        throw failureOf(data['response'])
      case 'error':
        throw streamError(decodeComplaint(data['error'] ?? data))
      default:
        this.#grow(type, data)
    }
    return this.#blocks.take()
  }

  /** The rest of an answer, from the response with which the provider ends it. */
  whole(response: JsonObject): readonly CanonicalEvent[] {
    if (this.#isEnded) return []
    refuseUnfinished(response)
    this.#start(response)
    for (const [output_index, item] of listOf(response['output']).entries()) {
      if (isObject(item)) this.#done({ output_index, item })
    }
    this.#close({})
    this.#tellWaiting({ isLast: true })
    this.#isEnded = true
    const usage = decodeUsage(response)
    return [
      ...this.#blocks.take(),
      { type: 'choice-end', choice: 0, reason: this.#reason(response) },
      ...(usage === undefined ? [] : [usageEvent(usage, response['service_tier'])]),
      { type: 'response-end' },
    ]
  }

  #start({ id, model }: JsonObject): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    const start = { id: stringOf(id) ?? '', model: stringOf(model) ?? '' }
    this.#blocks.push({ type: 'response-start', ...start })
  }

  #add(data: JsonObject): void {
    this.#start({})
    const { item } = data
    if (!isObject(item)) return
    const index = numberOf(data['output_index']) ?? this.#told.size
    const key = keyOf(item, index)
    if (this.#open !== undefined || this.#waiting.size > 0) {
      const isKnown = this.#isOpen(key, item) || this.#told.has(key)
      if (!isKnown) this.#waiting.set(key, undefined)
      return
    }
    const decoder = itemDecoder(item, this.#blocks)
    if (decoder === undefined) return
    this.#open = { index, id: stringOf(item['id']) ?? '', key, decoder }
  }

  #grow(type: string, data: JsonObject): void {
    if (this.#open === undefined) return
    const { index, id, decoder } = this.#open
    const isIts = (numberOf(data['output_index']) ?? index) === index || data['item_id'] === id
    if (isIts) decoder.grow(type, data)
  }

  #isOpen(key: string, { id }: JsonObject): boolean {
    if (this.#open === undefined) return false
    return this.#open.key === key || (this.#open.id !== '' && this.#open.id === id)
  }

  #done(data: JsonObject): void {
    const index = numberOf(data['output_index']) ?? this.#open?.index ?? this.#told.size
    const item = objectOf(data['item'])
    const key = keyOf(item, index)
    if (this.#isTold(key, item)) return
    if (isSearchCall(item)) {
      this.#start({})
      return this.#blocks.push({ type: 'search' })
    }
    if (this.#isOpen(key, item)) return this.#close(item)
    this.#waiting.set(key, item)
    if (this.#open !== undefined) return
    this.#start({})
    this.#tellWaiting()
  }

  /** Some providers renumber items at the end, others change ids in every event; one of the two always stays. */
  #isTold(key: string, item: JsonObject): boolean {
    const id = stringOf(item['id']) ?? ''
    const isTold = this.#told.has(key) || (id !== '' && this.#toldIds.has(id))
    this.#told.add(key)
    this.#toldIds.add(id)
    return isTold
  }

  /** Ends the open item, adding what its pieces lacked, and then sends the items that waited for it. */
  #close(item: JsonObject): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    this.#hasCalled ||= open.decoder.isCall
    open.decoder.end(item)
    this.#tellWaiting()
  }

  /** Sends the items that are done, up to the first that is not; at the end of the answer, all of them. */
  #tellWaiting({ isLast = false } = {}): void {
    for (const [key, item] of this.#waiting) {
      if (item === undefined && !isLast) break
      this.#waiting.delete(key)
      if (item === undefined) continue
      const decoder = itemDecoder(item, this.#blocks)
      if (decoder === undefined) continue
      this.#hasCalled ||= decoder.isCall
      decoder.end(item)
    }
  }

  #reason(response: JsonObject): FinishReason {
    const { reason } = objectOf(response['incomplete_details'])
    if (reason === 'content_filter') return 'refusal'
    // Whatever else cut it: an incomplete answer is never reported as complete.
    if (reason === 'max_output_tokens' || response['status'] === 'incomplete') return 'limit'
    return this.#hasCalled ? 'tool-call' : 'stop'
  }
}

/** From a whole response; undefined unless the provider reported both input and output. */
function decodeUsage({ usage, output }: JsonObject): Usage | undefined {
  if (!isObject(usage)) return undefined
  const input = objectOf(usage['input_tokens_details'])
  const lifetimes = objectOf(input['cache_write_tokens_details'])
  return readable({
    inputTokens: countIn(usage, 'input_tokens') ?? NaN,
    cachedTokens: countIn(input, 'cached_tokens') ?? 0,
    cacheWriteTokens: countIn(input, 'cache_write_tokens') ?? 0,
    cacheWriteLongTokens: countIn(lifetimes, 'ttl_12h_tokens') ?? 0,
    outputTokens: countIn(usage, 'output_tokens') ?? NaN,
    reasoningTokens: countIn(objectOf(usage['output_tokens_details']), 'reasoning_tokens') ?? 0,
    ...whereAny('webSearches', isArray(output) ? output.filter(isSearchCall).length : 0),
  })
}

/** Opening a page, or searching within it, belongs to the search that found it. */
function isSearchCall(item: Json): boolean {
  if (!isObject(item) || item['type'] !== 'web_search_call') return false
  return (objectOf(item['action'])['type'] ?? 'search') === 'search'
}

/** Some providers count texts and calls separately. */
function keyOf(item: JsonObject, index: number): string {
  return `${typeOf(item)} ${index}`
}

function refuseUnfinished(response: JsonObject): void {
  const { status, output } = response
  if (status === 'failed') throw failureOf(response)
  if (status === 'completed' || status === 'incomplete') return
  // Here too the status may be missing, but without even a list of items it is no answer.
  if (status === undefined && isArray(output)) return
  if (isObject(response['error'])) throw failureOf(response)
  throw new GatewayError('provider_failed', 'the provider ended its answer before it was complete')
}

function failureOf(response: unknown): GatewayError {
  const complaint = decodeComplaint(objectOf(response)['error'])
  // A failed response has no type, only a code. Unless the code is one of these, the provider is at fault.
  const isRequests = REQUEST_FAULT.test(complaint.code ?? '')
  return streamError(isRequests ? { ...complaint, type: 'invalid_request_error' } : complaint)
}

const REQUEST_FAULT = /image|policy|invalid_prompt|context_length/

/**
 * One output item as canonical blocks. It arrives piece by piece or all at once: the end adds whatever the pieces
 * lacked, so nothing is lost when a provider omits deltas.
 */
interface ItemDecoder {
  readonly isCall: boolean
  grow(type: string, data: JsonObject): void
  end(item: JsonObject): void
}

/** Undefined for items that mean nothing to a client of another format: hosted tool calls, markers. */
function itemDecoder(item: JsonObject, blocks: BlockWriter): ItemDecoder | undefined {
  switch (typeOf(item)) {
    case 'message':
      return new MessageDecoder(blocks)
    case 'reasoning':
      return new ReasoningDecoder(item, blocks)
    case 'function_call':
    case 'custom_tool_call':
      return new CallDecoder(item, blocks)
    default:
      return undefined
  }
}

type Piece = {
  readonly kind: 'text' | 'refusal'
  readonly text: string
  readonly logprobs?: readonly TokenLogprob[] | undefined
}

class MessageDecoder implements ItemDecoder {
  readonly isCall = false
  readonly #blocks: BlockWriter
  /** The index of the part that is open. */
  #part: number | undefined
  /** What has been sent of each part, by its index. */
  readonly #told = new Map<number, { text: string; citations: number }>()

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks
  }

  grow(type: string, data: JsonObject): void {
    const part = numberOf(data['content_index']) ?? this.#part ?? 0
    const text = stringOf(data['delta']) ?? ''
    switch (type) {
      case 'response.output_text.delta':
        return this.#tell(part, { kind: 'text', text, logprobs: decodeLogprobs(data['logprobs']) })
      case 'response.refusal.delta':
        return this.#tell(part, { kind: 'refusal', text })
      case 'response.output_text.annotation.added':
        return this.#cite(part, [data['annotation'] ?? null])
    }
  }

  end(item: JsonObject): void {
    for (const [index, part] of listOf(item['content']).entries()) {
      if (!isObject(part)) continue
      const kind = part['type'] === 'refusal' ? 'refusal' : 'text'
      const told = this.#told.get(index)
      const text = remainder(stringOf(part[kind]) ?? '', told?.text ?? '')
      // The logprobs of a text that arrived in pieces came with the pieces.
      const logprobs = told === undefined ? decodeLogprobs(part['logprobs']) : undefined
      const cited = told?.citations ?? 0
      this.#tell(index, { kind, text, logprobs })
      this.#cite(index, listOf(part['annotations']).slice(cited))
    }
    this.#blocks.end()
  }

  #tell(part: number, { kind, text, logprobs }: Piece): void {
    // A token that is half a character has no text yet, but it has a logprob.
    if (text === '' && logprobs === undefined) return
    if (this.#part !== part) {
      this.#part = part
      this.#blocks.start(kind)
    }
    const told = this.#told.get(part) ?? { text: '', citations: 0 }
    told.text += text
    this.#told.set(part, told)
    this.#blocks.add(text, logprobs)
  }

  #cite(part: number, annotations: readonly Json[]): void {
    const told = this.#told.get(part)
    if (told === undefined || this.#part !== part || this.#blocks.open !== 'text') return
    told.citations += annotations.length
    for (const annotation of annotations.map(objectOf)) {
      if (typeOf(annotation) === 'url_citation') this.#blocks.cite(decodeCitation(annotation))
    }
  }
}

/** The events that carry reasoning: summaries, raw reasoning, and raw reasoning in the Open Responses spelling. */
const REASONING_EVENTS: ReadonlyMap<string, 'summary' | 'content'> = new Map([
  ['response.reasoning_summary_text.delta', 'summary'],
  ['response.reasoning_text.delta', 'content'],
  ['response.reasoning.delta', 'content'],
])

class ReasoningDecoder implements ItemDecoder {
  readonly isCall = false
  readonly #id: string | undefined
  readonly #blocks: BlockWriter
  /** The first kind to arrive is the one that is sent: a summary of reasoning already sent adds nothing. */
  #source: 'summary' | 'content' | undefined
  #part = 0
  #text = ''

  constructor(item: JsonObject, blocks: BlockWriter) {
    this.#id = stringOf(item['id'])
    this.#blocks = blocks
  }

  grow(type: string, data: JsonObject): void {
    const source = REASONING_EVENTS.get(type)
    if (source === undefined) return
    this.#source ??= source
    if (this.#source !== source) return
    const part = numberOf(data['summary_index']) ?? numberOf(data['content_index']) ?? 0
    const separator = part === this.#part ? '' : BETWEEN_SUMMARIES
    this.#part = part
    this.#tell(separator + (stringOf(data['delta']) ?? ''))
  }

  /** Reasoning with neither a text nor anything opaque is no block. */
  end(item: JsonObject): void {
    const whole = reasoningOf(item[this.#source ?? 'summary']) || reasoningOf(item['content'])
    this.#tell(remainder(whole, this.#text))
    const opaque = this.#opaqueOf(item)
    if (opaque !== undefined && this.#text === '') this.#blocks.start('reasoning')
    this.#blocks.end(opaque)
  }

  #opaqueOf(item: JsonObject): OpaqueReasoning | undefined {
    const value = stringOf(item['encrypted_content'])
    if (value === undefined) return undefined
    const id = this.#id ?? stringOf(item['id'])
    return defined({ format: 'responses' as const, kind: 'encrypted' as const, value, id })
  }

  #tell(text: string): void {
    if (text === '') return
    if (this.#text === '') this.#blocks.start('reasoning')
    this.#text += text
    this.#blocks.add(text)
  }
}

function reasoningOf(parts: Json | undefined): string {
  return listOf(parts)
    .map((part) => stringOf(objectOf(part)['text']) ?? '')
    .join(BETWEEN_SUMMARIES)
}

class CallDecoder implements ItemDecoder {
  readonly isCall = true
  readonly #blocks: BlockWriter
  #input = ''

  constructor(item: JsonObject, blocks: BlockWriter) {
    this.#blocks = blocks
    const { call_id, id, name, type } = item
    blocks.startCall(call_id || id, name, type === 'custom_tool_call')
  }

  grow(type: string, data: JsonObject): void {
    const isDelta =
      type === 'response.function_call_arguments.delta' ||
      type === 'response.custom_tool_call_input.delta'
    if (isDelta) this.#tell(stringOf(data['delta']) ?? '')
  }

  end(item: JsonObject): void {
    const whole = stringOf(item['arguments']) ?? stringOf(item['input']) ?? ''
    this.#tell(remainder(whole, this.#input))
    this.#blocks.end()
  }

  #tell(text: string): void {
    this.#input += text
    this.#blocks.add(text)
  }
}

/** What a finished text adds to the pieces already sent; empty when the two disagree. */
function remainder(whole: string, told: string): string {
  return whole.startsWith(told) ? whole.slice(told.length) : ''
}
