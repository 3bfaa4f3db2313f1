// What the decoders of all formats share: they read JSON, token counts, probabilities and vectors in a provider's answer,
// whose failure it is if something is not as it must be, and put choices and blocks in order that arrive in any.
import { GatewayError } from '../../core/errors.ts'
import type {
  CanonicalEvent,
  Citation,
  TokenLogprob,
  Usage,
  UsageEvent,
} from '../../core/events.ts'
import { NO_USAGE, SERVICE_TIERS } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, numberOf, parseObject, stringOf } from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import type { JsonAnswer } from '../contract/codec.ts'
import type { SseEvent } from '../contract/sse.ts'
import { calledName, callIdOf } from './tools.ts'

/** A whole answer, of any length. */
export function readJsonAnswer(bytes: Buffer): JsonAnswer {
  const text = bytes.toString('utf8')
  return { text, value: parse(text, 'the provider answered with something that is not JSON') }
}

export function readJsonEvent({ data }: SseEvent): JsonObject {
  return parse(data, 'the provider sent an event that is no JSON object')
}

function parse(text: string, failure: string): JsonObject {
  const value = parseObject(text)
  if (value !== undefined) return value
  // Without the parser's message: it quotes the answer, which only the client may read.
  throw new GatewayError('provider_failed', failure)
}

/** A token count. Undefined if there is none; NaN if it is not a number, so that every sum with it is NaN too. */
export function countIn(counts: JsonObject, name: string): number | undefined {
  const count = counts[name]
  return isGiven(count) ? (numberOf(count) ?? NaN) : undefined
}

/** The usage, if all its counts are numbers: half of them would charge half. */
export function readable(usage: Usage): Usage | undefined {
  return Object.values(usage).some(Number.isNaN) ? undefined : usage
}

/** The usage of an answer, served in the tier that the provider calls `given`. All formats name special tiers alike. */
export function usageEvent(usage: Usage, given: Json | undefined): UsageEvent {
  const tier = SERVICE_TIERS.find((each) => each === given)
  return tier === undefined ? { type: 'usage', usage } : { type: 'usage', usage, tier }
}

/** A count that most usages lack: left out if it is 0 or unknown. */
export function whereAny<Name extends 'audioTokens' | 'webSearches'>(
  name: Name,
  count: number | undefined,
): Partial<Pick<Usage, Name>> {
  return count === undefined || count === 0 ? {} : ({ [name]: count } as Pick<Usage, Name>)
}

/** The chat and responses formats write citations alike, too. */
export function decodeCitation({ url, title, start_index, end_index }: JsonObject): Citation {
  const [start, end] = [numberOf(start_index) ?? 0, numberOf(end_index) ?? 0]
  return { url: stringOf(url) ?? '', title: stringOf(title) ?? '', start, end }
}

/** How likely each token and its alternatives were. The chat and responses formats write this alike. */
export function decodeLogprobs(value: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isArray(value) || value.length === 0) return undefined
  return value.filter(isObject).map((entry) => ({
    ...decodeToken(entry),
    top: isArray(entry['top_logprobs'])
      ? entry['top_logprobs'].filter(isObject).map(decodeToken)
      : [],
  }))
}

function decodeToken(entry: JsonObject): Omit<TokenLogprob, 'top'> {
  const { bytes } = entry
  return {
    token: stringOf(entry['token']) ?? '',
    logprob: numberOf(entry['logprob']) ?? 0,
    bytes: isArray(bytes) ? bytes.filter((byte) => typeof byte === 'number') : null,
  }
}

type Told = {
  readonly model: string
  /** Undefined if the provider did not count them. */
  readonly inputTokens: number | undefined
}

/** An answer of vectors, in any embeddings format: it comes at once, and each vector is one event. */
export function embeddingAnswer(
  vectors: readonly CanonicalEvent[],
  { model, inputTokens }: Told,
): readonly CanonicalEvent[] {
  if (vectors.length === 0) {
    throw new GatewayError('provider_failed', 'the provider sent an answer without vectors')
  }
  return [
    { type: 'response-start', id: '', model },
    ...vectors,
    ...(inputTokens === undefined
      ? []
      : [{ type: 'usage' as const, usage: { ...NO_USAGE, inputTokens } }]),
    { type: 'response-end' },
  ]
}

export function noVector(): GatewayError {
  return new GatewayError('provider_failed', 'the provider sent something that is not a vector')
}

/** Requests for streamed embeddings are refused earlier, so a call of this function is a bug. */
export function neverStreamed(): never {
  throw new Error('embeddings are never streamed')
}

/** No provider gives more, and every event may ask all of them whether they have ended. */
const CHOICES_MAX = 256

/** The choices of one answer, each with its own decoder. */
export class Choices<Decoder extends { readonly isEnded: boolean }> {
  readonly #create: (index: number) => Decoder
  readonly #decoders = new Map<number, Decoder>()

  constructor(create: (index: number) => Decoder) {
    this.#create = create
  }

