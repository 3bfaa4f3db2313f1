// A provider's messages answer as canonical events. A whole answer goes through the same steps as a stream, so that
// both decode alike. Tolerates merely compatible providers: missing starts, null counts, `[DONE]`.
import type { CanonicalEvent, ChoiceEnd, FinishReason, Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
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
  BlockSequencer,
  BlockWriter,
  countIn,
  readable,
  readJsonEvent,
  usageEvent,
  whereAny,
} from '../content/answer.ts'
import type { ProviderComplaint } from '../contract/codec.ts'
import { decodeComplaint, streamError, withoutContent } from '../contract/errors.ts'
import type { SseEvent } from '../contract/sse.ts'
import { exactly } from '../json/exact.ts'

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

/** Before the first report. A count that is never reported stays NaN, and the usage is then not readable. */
const UNTOLD: Usage = { ...NO_USAGE, inputTokens: NaN, outputTokens: NaN }

class FrameReader {
  #usage: Usage = UNTOLD
  /** Named at the beginning of a stream, but not with the totals at its end. */
  #tier: Json | undefined
  readonly #blocks = new BlockWriter()
  readonly #sequencer = new BlockSequencer<JsonObject>()
  /** What belongs to the open block, for its end. */
  #citations: Json[] = []
  #opaque: OpaqueReasoning | undefined
  #characters = 0
  /** The input in the start frame of a call; used only when no pieces follow. */
  #input: JsonObject = {}
  /** True inside a block that has no canonical form (a hosted tool ran): its pieces belong to no other block. */
  #isIgnoring = false
  #hasStarted = false
  #hasEnded = false

