// One output item of a provider's answer as canonical blocks. It arrives piece by piece or all at once: the end adds
// whatever the pieces lacked, so nothing is lost when a provider omits deltas.
import type { CanonicalEvent, TokenLogprob } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isObject, listOf, numberOf, stringOf, typeOf } from '../../core/json.ts'
import type { Seal } from '../../core/request.ts'
import { callIdOf } from '../call-ids.ts'
import { decodeLogprobs } from '../logprobs.ts'
import { calledName } from '../tool-name.ts'
import { BETWEEN_THOUGHTS } from './encrypted-reasoning.ts'

export interface ItemDecoder {
  readonly isCall: boolean
  start(): CanonicalEvent[]
  grow(type: string, data: JsonObject): CanonicalEvent[]
  end(item: JsonObject): CanonicalEvent[]
}

/** Undefined for items that mean nothing to a client of another format: hosted tool calls, markers. */
export function itemDecoder(item: JsonObject, nextBlock: () => number): ItemDecoder | undefined {
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

  #sealOf(item: JsonObject): Seal | undefined {
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
