// Answers of generateContent as canonical events. Every event of a stream is a complete JSON answer with the next
// pieces. There is no end marker: the answer is complete when its candidate reports a finish reason.
import type { CanonicalEvent, Citation, FinishReason, Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import {
  defined,
  isGiven,
  isObject,
  listOf,
  numberOf,
  objectOf,
  stringOf,
} from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import {
  BlockWriter,
  Choices,
  countIn,
  readable,
  readJsonEvent,
  whereAny,
} from '../content/answer.ts'
import type { ProviderComplaint } from '../contract/codec.ts'
import { streamError, unusableAnswer } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { exactly } from '../json/exact.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const answer = new AnswerDecoder()
  return (event) =>
    event.data === '' ? [{ type: 'ping' }] : answer.add(exactly(event.data, readJsonEvent(event)))
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  return new AnswerDecoder().add(body)
}

class AnswerDecoder {
  readonly #candidates = new Choices((index) => new CandidateDecoder(index))
  #isStarted = false
  #isEnded = false

  add(chunk: JsonObject): readonly CanonicalEvent[] {
    if (isObject(chunk['error'])) throw streamError(decodeError(chunk))
    if (this.#isEnded) return []
    const { candidates, usageMetadata, promptFeedback } = chunk
    const isFirst = !this.#isStarted
    const events = this.#start(chunk)
    const usage = isObject(usageMetadata) ? decodeUsage(usageMetadata) : undefined
    const told: readonly CanonicalEvent[] = usage === undefined ? [] : [{ type: 'usage', usage }]
    // Before the first words as well: some clients are told the input at the beginning.
    const isWhole = listOf(candidates).some((each) => isGiven(objectOf(each)['finishReason']))
    if (isFirst && !isWhole) events.push(...told)
    for (const candidate of listOf(candidates)) {
      if (!isObject(candidate)) continue
      const decoder = this.#candidates.at(candidate['index'])
      for (const event of decoder.add(candidate)) events.push(event)
    }
    events.push(...told)
    this.#refuseUnusable(usage)
    const refusal = this.#candidates.isEmpty ? decodeRefusal(promptFeedback) : undefined
    if (refusal !== undefined) events.push(refusal)
    this.#isEnded = refusal !== undefined || this.#candidates.haveEnded
    return this.#isEnded ? [...events, { type: 'response-end' }] : events
  }

  #start({ responseId, modelVersion }: JsonObject): CanonicalEvent[] {
    if (this.#isStarted) return []
    this.#isStarted = true
    const id = stringOf(responseId) ?? ''
    return [{ type: 'response-start', id, model: stringOf(modelVersion) ?? '' }]
  }

  #refuseUnusable(usage: Usage | undefined): void {
    for (const { unusable } of this.#candidates.all) {
      if (unusable !== undefined) throw unusableAnswer(unusable, usage)
    }
  }
}

/** A blocked prompt has no candidates, only the reason why it was blocked. */
function decodeRefusal(promptFeedback: Json | undefined): CanonicalEvent | undefined {
  const { blockReason, blockReasonMessage } = objectOf(promptFeedback)
  const blocked = stringOf(blockReason)
  if (blocked === undefined) return undefined
  const explanation = stringOf(blockReasonMessage) ?? blocked
  return { type: 'choice-end', choice: 0, reason: 'refusal', explanation }
}

/**
 * One candidate as canonical blocks. Only texts arrive in pieces; every other part is whole. Signatures become
 * opaque reasoning without a text, so that clients of every format carry them back.
 */
class CandidateDecoder {
  readonly #choice: number
  readonly #blocks: BlockWriter
  readonly #citations = new Citations()
  #hasCalled = false
  isEnded = false
  /** Why the answer cannot be used; undefined = it can. */
  unusable: string | undefined

  constructor(choice: number) {
    this.#choice = choice
    this.#blocks = new BlockWriter(choice)
  }

  add(candidate: JsonObject): readonly CanonicalEvent[] {
    const { content, finishReason, citationMetadata } = candidate
    this.#citations.beginPiece(citationMetadata)
    for (const part of listOf(objectOf(content)['parts'])) if (isObject(part)) this.#addPart(part)
    this.#cite()
    if (typeof finishReason === 'string') this.#end(finishReason, candidate['finishMessage'])
    return this.#blocks.take()
  }

  #addPart(part: JsonObject): void {
    const { text, thought, functionCall } = part
    const signature = stringOf(part['thoughtSignature'])
    if (isObject(functionCall)) {
      if (signature !== undefined) this.#opaque({ ...SIGNATURE, value: signature })
      this.#call(functionCall)
      return
    }
    if (typeof text === 'string' && text !== '') this.#prose(thought ? 'reasoning' : 'text', text)
    if (signature !== undefined) this.#opaque({ ...SIGNATURE, value: signature, id: 'text' })
  }

  #prose(kind: 'text' | 'reasoning', text: string): void {
    if (this.#blocks.open !== kind) {
      this.#close()
      this.#blocks.start(kind)
      if (kind === 'text') this.#citations.beginBlock()
    }
    if (kind === 'text') this.#citations.say(text)
    this.#blocks.add(text)
  }

  #cite(): void {
    if (this.#blocks.open !== 'text') return
    for (const citation of this.#citations.take()) this.#blocks.cite(citation)
  }

  #opaque(opaque: OpaqueReasoning): void {
    this.#close()
    this.#blocks.start('reasoning')
    this.#blocks.end(opaque)
  }

  #call({ id, name, args }: JsonObject): void {
    this.#close()
    this.#hasCalled = true
    this.#blocks.startCall(id, name)
    this.#blocks.add(JSON.stringify(args ?? {}))
    this.#blocks.end()
  }

  #end(reason: string, message: unknown): void {
    this.#close()
    if (this.#citations.take().length > 0) this.#blocks.push({ type: 'citations-lost' })
    this.isEnded = true
    if (UNUSABLE.has(reason)) {
      this.unusable = reason
      return
    }
    // New reasons appear now and then. Whatever one means, the model has finished.
    const finish = FINISH_REASONS.get(reason) ?? 'stop'
    this.#blocks.push({
      type: 'choice-end',
      choice: this.#choice,
      reason: finish === 'stop' && this.#hasCalled ? 'tool-call' : finish,
      ...(finish === 'refusal' && { explanation: stringOf(message) ?? reason }),
    })
  }

  #close(): void {
    this.#cite()
    this.#blocks.end()
  }
}