  /** Decodes one frame. If the provider left out the answer's start, it is added here. */
  read(frame: JsonObject): readonly CanonicalEvent[] {
    this.#read(frame)
    const events = this.#blocks.take()
    if (this.#hasStarted || events.every((event) => event.type === 'ping')) return events
    this.#messageStart({})
    return [...this.#blocks.take(), ...events]
  }

  #read(frame: JsonObject): void {
    const type = typeOf(frame)
    switch (type) {
      case 'content_block_delta':
      case 'content_block_start':
      case 'content_block_stop': {
        const index = numberOf(frame['index'])
        const pieces = this.#sequencer.add(frame, index, type === 'content_block_stop')
        for (const piece of pieces) this.#readBlock(piece)
        return
      }
      case 'message_start':
        return this.#messageStart(objectOf(frame['message']))
      case 'message_delta': {
        const delta = objectOf(frame['delta'])
        if (typeof delta['stop_reason'] === 'string') this.#end(delta)
        return this.#report(frame['usage'])
      }
      case 'message_stop':
        if (!this.#hasStarted) throw withoutContent()
        this.#end({})
        return this.#blocks.push({ type: 'response-end' })
      case 'ping':
        return this.#blocks.push({ type: 'ping' })
      case 'error':
        throw streamError(decodeError(frame))
    }
  }

  #readBlock(frame: JsonObject): void {
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

  #messageStart({ id, model, usage }: JsonObject): void {
    if (!this.#hasStarted) {
      const start = { id: stringOf(id) ?? '', model: stringOf(model) ?? '' }
      this.#blocks.push({ type: 'response-start', ...start })
    }
    this.#hasStarted = true
    this.#report(usage)
  }

  #report(usage: Json | undefined): void {
    if (!isObject(usage)) return
    this.#usage = decodeUsage(usage, this.#usage)
    this.#tier = usage['service_tier'] ?? this.#tier
    const counted = readable(this.#usage)
    if (counted !== undefined) this.#blocks.push(usageEvent(counted, this.#tier))
  }

  #end(delta: JsonObject): void {
    if (this.#hasEnded) return
    for (const piece of this.#sequencer.rest()) this.#readBlock(piece)
    this.#hasEnded = true
    this.#close()
    this.#blocks.push({ type: 'choice-end', choice: 0, ...decodeStop(delta) })
  }

  /** A start frame may carry the whole block: in a whole answer, and in some providers' streams. */
  #start(block: JsonObject): void {
    if (this.#hasEnded) return
    this.#close()
    const type = typeOf(block)
    this.#isIgnoring = false
    switch (type) {
      case 'text':
        this.#blocks.start('text')
        this.#citations = [...listOf(block['citations'])]
        return this.#piece('text', block['text'])
      case 'thinking':
        this.#blocks.start('reasoning')
        this.#opaque = opaqueOf('signature', block['signature'])
        return this.#piece('reasoning', block['thinking'])
      case 'redacted_thinking':
        this.#blocks.start('reasoning')
        this.#opaque = opaqueOf('redacted', block['data'])
        return
      case 'tool_use':
        this.#blocks.startCall(block['id'], block['name'])
        this.#input = objectOf(block['input'])
        return
      default:
        this.#isIgnoring = true
        // A search that failed costs nothing, and has no list of results.
        if (type === 'web_search_tool_result' && isArray(block['content']))
          this.#blocks.push({ type: 'search' })
    }
  }

  #delta(delta: JsonObject): void {
    if (this.#isIgnoring || this.#hasEnded) return
    switch (typeOf(delta)) {
      case 'text_delta':
        return this.#piece('text', delta['text'])
      case 'thinking_delta':
        return this.#piece('reasoning', delta['thinking'])
      case 'input_json_delta':
        return this.#piece('tool-call', delta['partial_json'])
      case 'signature_delta':
        if (this.#blocks.open === 'reasoning') {
          this.#opaque = opaqueOf('signature', delta['signature'])
        }
        return
      case 'citations_delta':
        if (delta['citation'] !== undefined) this.#citations.push(delta['citation'])
    }
  }

  #piece(kind: 'text' | 'reasoning' | 'tool-call', text: Json | undefined): void {
    if (typeof text !== 'string' || text === '') return
    if (this.#blocks.open !== kind) {
      // Some providers omit the start of text or reasoning. A tool call without a start has no name and is ignored.
      if (kind === 'tool-call') return
      this.#close()
      this.#blocks.start(kind)
    }
    this.#characters += text.length
    this.#blocks.add(text)
  }

  #close(): void {
    const { open } = this.#blocks
    if (open === 'text') this.#cite()
    // A call without input becomes an empty object, which every other format can parse.
    if (open === 'tool-call' && this.#characters === 0)
      this.#blocks.add(JSON.stringify(this.#input))
    this.#blocks.end(open === 'reasoning' ? this.#opaque : undefined)
    this.#citations = []
    this.#opaque = undefined
    this.#characters = 0
    this.#input = {}
  }

  /** Citations with a URL, each for its whole block. Positions in documents mean nothing in other formats. */
  #cite(): void {
    for (const { url, source, title } of this.#citations.map(objectOf)) {
      const address = stringOf(url) ?? stringOf(source)
      if (address === undefined || !/^https?:/.test(address)) continue
      const span = { start: 0, end: this.#characters }
      this.#blocks.cite({ url: address, title: stringOf(title) ?? '', ...span })
    }
  }
}

/** The totals after one more report; what it lacks stays. Input excludes cache reads and writes here. */
function decodeUsage(report: JsonObject, before: Usage): Usage {
  const creation = objectOf(report['cache_creation'])
  const short = countIn(creation, 'ephemeral_5m_input_tokens')
  const long = countIn(creation, 'ephemeral_1h_input_tokens')
  const written = short === undefined && long === undefined ? undefined : (short ?? 0) + (long ?? 0)
  const searches = countIn(objectOf(report['server_tool_use']), 'web_search_requests')
  const details = objectOf(report['output_tokens_details'])
  const cachedTokens = countIn(report, 'cache_read_input_tokens') ?? before.cachedTokens
  const cacheWriteTokens =
    countIn(report, 'cache_creation_input_tokens') ?? written ?? before.cacheWriteTokens
  const plainTokens =
    countIn(report, 'input_tokens') ??
    before.inputTokens - before.cachedTokens - before.cacheWriteTokens
  return {
    inputTokens: plainTokens + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWriteLongTokens: long ?? longAmong(cacheWriteTokens, before),
    outputTokens: countIn(report, 'output_tokens') ?? before.outputTokens,
    reasoningTokens: countIn(details, 'thinking_tokens') ?? before.reasoningTokens,
    ...whereAny('webSearches', searches ?? before.webSearches),
  }
}

/** The end of a stream reports no lifetimes: later cache writes count with the lifetime of the earlier ones. */
function longAmong(cacheWriteTokens: number, before: Usage): number {
  const isLong = before.cacheWriteLongTokens > 0
  return isLong
    ? before.cacheWriteLongTokens + Math.max(0, cacheWriteTokens - before.cacheWriteTokens)
    : 0
}

function opaqueOf(
  kind: OpaqueReasoning['kind'],
  value: Json | undefined,
): OpaqueReasoning | undefined {
  return typeof value === 'string' && value !== '' ? { format: 'messages', kind, value } : undefined
}

/** Why an answer ended, in the words of this format. */
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

/** In the body of a failed request or in a stream. The code that distinguishes errors of one type is in the details. */
export function decodeError(body: JsonObject): ProviderComplaint {
  const { error } = body
  const code = stringOf(objectOf(objectOf(error)['details'])['error_code'])
  return { ...decodeComplaint(error), ...defined({ code }) }
}
