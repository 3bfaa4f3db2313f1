// A provider's messages answer as canonical events. A whole answer goes through the same steps as a stream, so that
// both decode alike. Tolerates merely compatible providers: missing starts, null counts, `[DONE]`.
import type { CanonicalEvent, ChoiceEnd, FinishReason, Usage } from '../../core/events.ts'
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
import { readable, readJsonEvent, usageEvent } from '../content/answer.ts'
import { BlockSequencer } from '../content/block-sequencer.ts'
import { callIdOf } from '../content/tool-calls.ts'
import { calledName } from '../content/tools.ts'
import type { ProviderComplaint } from '../contract/codec.ts'
import { decodeComplaint, streamError, withoutContent } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { exactly } from '../json/exact.ts'
import { decodeUsage, UNTOLD } from './usage.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const reader = new FrameReader()
  return (event) => {
    if (event.data === '' || event.data === '[DONE]') return []
    const parsed = readJsonEvent(event)
    // Some providers send a call's whole input in its start frame.
    const frame = event.data.includes('"tool_use"') ? exactly(event.data, parsed) : parsed
    return reader.read('type' in frame ? frame : { ...frame, type: event.event })
  }
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  if (isObject(body['error'])) throw streamError(decodeError(body))
  if (!isArray(body['content'])) throw withoutContent()
  const reader = new FrameReader()
  return [
    ...reader.read({ type: 'message_start', message: { ...body, usage: undefined } }),
    ...body['content'].flatMap((block) => [
      ...reader.read({ type: 'content_block_start', content_block: block }),
      ...reader.read({ type: 'content_block_stop' }),
    ]),
    ...reader.read({ type: 'message_delta', delta: body, usage: body['usage'] }),
    ...reader.read({ type: 'message_stop' }),
  ]
}

type NewBlock =
  | { readonly kind: 'text'; readonly citations: Json[] }
  | { readonly kind: 'thinking'; readonly seal: ReasoningSeal | undefined }
  | {
      readonly kind: 'tool-call'
      readonly id: string
      readonly name: string
      /** The input in the start frame; used only when no pieces follow. */
      readonly input: JsonObject
    }

/** The block that is being read. */
type OpenBlock = NewBlock & { readonly block: number; characters: number }

class FrameReader {
  #usage: Usage = UNTOLD
  /** Named at the beginning of a stream, but not with the totals at its end. */
  #tier: Json | undefined
  #blocks = 0
  readonly #inTurn = new BlockSequencer<JsonObject>()
  #open: OpenBlock | undefined
  /** True inside a block that has no canonical form (a hosted tool ran): its pieces belong to no other block. */
  #isIgnoring = false
  #hasStarted = false
  #hasEnded = false

