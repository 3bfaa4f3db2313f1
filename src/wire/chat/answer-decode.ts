// A provider's chat completions answer as canonical events. Tolerates what compatible providers get wrong (missing
// roles or indexes, usage sent twice), but an answer is complete only with its final marker: `[DONE]`, or the
// usage-only chunk before it, after which some providers just close the connection.
import { GatewayError } from '../../core/errors.ts'
import type {
  CanonicalEvent,
  Citation,
  FinishReason,
  TokenLogprob,
  Usage,
} from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import {
  BACKSLASH,
  defined,
  isArray,
  isGiven,
  isObject,
  listOf,
  numberOf,
  objectOf,
  QUOTE,
  stringOf,
  typeOf,
} from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import {
  BlockWriter,
  Choices,
  countIn,
  decodeCitation,
  decodeLogprobs,
  readable,
  readJsonEvent,
  usageEvent,
  whereAny,
} from '../content/answer.ts'
import type { ProseKind } from '../content/answer.ts'
import { decodeComplaint, streamError, withoutContent } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { dataStart } from '../contract/sse.ts'
import { findString } from '../json/body.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const answer = new AnswerDecoder()
  const fastPath = new DeltaFastPath()
  return (event) => {
    const again = fastPath.again(event)
    if (again !== undefined) return again
    const meaning = decodeEvent(event, answer)
    fastPath.learn(event, meaning)
    return meaning
  }
}

function decodeEvent(event: SseEvent, answer: AnswerDecoder): readonly CanonicalEvent[] {
  // A comment: the provider is alive but has nothing to send.
  if (event.data === '') return [{ type: 'ping' }]
  if (event.data.trim() === '[DONE]') return answer.end()
  const chunk = readJsonEvent(event)
  refuseError(event.event === 'error' ? (chunk['error'] ?? chunk) : chunk['error'])
  return answer.add(chunk)
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  refuseError(body['error'])
  const answer = new AnswerDecoder()
  const events = answer.add(body, listOf(body['choices']).map(asChunk))
  for (const event of answer.end()) events.push(event)
  return events
}

class AnswerDecoder {
  readonly #choices = new Choices((index) => new ChoiceDecoder(index))
  #isStarted = false
  #isEnded = false

