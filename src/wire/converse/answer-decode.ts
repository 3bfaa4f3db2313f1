// Converse answers as canonical events. A whole answer is turned into the events of the equivalent stream, so that
// blocks are mapped in one place.
import type { CanonicalEvent, FinishReason, Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import {
  defined,
  isArray,
  isObject,
  listOf,
  numberOf,
  objectOf,
  stringOf,
} from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import {
  BlockSequencer,
  BlockWriter,
  countIn,
  readable,
  readJsonEvent,
  usageEvent,
} from '../content/answer.ts'
import type { ProviderComplaint } from '../contract/codec.ts'
import { decodeComplaint, streamError, unusableAnswer, withoutContent } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const answer = new AnswerDecoder()
  return (event) => answer.add(event.event, readJsonEvent(event))
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  const { output, stopReason, usage, serviceTier } = body
  const { content } = objectOf(objectOf(output)['message'])
  if (!isArray(content)) throw withoutContent()
  const answer = new AnswerDecoder()
  return [
    ...answer.add('messageStart', {}),
    ...content.flatMap((block) => (isObject(block) ? wholeBlock(answer, block) : [])),
    ...answer.add('messageStop', { stopReason }),
    ...answer.add('metadata', { usage, serviceTier }),
  ]
}

function wholeBlock(answer: AnswerDecoder, block: JsonObject): readonly CanonicalEvent[] {
  const { text, toolUse, reasoningContent, citationsContent } = block
  const deltas: JsonObject[] = []
  if (typeof text === 'string') deltas.push({ text })
  if (isObject(toolUse)) {
    deltas.push({ toolUse: { input: JSON.stringify(toolUse['input'] ?? {}) } })
  }
  if (isObject(reasoningContent)) {
    const { reasoningText, redactedContent } = reasoningContent
    const { text: reasoned, signature } = objectOf(reasoningText)
    for (const piece of [{ text: reasoned }, { signature }, { redactedContent }]) {
      deltas.push({ reasoningContent: piece })
    }
  }
  if (isObject(citationsContent)) {
    for (const words of listOf(citationsContent['content'])) deltas.push(objectOf(words))
    for (const citation of listOf(citationsContent['citations'])) deltas.push({ citation })
  }
  return [
    ...(isObject(toolUse) ? answer.add('contentBlockStart', { start: { toolUse } }) : []),
    ...deltas.flatMap((delta) => answer.add('contentBlockDelta', { delta })),
    ...answer.add('contentBlockStop', {}),
  ]
}

const STOP_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool-call'],
  ['max_tokens', 'limit'],
  ['model_context_window_exceeded', 'context'],
  ['guardrail_intervened', 'refusal'],
  ['content_filtered', 'refusal'],
])

class AnswerDecoder {
  readonly #blocks = new BlockWriter()
  readonly #sequencer = new BlockSequencer<{ readonly name: string; readonly data: JsonObject }>()
  #opaque: OpaqueReasoning | undefined
  /** What the open text cites, and how long it is so far. */
  #citations: { readonly url: string; readonly title: string }[] = []
  #characters = 0
  #hasStarted = false
  #hasStopped = false
  /** Why the answer cannot be used; '' = it has not said why it stopped. Kept until the usage arrives, which is last. */
  #unusable: string | undefined = ''

  add(name: string, data: JsonObject): readonly CanonicalEvent[] {
    this.#take(name, data)
    return this.#blocks.take()
  }

  #take(name: string, data: JsonObject): void {
    if (name === 'exception') throw streamError(decodeComplaint(data))
    // Servers that stand in for Bedrock may leave out the start, or repeat it.
    if (!this.#hasStarted) this.#blocks.push({ type: 'response-start', id: '', model: '' })
    this.#hasStarted = true
    if (this.#hasStopped && name !== 'metadata') return
    switch (name) {
      case 'contentBlockStart':
      case 'contentBlockDelta':
      case 'contentBlockStop': {
        const index = numberOf(data['contentBlockIndex'])
        const pieces = this.#sequencer.add({ name, data }, index, name === 'contentBlockStop')
        for (const piece of pieces) this.#takePiece(piece.name, piece.data)
        return
      }
      case 'messageStop':
        return this.#stop(stringOf(data['stopReason']) ?? '')
      case 'metadata':
        return this.#end(data)
    }
  }

  #takePiece(name: string, { start, delta }: JsonObject): void {
    if (name === 'contentBlockStop') this.#close()
    else if (isObject(start)) this.#start(start)
    else if (isObject(delta)) this.#delta(delta)
  }

