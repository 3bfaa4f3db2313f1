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
import type { ReasoningSeal } from '../../core/request.ts'
import { countIn, readable, readJsonEvent, usageEvent } from '../content/answer.ts'
import { BlockSequencer } from '../content/block-sequencer.ts'
import { callIdOf } from '../content/tool-calls.ts'
import { calledName } from '../content/tools.ts'
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
    const { text: thought, signature } = objectOf(reasoningText)
    for (const piece of [{ text: thought }, { signature }, { redactedContent }]) {
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
  #events: CanonicalEvent[] = []
  #block = -1
  readonly #inTurn = new BlockSequencer<{ readonly name: string; readonly data: JsonObject }>()
  #open: 'text' | 'thinking' | 'tool-call' | undefined
  #seal: ReasoningSeal | undefined
  /** What the open text cites, and how long it is so far. */
  #citations: { readonly url: string; readonly title: string }[] = []
  #characters = 0
  #hasStarted = false
  #hasStopped = false
  /** Why the answer cannot be used; '' = it has not said why it stopped. Kept until the usage arrives, which is last. */
  #unusable: string | undefined = ''

  add(name: string, data: JsonObject): readonly CanonicalEvent[] {
    this.#take(name, data)
    const events = this.#events
    this.#events = []
    return events
  }

  #take(name: string, data: JsonObject): void {
    if (name === 'exception') throw streamError(decodeComplaint(data))
    // Servers that stand in for Bedrock may leave out the start, or repeat it.
    this.#begin()
    if (this.#hasStopped && name !== 'metadata') return
    switch (name) {
      case 'contentBlockStart':
      case 'contentBlockDelta':
      case 'contentBlockStop': {
        const index = numberOf(data['contentBlockIndex'])
        const pieces = this.#inTurn.add({ name, data }, index, name === 'contentBlockStop')
        for (const piece of pieces) this.#takePiece(piece.name, piece.data)
        return
      }
      case 'messageStop':
        this.#stop(stringOf(data['stopReason']) ?? '')
        return
      case 'metadata':
        this.#end(data)
        return
    }
  }

  #takePiece(name: string, { start, delta }: JsonObject): void {
    if (name === 'contentBlockStop') this.#close()
    else if (isObject(start)) this.#start(start)
    else if (isObject(delta)) this.#delta(delta)
  }

  #begin(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    this.#events.push({ type: 'response-start', id: '', model: '' })
  }

  #start({ toolUse }: JsonObject): void {
    if (!isObject(toolUse)) return
    this.#close()
    this.#open = 'tool-call'
    this.#events.push({
      type: 'tool-call-start',
      ...this.#nextPlace(),
      id: callIdOf(toolUse['toolUseId']),
      name: calledName(toolUse['name']),
      custom: false,
    })
  }

  #delta({ text, toolUse, reasoningContent, citation }: JsonObject): void {
    if (typeof text === 'string' && text !== '') this.#prose('text', text)
    if (isObject(toolUse)) this.#input(stringOf(toolUse['input']) ?? '')
    if (isObject(reasoningContent)) this.#think(reasoningContent)
    if (isObject(citation)) this.#cite(citation)
  }

  /** A call without a start has no name, and its input is ignored. */
  #input(text: string): void {
    if (this.#open !== 'tool-call' || text === '') return
    this.#events.push({ type: 'tool-call-delta', ...this.#place(), text })
  }

  /** Only web pages can be cited in every format; positions in documents cannot. */
  #cite({ title, location }: JsonObject): void {
    const url = stringOf(objectOf(objectOf(location)['web'])['url'])
    if (url !== undefined) this.#citations.push({ url, title: stringOf(title) ?? '' })
  }

  #think({ text, signature, redactedContent }: JsonObject): void {
    if (typeof text === 'string') this.#prose('thinking', text)
    if (typeof signature === 'string') this.#sealWith('signature', signature)
    if (typeof redactedContent === 'string') this.#sealWith('redacted', redactedContent)
  }

  #sealWith(kind: ReasoningSeal['kind'], value: string): void {
    if (this.#open !== 'thinking') this.#prose('thinking', '')
    this.#seal = { format: 'converse', kind, value }
  }

  #prose(kind: 'text' | 'thinking', text: string): void {
    if (this.#open !== kind) {
      this.#close()
      this.#open = kind
      this.#events.push({ type: `${kind}-start`, ...this.#nextPlace() })
    }
    this.#characters += text.length
    if (text !== '') this.#events.push({ type: `${kind}-delta`, ...this.#place(), text })
  }

  #close(): void {
    if (this.#open === undefined) return
    if (this.#open === 'text') {
      for (const cited of this.#citations) {
        const citation = { ...cited, start: 0, end: this.#characters }
        this.#events.push({ type: 'text-citation', ...this.#place(), citation })
      }
    }
    const seal = this.#open === 'thinking' ? this.#seal : undefined
    this.#events.push({
      type: `${this.#open}-end`,
      ...this.#place(),
      ...(seal === undefined ? {} : { seal }),
    })
    this.#open = undefined
    this.#seal = undefined
    this.#citations = []
    this.#characters = 0
  }

  #stop(reason: string): void {
    for (const { name, data } of this.#inTurn.rest()) this.#takePiece(name, data)
    this.#close()
    this.#hasStopped = true
    const finish = STOP_REASONS.get(reason)
    this.#unusable = finish === undefined ? reason : undefined
    if (finish === undefined) return
    this.#events.push({
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
      this.#events.push(usageEvent(counted, objectOf(serviceTier)['type']))
    }
    this.#events.push({ type: 'response-end' })
  }

  #place() {
    return { choice: 0, block: this.#block }
  }

  #nextPlace() {
    this.#block += 1
    return this.#place()
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

// Bedrock's errors, whichever format the request was in: a message, whose name some of them capitalize.

export function decodeError({ message, Message: other }: JsonObject): ProviderComplaint {
  return defined({ message: stringOf(message) ?? stringOf(other) })
}