  /** Decodes one frame. If the provider left out the answer's start, it is added here. */
  read(frame: JsonObject): CanonicalEvent[] {
    const events = this.#read(frame)
    if (this.#hasStarted || events.every((event) => event.type === 'ping')) return events
    return [...this.#messageStart({}), ...events]
  }

  #read(frame: JsonObject): CanonicalEvent[] {
    const type = typeOf(frame)
    switch (type) {
      case 'content_block_delta':
      case 'content_block_start':
      case 'content_block_stop':
        return this.#inTurn
          .add(frame, numberOf(frame['index']), type === 'content_block_stop')
          .flatMap((each) => this.#readBlock(each))
      case 'message_start':
        return this.#messageStart(objectOf(frame['message']))
      case 'message_delta':
        return this.#messageDelta(objectOf(frame['delta']), frame['usage'])
      case 'message_stop':
        if (!this.#hasStarted) throw withoutContent()
        return [...this.#end({}), { type: 'response-end' }]
      case 'ping':
        return [{ type: 'ping' }]
      case 'error':
        throw streamError(decodeError(frame))
      default:
        return []
    }
  }

  #readBlock(frame: JsonObject): CanonicalEvent[] {
    switch (typeOf(frame)) {
      case 'content_block_delta':
        return this.#delta(objectOf(frame['delta']))
      case 'content_block_start':
        return this.#start(objectOf(frame['content_block']))
      default:
        this.#isIgnoring = false
        return this.#close()
    }
  }

  #messageStart({ id, model, usage }: JsonObject): CanonicalEvent[] {
    if (this.#hasStarted) return this.#report(usage)
    this.#hasStarted = true
    const start = { id: stringOf(id) ?? '', model: stringOf(model) ?? '' }
    return [{ type: 'response-start', ...start }, ...this.#report(usage)]
  }

  #messageDelta(delta: JsonObject, usage: Json | undefined): CanonicalEvent[] {
    const end = typeof delta['stop_reason'] === 'string' ? this.#end(delta) : []
    return [...end, ...this.#report(usage)]
  }

  #report(usage: Json | undefined): CanonicalEvent[] {
    if (!isObject(usage)) return []
    this.#usage = decodeUsage(usage, this.#usage)
    this.#tier = usage['service_tier'] ?? this.#tier
    const counted = readable(this.#usage)
    return counted === undefined ? [] : [usageEvent(counted, this.#tier)]
  }

  #end(delta: JsonObject): CanonicalEvent[] {
    if (this.#hasEnded) return []
    const rest = this.#inTurn.rest().flatMap((each) => this.#readBlock(each))
    this.#hasEnded = true
    return [...rest, ...this.#close(), { type: 'choice-end', choice: 0, ...decodeStop(delta) }]
  }

  /** A start frame may carry the whole block: in a whole answer, and in some providers' streams. */
  #start(block: JsonObject): CanonicalEvent[] {
    if (this.#hasEnded) return []
    this.#isIgnoring = false
    switch (typeOf(block)) {
      case 'text': {
        const citations = [...listOf(block['citations'])]
        return [...this.#begin({ kind: 'text', citations }), ...this.#piece('text', block['text'])]
      }
      case 'thinking': {
        const seal = sealOf('signature', block['signature'])
        const begun = this.#begin({ kind: 'thinking', seal })
        return [...begun, ...this.#piece('thinking', block['thinking'])]
      }
      case 'redacted_thinking':
        return this.#begin({ kind: 'thinking', seal: sealOf('redacted', block['data']) })
      case 'tool_use': {
        const { id, name, input } = block
        return this.#begin({
          kind: 'tool-call',
          id: callIdOf(id),
          name: calledName(name),
          input: objectOf(input),
        })
      }
      default:
        this.#isIgnoring = true
        return [...this.#close(), ...(isFound(block) ? [{ type: 'search' } as const] : [])]
    }
  }

  #delta(delta: JsonObject): CanonicalEvent[] {
    if (this.#isIgnoring || this.#hasEnded) return []
    const open = this.#open
    switch (typeOf(delta)) {
      case 'text_delta':
        return this.#piece('text', delta['text'])
      case 'thinking_delta':
        return this.#piece('thinking', delta['thinking'])
      case 'input_json_delta':
        return this.#piece('tool-call', delta['partial_json'])
      case 'signature_delta':
        if (open?.kind === 'thinking') {
          this.#open = { ...open, seal: sealOf('signature', delta['signature']) }
        }
        return []
      case 'citations_delta':
        if (open?.kind === 'text' && delta['citation'] !== undefined) {
          open.citations.push(delta['citation'])
        }
        return []
      default:
        return []
    }
  }

  #piece(kind: OpenBlock['kind'], text: Json | undefined): CanonicalEvent[] {
    if (typeof text !== 'string' || text === '') return []
    const events = this.#open?.kind === kind ? [] : this.#beginWithoutStart(kind)
    if (this.#open?.kind !== kind) return []
    this.#open.characters += text.length
    events.push({ type: `${kind}-delta`, choice: 0, block: this.#open.block, text })
    return events
  }

  /** Some providers omit the start of a text or a thought. A tool call without a start has no name and is ignored. */
  #beginWithoutStart(kind: OpenBlock['kind']): CanonicalEvent[] {
    switch (kind) {
      case 'text':
        return this.#begin({ kind, citations: [] })
      case 'thinking':
        return this.#begin({ kind, seal: undefined })
      case 'tool-call':
        return []
    }
  }

  #begin(block: NewBlock): CanonicalEvent[] {
    const before = this.#close()
    const place = { choice: 0, block: this.#blocks++ }
    this.#open = { ...block, block: place.block, characters: 0 }
    if (block.kind !== 'tool-call') return [...before, { type: `${block.kind}-start`, ...place }]
    const { id, name } = block
    return [...before, { type: 'tool-call-start', ...place, id, name, custom: false }]
  }

  #close(): CanonicalEvent[] {
    const open = this.#open
    if (open === undefined) return []
    this.#open = undefined
    const place = { choice: 0, block: open.block }
    switch (open.kind) {
      case 'text':
        return [...citationsOf(open.citations, open), { type: 'text-end', ...place }]
      case 'thinking':
        return [{ type: 'thinking-end', ...place, ...(open.seal && { seal: open.seal }) }]
      case 'tool-call': {
        // A call without input becomes an empty object, which every other format can parse.
        const text = open.characters > 0 ? '' : JSON.stringify(open.input)
        const input: CanonicalEvent[] =
          text === '' ? [] : [{ type: 'tool-call-delta', ...place, text }]
        return [...input, { type: 'tool-call-end', ...place }]
      }
    }
  }
}

/** Whether a web search succeeded. A failed one costs nothing. */
function isFound({ type, content }: JsonObject): boolean {
  return type === 'web_search_tool_result' && isArray(content)
}

function sealOf(kind: ReasoningSeal['kind'], value: Json | undefined): ReasoningSeal | undefined {
  return typeof value === 'string' && value !== '' ? { format: 'messages', kind, value } : undefined
}

/** Citations with a URL, each for its whole block. Positions in documents mean nothing in other formats. */
function citationsOf(citations: readonly Json[], open: OpenBlock): CanonicalEvent[] {
  return citations.flatMap((value): CanonicalEvent[] => {
    const { url, source, title } = objectOf(value)
    const address = stringOf(url) ?? stringOf(source)
    if (address === undefined || !/^https?:/.test(address)) return []
    const citation = { url: address, title: stringOf(title) ?? '', start: 0, end: open.characters }
    return [{ type: 'text-citation', choice: 0, block: open.block, citation }]
  })
}

// Why an answer ended, to and from the words of the messages format.

export const STOP_REASONS: Record<FinishReason, string> = {
  stop: 'end_turn',
  limit: 'max_tokens',
  context: 'model_context_window_exceeded',
  'tool-call': 'tool_use',
  refusal: 'refusal',
  pause: 'pause_turn',
}

function decodeStop(delta: JsonObject): Omit<ChoiceEnd, 'type' | 'choice'> {
  const details = objectOf(delta['stop_details'])
  const stopSequence = stringOf(delta['stop_sequence'])
  const explanation = stringOf(details['explanation']) ?? stringOf(details['category'])
  return {
    reason: FINISH_REASONS.get(stringOf(delta['stop_reason']) ?? '') ?? 'stop',
    ...(stopSequence === undefined ? {} : { stopSequence }),
    ...(explanation === undefined ? {} : { explanation }),
  }
}

const FINISH_REASONS = new Map(
  Object.entries(STOP_REASONS).map(([reason, name]) => [name, reason as FinishReason]),
)

// Errors of a messages provider, in the body of a failed request or in a stream.

/** In this format the code that distinguishes errors of one type is in the details. */
export function decodeError(body: JsonObject): ProviderComplaint {
  const { error } = body
  const code = stringOf(objectOf(objectOf(error)['details'])['error_code'])
  return { ...decodeComplaint(error), ...defined({ code }) }
}