  #start({ toolUse }: JsonObject): void {
    if (!isObject(toolUse)) return
    this.#close()
    this.#blocks.startCall(toolUse['toolUseId'], toolUse['name'])
  }

  #delta({ text, toolUse, reasoningContent, citation }: JsonObject): void {
    if (typeof text === 'string' && text !== '') this.#prose('text', text)
    // A call without a start has no name, and its input is ignored.
    if (isObject(toolUse) && this.#blocks.open === 'tool-call') {
      this.#blocks.add(stringOf(toolUse['input']) ?? '')
    }
    if (isObject(reasoningContent)) this.#reason(reasoningContent)
    if (isObject(citation)) this.#cite(citation)
  }

  /** Only web pages can be cited in every format; positions in documents cannot. */
  #cite({ title, location }: JsonObject): void {
    const url = stringOf(objectOf(objectOf(location)['web'])['url'])
    if (url !== undefined) this.#citations.push({ url, title: stringOf(title) ?? '' })
  }

  #reason({ text, signature, redactedContent }: JsonObject): void {
    if (typeof text === 'string') this.#prose('reasoning', text)
    if (typeof signature === 'string') this.#setOpaque('signature', signature)
    if (typeof redactedContent === 'string') this.#setOpaque('redacted', redactedContent)
  }

  #setOpaque(kind: OpaqueReasoning['kind'], value: string): void {
    if (this.#blocks.open !== 'reasoning') this.#prose('reasoning', '')
    this.#opaque = { format: 'converse', kind, value }
  }

  #prose(kind: 'text' | 'reasoning', text: string): void {
    if (this.#blocks.open !== kind) {
      this.#close()
      this.#blocks.start(kind)
    }
    this.#characters += text.length
    this.#blocks.add(text)
  }

  #close(): void {
    const { open } = this.#blocks
    if (open === undefined) return
    const cited = open === 'text' ? this.#citations : []
    for (const each of cited) this.#blocks.cite({ ...each, start: 0, end: this.#characters })
    this.#blocks.end(open === 'reasoning' ? this.#opaque : undefined)
    this.#opaque = undefined
    this.#citations = []
    this.#characters = 0
  }

  #stop(reason: string): void {
    for (const { name, data } of this.#sequencer.rest()) this.#takePiece(name, data)
    this.#close()
    this.#hasStopped = true
    const finish = STOP_REASONS.get(reason)
    this.#unusable = finish === undefined ? reason : undefined
    if (finish === undefined) return
    this.#blocks.push({
      type: 'choice-end',
      choice: 0,
      reason: finish,
      ...(finish === 'refusal' && { explanation: reason }),
      ...(reason === 'stop_sequence' && { stopSequence: null }),
    })
  }

  #end({ usage, serviceTier }: JsonObject): void {
    const counted = isObject(usage) ? decodeUsage(usage) : undefined
    if (this.#unusable !== undefined) throw unusableAnswer(this.#unusable, counted)
    if (counted !== undefined) {
      this.#blocks.push(usageEvent(counted, objectOf(serviceTier)['type']))
    }
    this.#blocks.push({ type: 'response-end' })
  }
}

/** Converse excludes cache reads and writes from the input. Undefined unless both input and output are reported. */
function decodeUsage(usage: JsonObject): Usage | undefined {
  const cachedTokens = countIn(usage, 'cacheReadInputTokens') ?? 0
  const cacheWriteTokens = countIn(usage, 'cacheWriteInputTokens') ?? 0
  return readable({
    ...NO_USAGE,
    inputTokens: (countIn(usage, 'inputTokens') ?? NaN) + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens: countIn(usage, 'outputTokens') ?? NaN,
  })
}

/** Whichever format the request was in: a message, whose name some errors capitalize. */
export function decodeError({ message, Message: other }: JsonObject): ProviderComplaint {
  return defined({ message: stringOf(message) ?? stringOf(other) })
}
