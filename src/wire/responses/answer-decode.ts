// A provider's responses answer as canonical events, streamed or whole. An item that grows while no other is open is
// streamed; any other is taken whole when it and those before it are done, so blocks never interleave. A whole answer
// is a list of items that are already done.
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, FinishReason, TokenLogprob } from '../../core/events.ts'
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
import type { ReasoningSeal } from '../../core/request.ts'
import { decodeLogprobs, readJsonEvent, usageEvent } from '../content/answer.ts'
import { callIdOf } from '../content/tool-calls.ts'
import { calledName } from '../content/tools.ts'
import { decodeComplaint, streamError, withoutContent } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { BETWEEN_THOUGHTS } from './reasoning.ts'
import { decodeUsage, isSearchCall } from './usage.ts'

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
  readonly place: string
  readonly decoder: ItemDecoder
}

class AnswerDecoder {
  /** The one item that is being streamed, and what its events call it. */
  #open: OpenItem | undefined
  /** Items that began or were done beside the open one, by place, in that order; undefined = not done yet. */
  readonly #waiting = new Map<string, JsonObject | undefined>()
  readonly #told = new Set<string>()
  readonly #toldIds = new Set<string>()
  #blocks = 0
  #hasStarted = false
  #hasCalled = false
  #isEnded = false