  /** A choice without an index is the first one. */
  at(index: Json | undefined): Decoder {
    const number = numberOf(index) ?? 0
    const known = this.#decoders.get(number)
    if (known !== undefined) return known
    if (this.#decoders.size === CHOICES_MAX) {
      throw new GatewayError('provider_failed', 'the provider sent more choices than any has')
    }
    const decoder = this.#create(number)
    this.#decoders.set(number, decoder)
    return decoder
  }

  get all(): readonly Decoder[] {
    return [...this.#decoders.values()]
  }

  get isEmpty(): boolean {
    return this.#decoders.size === 0
  }

  /** Whether there is any choice, and all of them have ended. */
  get haveEnded(): boolean {
    return !this.isEmpty && this.all.every(({ isEnded }) => isEnded)
  }
}

/**
 * Blocks one after the other: the block that began first passes as it grows, and the pieces of all others wait for its
 * end. No tool may run with the input of another.
 */
export class BlockSequencer<Piece> {
  /** The number of the block whose turn it is. */
  #current: number | undefined
  readonly #waiting = new Map<number, { readonly pieces: Piece[]; hasEnded: boolean }>()

  /** The pieces whose turn it is now. A provider that does not number its blocks is believed to send them in order. */
  add(piece: Piece, block: number | undefined, isLast: boolean): readonly Piece[] {
    if (block === undefined) return [piece]
    this.#current ??= block
    if (block === this.#current) return isLast ? [piece, ...this.#next()] : [piece]
    const waiting = this.#waiting.get(block) ?? { pieces: [], hasEnded: false }
    this.#waiting.set(block, waiting)
    waiting.pieces.push(piece)
    waiting.hasEnded = isLast
    return []
  }

  /** What still waits when the answer ends: some providers do not end their blocks. */
  rest(): readonly Piece[] {
    const rest = [...this.#waiting.values()].flatMap(({ pieces }) => pieces)
    this.#waiting.clear()
    return rest
  }

  #next(): readonly Piece[] {
    const next: Piece[] = []
    this.#current = undefined
    for (const [block, { pieces, hasEnded }] of this.#waiting) {
      this.#waiting.delete(block)
      for (const piece of pieces) next.push(piece)
      if (hasEnded) continue
      this.#current = block
      break
    }
    return next
  }
}

export type ProseKind = 'text' | 'refusal' | 'reasoning'
type BlockKind = ProseKind | 'tool-call'

/** Written out: the type of every event is compared, and a text that is put together is compared slowly. */
const TYPES = {
  text: { start: 'text-start', delta: 'text-delta', end: 'text-end' },
  refusal: { start: 'refusal-start', delta: 'refusal-delta', end: 'refusal-end' },
  reasoning: { start: 'reasoning-start', delta: 'reasoning-delta', end: 'reasoning-end' },
  'tool-call': { start: 'tool-call-start', delta: 'tool-call-delta', end: 'tool-call-end' },
} as const

/** Writes the canonical events of one choice: its blocks, of which one at a time is open, and whatever else is pushed. */
export class BlockWriter {
  readonly #choice: number
  #events: CanonicalEvent[] = []
  #block = -1
  #open: BlockKind | undefined

  constructor(choice = 0) {
    this.#choice = choice
  }

  /** The kind of the open block. */
  get open(): BlockKind | undefined {
    return this.#open
  }

  /** Begins a block, and ends the one before it. */
  start(kind: ProseKind): void {
    this.#events.push({ type: TYPES[kind].start, ...this.#next(kind) })
  }

  startCall(id: Json | undefined, name: Json | undefined, custom = false): void {
    const call = { id: callIdOf(id), name: calledName(name), custom }
    this.#events.push({ type: 'tool-call-start', ...this.#next('tool-call'), ...call })
  }

  /** More of the open block. */
  add(text: string, logprobs?: readonly TokenLogprob[]): void {
    const kind = this.#open
    if (kind === undefined || (text === '' && logprobs === undefined)) return
    const [choice, block] = [this.#choice, this.#block]
    this.#events.push(
      kind === 'text' && logprobs !== undefined
        ? { type: 'text-delta', choice, block, text, logprobs }
        : { type: TYPES[kind].delta, choice, block, text },
    )
  }

  cite(citation: Citation): void {
    const at = { choice: this.#choice, block: this.#block }
    this.#events.push({ type: 'text-citation', ...at, citation })
  }

  /** Ends the open block, if there is one. */
  end(opaque?: OpaqueReasoning): void {
    const kind = this.#open
    if (kind === undefined) return
    this.#open = undefined
    const at = { choice: this.#choice, block: this.#block }
    this.#events.push({ type: TYPES[kind].end, ...at, ...(opaque && { opaque }) })
  }

  push(event: CanonicalEvent): void {
    this.#events.push(event)
  }

  /** What was written since the last time. */
  take(): CanonicalEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  #next(kind: BlockKind) {
    this.end()
    this.#open = kind
    this.#block += 1
    return { choice: this.#choice, block: this.#block }
  }
}