  /** `choices`: those of the chunk, if they are written otherwise there. */
  add(chunk: JsonObject, choices = chunk['choices']): CanonicalEvent[] {
    const events: CanonicalEvent[] = []
    if (this.#isEnded) return events
    const isFirst = !this.#isStarted
    if (isFirst) {
      this.#isStarted = true
      const id = stringOf(chunk['id']) ?? ''
      events.push({ type: 'response-start', id, model: stringOf(chunk['model']) ?? '' })
    }
    const { usage } = chunk
    const counted = isObject(usage) ? decodeUsage(usage) : undefined
    const told = counted === undefined ? [] : [usageEvent(counted, chunk['service_tier'])]
    // Before the first words as well: some clients are told the input at the beginning.
    if (isFirst && isArray(choices) && !choices.some(isLast)) events.push(...told)
    if (isArray(choices)) {
      for (const choice of choices) {
        // One by one, here and in the other formats: a call takes only so many arguments.
        if (isObject(choice)) for (const event of this.#addChoice(choice)) events.push(event)
      }
    }
    events.push(...told)
    if (counted === undefined) return events
    return isArray(choices) && choices.length === 0 && this.#choices.haveEnded
      ? [...events, ...this.end()]
      : events
  }

  #addChoice(choice: JsonObject): readonly CanonicalEvent[] {
    const decoder = this.#choices.at(choice['index'])
    if (decoder.isEnded) return []
    const { delta, logprobs, finish_reason: reason, stop_reason, matched_stop } = choice
    const events = isObject(delta) ? decoder.add(delta, logprobs) : []
    if (!isLast(choice)) return events
    // vLLM and SGLang name the stop sequence that was met, or number the token.
    const stopSequence = stringOf(stop_reason) ?? stringOf(matched_stop)
    return [...events, ...decoder.end(reason, stopSequence)]
  }

  end(): readonly CanonicalEvent[] {
    if (this.#isEnded) return []
    this.#isEnded = true
    if (this.#choices.isEmpty) throw withoutContent()
    const ends = this.#choices.all.flatMap((choice) => choice.end('stop'))
    return [...ends, { type: 'response-end' }]
  }
}

/** Totals include their parts. Undefined unless the provider reported the input, and the output or the total. */
function decodeUsage(usage: JsonObject): Usage | undefined {
  const total = numberOf(usage['total_tokens'])
  const inputTokens = countIn(usage, 'prompt_tokens')
  const written = countIn(usage, 'completion_tokens')
  if (inputTokens === undefined || (written ?? total) === undefined) return undefined
  const input = objectOf(usage['prompt_tokens_details'])
  const output = objectOf(usage['completion_tokens_details'])
  return readable({
    inputTokens,
    // Some providers report cached tokens outside the details object.
    cachedTokens: countIn(input, 'cached_tokens') ?? countIn(usage, 'prompt_cache_hit_tokens') ?? 0,
    // Alibaba and LiteLLM use Anthropic's name, but include the count in the prompt tokens like everybody else.
    cacheWriteTokens:
      countIn(input, 'cache_write_tokens') ??
      countIn(input, 'cache_creation_input_tokens') ??
      countIn(usage, 'cache_creation_input_tokens') ??
      0,
    cacheWriteLongTokens: 0,
    // Some providers leave reasoning out of completion_tokens and count it only in the total.
    outputTokens: Math.max(written ?? 0, (total ?? 0) - inputTokens),
    reasoningTokens: countIn(output, 'reasoning_tokens') ?? 0,
    ...whereAny('audioTokens', countIn(input, 'audio_tokens')),
  })
}

/** Whether this is the end of a choice: some providers send an empty reason before that. */
function isLast(choice: Json): boolean {
  const { finish_reason: reason } = objectOf(choice)
  return typeof reason === 'string' && reason !== ''
}

/** A whole choice as the single chunk of a stream: the message becomes the delta, and its calls are numbered. */
function asChunk(choice: Json): Json {
  if (!isObject(choice) || !isObject(choice['message'])) return choice
  const { message } = choice
  const calls = message['tool_calls']
  if (!isArray(calls)) return { ...choice, delta: message }
  const numbered = calls.map((call, index) => (isObject(call) ? { ...call, index } : call))
  return { ...choice, delta: { ...message, tool_calls: numbered } }
}

function refuseError(error: Json | undefined): void {
  if (isGiven(error)) throw streamError(decodeComplaint(error))
}

type Prose = {
  readonly kind: ProseKind
  text: string
  opaque?: OpaqueReasoning
  /** Collected only while the block waits. */
  logprobs?: TokenLogprob[]
}
type ToolCall = {
  readonly kind: 'tool-call'
  id: string
  name: string
  text: string
  custom: boolean
}
type Block = Prose | ToolCall

/** One choice as canonical blocks. What arrives beside a tool call, also another call, waits for the end. */
class ChoiceDecoder {
  readonly #choice: number
  readonly #blocks: BlockWriter
  #open: Block | undefined
  /** Blocks that began while a tool call was open. */
  #waiting: Block[] = []
  /** Citations that arrived before the text they belong to. */
  #citations: Citation[] = []
  readonly #calls: ToolCall[] = []
  #callsByIndex: Map<number, ToolCall> | undefined
  isEnded = false

  constructor(choice: number) {
    this.#choice = choice
    this.#blocks = new BlockWriter(choice)
  }

  /** Takes the next piece of the message: a delta, or the whole message at once. */
  add(delta: JsonObject, logprobs: Json | undefined): readonly CanonicalEvent[] {
    this.#addReasoning(delta)
    const { annotations, tool_calls: calls, function_call: legacy } = delta
    this.#addContent(delta['content'], logprobs)
    if (isArray(annotations)) for (const each of annotations) this.#addCitation(each)
    this.#addProse('refusal', stringOf(delta['refusal']) ?? '')
    if (isArray(calls)) for (const call of calls) if (isObject(call)) this.#addCall(call)
    // The deprecated `function_call` has no id, and a message has at most one.
    if (isObject(legacy)) this.#addCall({ index: 0, function: legacy })
    return this.#blocks.take()
  }

  end(reason: Json | undefined, stopSequence?: string): readonly CanonicalEvent[] {
    if (this.isEnded) return []
    this.isEnded = true
    this.#close()
    for (const block of this.#waiting) {
      this.#start(block)
      this.#delta(block.text, 'logprobs' in block ? block.logprobs : undefined)
      this.#close()
    }
    if (this.#citations.length > 0) this.#blocks.push({ type: 'citations-lost' })
    this.#blocks.push({
      type: 'choice-end',
      choice: this.#choice,
      reason: decodeReason(reason, this.#calls.length > 0),
      ...(stopSequence !== undefined && { stopSequence }),
    })
    return this.#blocks.take()
  }

  #addContent(content: Json | undefined, logprobs: Json | undefined): void {
    const tokens = isObject(logprobs) ? decodeLogprobs(logprobs['content']) : undefined
    if (typeof content === 'string') return this.#addProse('text', content, tokens)
    if (!isArray(content)) return
    // Some compatible providers stream a list of parts instead of a string, with reasoning among them.
    for (const part of content) {
      if (!isObject(part)) continue
      if (typeOf(part) === 'thinking') this.#addProse('reasoning', textOf(part['thinking']))
      else this.#addProse('text', stringOf(part['text']) ?? '')
    }
  }

  #addProse(kind: ProseKind, text: string, logprobs?: readonly TokenLogprob[]): void {
    if (text === '' && logprobs === undefined) return
    if (this.#open?.kind === 'tool-call') return this.#addWaiting(kind, text, logprobs)
    if (this.#open?.kind !== kind) this.#start({ kind, text: '' })
    this.#delta(text, logprobs)
  }

  #addWaiting(kind: ProseKind, text: string, logprobs: readonly TokenLogprob[] = []): void {
    const last = this.#waiting.at(-1)
    const isMore = last?.kind === kind && !('opaque' in last)
    const block: Prose = isMore ? last : { kind, text: '' }
    block.text += text
    for (const each of logprobs) (block.logprobs ??= []).push(each)
    if (!isMore) this.#waiting.push(block)
  }

  /** Reasoning arrives as plain text, as details with signatures, or as both with the same text. */
  #addReasoning(delta: JsonObject): void {
    const details = listOf(delta['reasoning_details'])
    const hasText = details.some((each) => isObject(each) && (stringOf(each['text']) ?? '') !== '')
    if (!hasText) {
      const text = stringOf(delta['reasoning_content']) ?? stringOf(delta['reasoning']) ?? ''
      this.#addProse('reasoning', text)
    }
    for (const detail of details) if (isObject(detail)) this.#addDetail(detail)
  }

  #addDetail(detail: JsonObject): void {
    const { text, signature, data } = detail
    if (typeof data === 'string') return this.#addOpaque(opaqueOf(detail, 'encrypted', data))
    const open = this.#open?.kind === 'reasoning' ? this.#open : undefined
    if (typeof text === 'string' && !(open?.text === text && typeof signature === 'string')) {
      this.#addProse('reasoning', text)
    }
    if (typeof signature !== 'string' || signature === '') return
    const opaque = opaqueOf(detail, 'signature', signature)
    const signed = this.#open?.kind === 'tool-call' ? this.#waiting.at(-1) : this.#open
    // A signature with no reasoning to sign stands for reasoning that the provider does not show.
    if (signed?.kind !== 'reasoning' || signed.opaque) return this.#addOpaque(opaque)
    signed.opaque = opaque
    if (signed === this.#open) this.#close()
  }

  #addOpaque(opaque: OpaqueReasoning): void {
    const block: Block = { kind: 'reasoning', text: '', opaque }
    if (this.#open?.kind === 'tool-call') this.#waiting.push(block)
    else {
      this.#start(block)
      this.#close()
    }
  }

  #addCitation(annotation: Json): void {
    const { url_citation: cited } = objectOf(annotation)
    if (!isObject(cited)) return
    this.#citations.push(decodeCitation(cited))
    if (this.#open?.kind === 'text') this.#cite()
  }

  #cite(): void {
    for (const citation of this.#citations) this.#blocks.cite(citation)
    this.#citations = []
  }

  #addCall(piece: JsonObject): void {
    const call = this.#callOf(piece)
    const { custom } = piece
    const called = isObject(custom) ? custom : piece['function']
    call.custom ||= isObject(custom)
    const { name, arguments: input, input: free } = objectOf(called)
    call.id ||= stringOf(piece['id']) ?? ''
    call.name ||= stringOf(name) ?? ''
    const text = inputText(call.custom ? free : input)
    if (this.#open === call) return this.#delta(text)
    call.text += text
    if (this.#open?.kind === 'tool-call' || call.name === '') return
    this.#waiting = this.#waiting.filter((each) => each !== call)
    this.#start(call)
    this.#delta(call.text)
  }

  /** Which call a piece belongs to. Some providers send no index, others send index 0 for every call. */
  #callOf(piece: JsonObject): ToolCall {
    const id = stringOf(piece['id']) ?? ''
    const index = numberOf(piece['index'])
    const known = index === undefined ? this.#calls.at(-1) : this.#callsByIndex?.get(index)
    if (known !== undefined && (id === '' || known.id === '' || known.id === id)) return known
    const call: ToolCall = { kind: 'tool-call', id, name: '', text: '', custom: false }
    this.#calls.push(call)
    this.#waiting.push(call)
    if (index !== undefined) (this.#callsByIndex ??= new Map<number, ToolCall>()).set(index, call)
    return call
  }

  #start(block: Block): void {
    this.#close()
    this.#open = block
    if (block.kind === 'tool-call') {
      return this.#blocks.startCall(block.id, block.name, block.custom)
    }
    this.#blocks.start(block.kind)
    if (block.kind === 'text') this.#cite()
  }

  #delta(text: string, logprobs?: readonly TokenLogprob[]): void {
    if (this.#open?.kind === 'reasoning') this.#open.text += text
    this.#blocks.add(text, logprobs)
  }

  #close(): void {
    const open = this.#open
    this.#open = undefined
    this.#blocks.end(open?.kind === 'reasoning' ? (open.opaque ?? UNSIGNED) : undefined)
  }
}