  take(data: JsonObject, name: string): CanonicalEvent[] {
    const type = stringOf(data['type']) ?? name
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return this.#start(objectOf(data['response']))
      case 'response.output_item.added':
        return this.#add(data)
      case 'response.output_item.done':
        return this.#done(data)
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
        return this.#grow(type, data)
    }
  }

  /** The rest of an answer, from the response with which the provider ends it. */
  whole(response: JsonObject): CanonicalEvent[] {
    if (this.#isEnded) return []
    refuseUnfinished(response)
    const events = this.#start(response)
    const output = listOf(response['output'])
    for (const [output_index, item] of output.entries()) {
      if (!isObject(item)) continue
      for (const event of this.#done({ output_index, item })) events.push(event)
    }
    const rest = [...this.#close({}), ...this.#tellWaiting({ isLast: true })]
    const usage = decodeUsage(response)
    this.#isEnded = true
    return [
      ...events,
      ...rest,
      { type: 'choice-end', choice: 0, reason: this.#reason(response) },
      ...(usage === undefined ? [] : [usageEvent(usage, response['service_tier'])]),
      { type: 'response-end' },
    ]
  }

  #start(response: JsonObject): CanonicalEvent[] {
    if (this.#hasStarted) return []
    this.#hasStarted = true
    const id = stringOf(response['id']) ?? ''
    return [{ type: 'response-start', id, model: stringOf(response['model']) ?? '' }]
  }

  #add(data: JsonObject): CanonicalEvent[] {
    const events = this.#start({})
    const { item } = data
    if (!isObject(item)) return events
    const index = numberOf(data['output_index']) ?? this.#told.size
    const place = placeOf(item, index)
    if (this.#open !== undefined || this.#waiting.size > 0) {
      const isKnown = this.#isOpen(place, item) || this.#told.has(place)
      if (!isKnown) this.#waiting.set(place, undefined)
      return events
    }
    const decoder = itemDecoder(item, () => this.#blocks++)
    if (decoder === undefined) return events
    this.#open = { index, id: stringOf(item['id']) ?? '', place, decoder }
    return [...events, ...decoder.start()]
  }

  #grow(type: string, data: JsonObject): CanonicalEvent[] {
    if (this.#open === undefined) return []
    const { index, id, decoder } = this.#open
    const isIts = (numberOf(data['output_index']) ?? index) === index || data['item_id'] === id
    return isIts ? decoder.grow(type, data) : []
  }

  #isOpen(place: string, { id }: JsonObject): boolean {
    if (this.#open === undefined) return false
    return this.#open.place === place || (this.#open.id !== '' && this.#open.id === id)
  }

  #done(data: JsonObject): CanonicalEvent[] {
    const index = numberOf(data['output_index']) ?? this.#open?.index ?? this.#told.size
    const item = objectOf(data['item'])
    const place = placeOf(item, index)
    if (this.#isTold(place, item)) return []
    if (isSearchCall(item)) return [...this.#start({}), { type: 'search' }]
    if (this.#isOpen(place, item)) return this.#close(item)
    this.#waiting.set(place, item)
    return this.#open === undefined ? [...this.#start({}), ...this.#tellWaiting()] : []
  }

  /** Some providers renumber items at the end, others change ids in every event; one of the two always stays. */
  #isTold(place: string, item: JsonObject): boolean {
    const id = stringOf(item['id']) ?? ''
    const isTold = this.#told.has(place) || (id !== '' && this.#toldIds.has(id))
    this.#told.add(place)
    this.#toldIds.add(id)
    return isTold
  }

  /** Ends the open item, adding what its pieces lacked, and then sends the items that waited for it. */
  #close(item: JsonObject): CanonicalEvent[] {
    const open = this.#open
    if (open === undefined) return []
    this.#open = undefined
    this.#hasCalled ||= open.decoder.isCall
    return [...open.decoder.end(item), ...this.#tellWaiting()]
  }

  /** Sends the items that are done, up to the first that is not; at the end of the answer, all of them. */
  #tellWaiting({ isLast = false } = {}): CanonicalEvent[] {
    const events: CanonicalEvent[] = []
    for (const [place, item] of this.#waiting) {
      if (item === undefined && !isLast) break
      this.#waiting.delete(place)
      for (const event of item === undefined ? [] : this.#tell(item)) events.push(event)
    }
    return events
  }

  #tell(item: JsonObject): CanonicalEvent[] {
    const decoder = itemDecoder(item, () => this.#blocks++)
    if (decoder === undefined) return []
    this.#hasCalled ||= decoder.isCall
    return [...decoder.start(), ...decoder.end(item)]
  }

  #reason(response: JsonObject): FinishReason {
    const { reason } = objectOf(response['incomplete_details'])
    if (reason === 'content_filter') return 'refusal'
    // Whatever else cut it: an incomplete answer is never reported as complete.
    if (reason === 'max_output_tokens' || response['status'] === 'incomplete') return 'limit'
    return this.#hasCalled ? 'tool-call' : 'stop'
  }
}

/** Some providers count texts and calls separately. */
function placeOf(item: JsonObject, index: number): string {
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

// One output item of a provider's answer as canonical blocks. It arrives piece by piece or all at once: the end adds
// whatever the pieces lacked, so nothing is lost when a provider omits deltas.

interface ItemDecoder {
  readonly isCall: boolean
  start(): CanonicalEvent[]
  grow(type: string, data: JsonObject): CanonicalEvent[]
  end(item: JsonObject): CanonicalEvent[]
}

/** Undefined for items that mean nothing to a client of another format: hosted tool calls, markers. */
function itemDecoder(item: JsonObject, nextBlock: () => number): ItemDecoder | undefined {
  switch (typeOf(item)) {
    case 'message':
      return new MessageDecoder(nextBlock)
    case 'reasoning':
      return new ReasoningDecoder(item, nextBlock)
    case 'function_call':
    case 'custom_tool_call':
      return new CallDecoder(item, nextBlock)
    default:
      return undefined
  }
}

type Kind = 'text' | 'refusal'

class MessageDecoder implements ItemDecoder {
  readonly isCall = false
  readonly #nextBlock: () => number
  #open: { readonly kind: Kind; readonly part: number; readonly block: number } | undefined
  /** What has been sent of each part, by its index. */
  readonly #told = new Map<number, { text: string; citations: number }>()

  constructor(nextBlock: () => number) {
    this.#nextBlock = nextBlock
  }

  start(): CanonicalEvent[] {
    return []
  }

  grow(type: string, data: JsonObject): CanonicalEvent[] {
    const part = numberOf(data['content_index']) ?? this.#open?.part ?? 0
    const delta = stringOf(data['delta']) ?? ''
    switch (type) {
      case 'response.output_text.delta':
        return this.#tell({ kind: 'text', part, text: delta }, decodeLogprobs(data['logprobs']))
      case 'response.refusal.delta':
        return this.#tell({ kind: 'refusal', part, text: delta })
      case 'response.output_text.annotation.added':
        return this.#cite(part, [data['annotation'] ?? null])
      default:
        return []
    }
  }

  end(item: JsonObject): CanonicalEvent[] {
    const content = listOf(item['content'])
    const events: CanonicalEvent[] = []
    for (const [index, part] of content.entries()) {
      if (!isObject(part)) continue
      const kind: Kind = part['type'] === 'refusal' ? 'refusal' : 'text'
      const whole = stringOf(part[kind]) ?? ''
      const told = this.#told.get(index)
      const text = remainder(whole, told?.text ?? '')
      // The logprobs of a text that arrived in pieces came with the pieces.
      const logprobs = told === undefined ? decodeLogprobs(part['logprobs']) : undefined
      events.push(...this.#tell({ kind, part: index, text }, logprobs))
      const annotations = listOf(part['annotations'])
      const cited = this.#cite(index, annotations.slice(told?.citations ?? 0))
      for (const event of cited) events.push(event)
    }
    return [...events, ...this.#close()]
  }

  #tell(
    piece: { readonly kind: Kind; readonly part: number; readonly text: string },
    logprobs?: readonly TokenLogprob[],
  ): CanonicalEvent[] {
    const { kind, part, text } = piece
    // A token that is half a character has no text yet, but it has a logprob.
    if (text === '' && logprobs === undefined) return []
    const events: CanonicalEvent[] = []
    if (this.#open?.part !== part) {
      events.push(...this.#close())
      const block = this.#nextBlock()
      this.#open = { kind, part, block }
      events.push({ type: `${kind}-start`, choice: 0, block })
    }
    const told = this.#told.get(part) ?? { text: '', citations: 0 }
    told.text += text
    this.#told.set(part, told)
    const { block } = this.#open
    events.push(
      kind === 'text' && logprobs !== undefined
        ? { type: 'text-delta', choice: 0, block, text, logprobs }
        : { type: `${kind}-delta`, choice: 0, block, text },
    )
    return events
  }

  #cite(part: number, annotations: readonly Json[]): CanonicalEvent[] {
    const told = this.#told.get(part)
    if (told === undefined || this.#open?.part !== part || this.#open.kind !== 'text') return []
    told.citations += annotations.length
    const { block } = this.#open
    return annotations.flatMap((annotation): CanonicalEvent[] => {
      if (!isObject(annotation) || annotation['type'] !== 'url_citation') return []
      const citation = {
        url: stringOf(annotation['url']) ?? '',
        title: stringOf(annotation['title']) ?? '',
        start: numberOf(annotation['start_index']) ?? 0,
        end: numberOf(annotation['end_index']) ?? 0,
      }
      return [{ type: 'text-citation', choice: 0, block, citation }]
    })
  }

  #close(): CanonicalEvent[] {
    const open = this.#open
    if (open === undefined) return []
    this.#open = undefined
    return [{ type: `${open.kind}-end`, choice: 0, block: open.block }]
  }
}

/** The events that carry thoughts: summaries, raw thoughts, and raw thoughts in the Open Responses spelling. */
const THOUGHTS: ReadonlyMap<string, 'summary' | 'content'> = new Map([
  ['response.reasoning_summary_text.delta', 'summary'],
  ['response.reasoning_text.delta', 'content'],
  ['response.reasoning.delta', 'content'],
])

class ReasoningDecoder implements ItemDecoder {
  readonly isCall = false
  readonly #id: string | undefined
  readonly #nextBlock: () => number
  #block: number | undefined
  /** The first kind to arrive is the one that is sent: a summary of thoughts already sent adds nothing. */
  #source: 'summary' | 'content' | undefined
  #part = 0
  #text = ''

  constructor(item: JsonObject, nextBlock: () => number) {
    this.#id = stringOf(item['id'])
    this.#nextBlock = nextBlock
  }

  start(): CanonicalEvent[] {
    return []
  }

  grow(type: string, data: JsonObject): CanonicalEvent[] {
    const source = THOUGHTS.get(type)
    if (source === undefined) return []
    this.#source ??= source
    if (this.#source !== source) return []
    const part = numberOf(data['summary_index']) ?? numberOf(data['content_index']) ?? 0
    const separator = part === this.#part ? '' : BETWEEN_THOUGHTS
    this.#part = part
    return this.#tell(separator + (stringOf(data['delta']) ?? ''))
  }

  end(item: JsonObject): CanonicalEvent[] {
    const whole = thoughtsOf(item[this.#source ?? 'summary']) || thoughtsOf(item['content'])
    const events = this.#tell(remainder(whole, this.#text))
    const seal = this.#sealOf(item)
    if (seal !== undefined) events.push(...this.#open())
    // A thought with neither text nor seal is no block.
    if (this.#block === undefined) return events
    return [
      ...events,
      { type: 'thinking-end', choice: 0, block: this.#block, ...(seal && { seal }) },
    ]
  }

  #sealOf(item: JsonObject): ReasoningSeal | undefined {
    const value = stringOf(item['encrypted_content'])
    if (value === undefined) return undefined
    return defined({
      format: 'responses' as const,
      kind: 'encrypted' as const,
      value,
      id: this.#id ?? stringOf(item['id']),
    })
  }

  #tell(text: string): CanonicalEvent[] {
    if (text === '') return []
    const events = this.#open()
    this.#text += text
    return [...events, { type: 'thinking-delta', choice: 0, block: this.#block ?? 0, text }]
  }

  #open(): CanonicalEvent[] {
    if (this.#block !== undefined) return []
    this.#block = this.#nextBlock()
    return [{ type: 'thinking-start', choice: 0, block: this.#block }]
  }
}

function thoughtsOf(parts: Json | undefined): string {
  if (!isArray(parts)) return ''
  return parts
    .map((part) => (isObject(part) ? stringOf(part['text']) : undefined) ?? '')
    .join(BETWEEN_THOUGHTS)
}

class CallDecoder implements ItemDecoder {
  readonly isCall = true
  readonly #place: { readonly choice: 0; readonly block: number }
  readonly #begin: CanonicalEvent
  #input = ''

  constructor(item: JsonObject, nextBlock: () => number) {
    this.#place = { choice: 0, block: nextBlock() }
    this.#begin = {
      type: 'tool-call-start',
      ...this.#place,
      id: callIdOf(item['call_id'] || item['id']),
      name: calledName(item['name']),
      custom: item['type'] === 'custom_tool_call',
    }
  }

  start(): CanonicalEvent[] {
    return [this.#begin]
  }

  grow(type: string, data: JsonObject): CanonicalEvent[] {
    const isDelta =
      type === 'response.function_call_arguments.delta' ||
      type === 'response.custom_tool_call_input.delta'
    return isDelta ? this.#tell(stringOf(data['delta']) ?? '') : []
  }

  end(item: JsonObject): CanonicalEvent[] {
    const whole = stringOf(item['arguments']) ?? stringOf(item['input']) ?? ''
    return [...this.#tell(remainder(whole, this.#input)), { type: 'tool-call-end', ...this.#place }]
  }

  #tell(text: string): CanonicalEvent[] {
    if (text === '') return []
    this.#input += text
    return [{ type: 'tool-call-delta', ...this.#place, text }]
  }
}

/** What a finished text adds to the pieces already sent; empty when the two disagree. */
function remainder(whole: string, told: string): string {
  return whole.startsWith(told) ? whole.slice(told.length) : ''
}