const SIGNATURE = { format: 'gemini', kind: 'signature' } as const

const REFUSALS =
  `SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT
  IMAGE_RECITATION`.split(/\s+/)

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'limit'],
  // The answer could be continued with a token that no other format has.
  ['CONTINUATION', 'limit'],
  ...REFUSALS.map((name) => [name, 'refusal'] as const),
])

const UNUSABLE: ReadonlySet<string> = new Set([
  ...['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'],
  ...['MISSING_THOUGHT_SIGNATURE', 'MALFORMED_RESPONSE', 'OTHER'],
])

/** Each one is counted out in the text so far; beyond this many they are left out. */
const CITATIONS_MAX = 100

/** URLs for spans of all the text so far, counted in UTF-8 bytes, and repeated with later pieces. */
class Citations {
  #said = ''
  #saidBytes = 0
  /** Where the open block begins in the text so far. */
  #blockStart = 0
  readonly #told = new Set<string>()
  /** Those of the piece being read whose text has not arrived yet. */
  #waiting: readonly JsonObject[] = []

  beginBlock(): void {
    this.#blockStart = this.#said.length
  }

  say(text: string): void {
    this.#said += text
    this.#saidBytes += Buffer.byteLength(text)
  }

  /** Begins a piece of the answer, with the citations that came with it. */
  beginPiece(metadata: Json | undefined): void {
    // Vertex AI uses another name for the same list.
    const { citationSources, citations } = objectOf(metadata)
    const sources = listOf(citationSources ?? citations).slice(0, CITATIONS_MAX)
    this.#waiting = sources.map(objectOf).filter(({ uri }) => typeof uri === 'string')
  }

  /** The new citations whose text has arrived, in characters of the open block. */
  take(): Citation[] {
    const isSaid = (source: JsonObject): boolean => startOf(source) < this.#saidBytes
    const said = this.#waiting.filter(isSaid)
    if (said.length > 0) this.#waiting = this.#waiting.filter((source) => !isSaid(source))
    return said.flatMap((source) => {
      const { uri, title, startIndex, endIndex } = source
      const span = JSON.stringify([uri, startIndex, endIndex])
      if (this.#told.has(span) || this.#told.size === CITATIONS_MAX) return []
      this.#told.add(span)
      const start = this.#characters(startOf(source))
      const end = this.#characters(numberOf(endIndex) ?? Infinity)
      return [{ url: stringOf(uri) ?? '', title: stringOf(title) ?? '', start, end }]
    })
  }

  #characters(bytes: number): number {
    const before = Buffer.from(this.#said).subarray(0, bytes).toString()
    return Math.max(0, before.length - this.#blockStart)
  }
}

function startOf({ startIndex }: JsonObject): number {
  return numberOf(startIndex) ?? 0
}

/**
 * The prompt includes cache reads, reasoning is counted separately from the answer, and a stream repeats its totals.
 * Undefined without the prompt's count. The provider omits the other counts when they are 0.
 */
export function decodeUsage(counts: JsonObject): Usage | undefined {
  const prompt = countIn(counts, 'promptTokenCount') ?? NaN
  const reasoningTokens = countIn(counts, 'thoughtsTokenCount') ?? 0
  return readable({
    ...NO_USAGE,
    inputTokens: prompt + (countIn(counts, 'toolUsePromptTokenCount') ?? 0),
    cachedTokens: countIn(counts, 'cachedContentTokenCount') ?? 0,
    outputTokens: (countIn(counts, 'candidatesTokenCount') ?? 0) + reasoningTokens,
    reasoningTokens,
    ...whereAny('audioTokens', heardTokens(counts['promptTokensDetails'])),
  })
}

/** `[{ "modality": "AUDIO", "tokenCount": 320 }]` */
function heardTokens(details: Json | undefined): number {
  const parts = listOf(details).filter(isObject)
  return parts
    .filter(({ modality }) => modality === 'AUDIO')
    .reduce((sum, part) => sum + (countIn(part, 'tokenCount') ?? 0), 0)
}

/** `{error: {code, status, message, details}}`, in a body or in a stream. */
export function decodeError(body: JsonObject): ProviderComplaint {
  const { error } = body
  if (!isObject(error)) return {}
  const details = listOf(error['details']).filter(isObject)
  const reason = details.map((detail) => stringOf(detail['reason'])).find(Boolean)
  return defined({
    message: stringOf(error['message']),
    // The reason distinguishes an invalid key from an invalid request.
    code: reason ?? stringOf(error['status']),
    type: typeof error['code'] === 'number' ? String(error['code']) : undefined,
    retryAfterSeconds: details.map(retryDelay).find((seconds) => seconds !== undefined),
  })
}

/** `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}` */
function retryDelay({ retryDelay: delay }: JsonObject): number | undefined {
  const seconds = typeof delay === 'string' ? Number.parseFloat(delay) : Number.NaN
  return Number.isFinite(seconds) ? seconds : undefined
}