/** Reasoning without a signature still belongs to this format: some providers want it back with a tool's result. */
const UNSIGNED: OpaqueReasoning = { format: 'chat', kind: 'signature', value: '' }

/** Some servers send the object itself instead of its JSON text. */
function inputText(input: Json | undefined): string {
  return isObject(input) ? JSON.stringify(input) : (stringOf(input) ?? '')
}

function opaqueOf(
  { id, format }: JsonObject,
  kind: OpaqueReasoning['kind'],
  value: string,
): OpaqueReasoning {
  return defined({
    format: 'chat' as const,
    kind,
    value,
    id: stringOf(id),
    dialect: stringOf(format),
  })
}

/** Finish reasons of compatible providers that gave up midway, although the HTTP status reported success. */
const BROKEN_OFF: readonly unknown[] = ['error', 'abort', 'insufficient_system_resource']
const LIMIT: readonly unknown[] = ['length', 'max_tokens', 'model_length']

function decodeReason(reason: Json | undefined, hasCalls: boolean): FinishReason {
  if (BROKEN_OFF.includes(reason)) {
    throw new GatewayError('provider_failed', 'the provider broke off its answer')
  }
  if (LIMIT.includes(reason)) return 'limit'
  if (reason === 'content_filter') return 'refusal'
  return hasCalls ? 'tool-call' : 'stop'
}

function textOf(parts: Json | undefined): string {
  if (!isArray(parts)) return stringOf(parts) ?? ''
  return parts.map((part) => (isObject(part) ? (stringOf(part['text']) ?? '') : '')).join('')
}

type TextDelta = Extract<CanonicalEvent, { readonly type: 'text-delta' }>

/**
 * Nearly all chunks of a stream differ only in their text, and in the padding after it, and then mean the same with
 * another text. Comparing takes a tenth of the time of parsing. The decoder does not see all texts, and must not need to.
 */
class DeltaFastPath {
  /** The meaning of the last event, if it was a text and nothing else. */
  #last: TextDelta | undefined
  /** What such events share: before the text, between text and padding, and after. An empty head = not known. */
  #head = ''
  #middle = ''
  #tail = ''

  /** The event's meaning, if only its text differs from the last event; undefined = it must be parsed. */
  again({ raw }: SseEvent): readonly CanonicalEvent[] | undefined {
    const head = this.#head
    // Comparing slices takes a third of the time that startsWith takes.
    if (this.#last === undefined || head === '' || raw.slice(0, head.length) !== head) {
      return undefined
    }
    const textEnd = endOfPlain(raw, head.length)
    if (!this.#endsAlike(raw, textEnd)) return undefined
    const text = raw.slice(head.length, textEnd)
    return text === '' ? NOTHING : [{ ...this.#last, text }]
  }

  /** Takes an event that had to be parsed. If it continues the text before it, more events like it are expected. */
  learn(event: SseEvent, meaning: readonly CanonicalEvent[]): void {
    const before = this.#last
    const [delta] = meaning
    const isText =
      meaning.length === 1 && delta?.type === 'text-delta' && delta.logprobs === undefined
    this.#last = isText ? delta : undefined
    this.#head = ''
    // When choices alternate, no event resembles the previous one.
    if (isText && delta.choice === before?.choice) this.#listen(event, delta.text)
  }

  #listen(event: SseEvent, delta: string): void {
    const { raw, data } = event
    const text = findString(data, ['choices', 'delta', 'content'])
    const start = dataStart(event)
    // Data that came in several lines is not a substring of its event.
    if (text === undefined || start < 0) return
    // Some providers add it to hide the length of the text.
    const padding = findString(data, ['obfuscation']) ?? { start: text.end, end: text.end }
    if (data.slice(text.start, text.end) !== delta || padding.start < text.end) return
    this.#head = raw.slice(0, start + text.start)
    this.#middle = raw.slice(start + text.end, start + padding.start)
    this.#tail = raw.slice(start + padding.end)
  }

  #endsAlike(raw: string, start: number): boolean {
    const middle = this.#middle
    if (middle === '') return raw.slice(start) === this.#tail
    const paddingStart = start + middle.length
    return (
      raw.slice(start, paddingStart) === middle &&
      raw.slice(endOfPlain(raw, paddingStart)) === this.#tail
    )
  }
}

const NOTHING: readonly CanonicalEvent[] = []
const SPACE = 0x20

/** The end of a JSON string without escapes; the end of the whole text if the string has any. */
function endOfPlain(text: string, start: number): number {
  for (let position = start; position < text.length; position++) {
    const character = text.charCodeAt(position)
    if (character === QUOTE) return position
    if (character === BACKSLASH || character < SPACE) break
  }
  return text.length
}
