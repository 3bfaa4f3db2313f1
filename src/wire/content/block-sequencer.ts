// An answer whose pieces arrive in any order, put in order again: each choice by a decoder of its own, the blocks of one
// choice one after the other, and their canonical events.
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, Citation, TokenLogprob } from '../../core/events.ts'
import type { Json } from '../../core/json.ts'
import { numberOf } from '../../core/json.ts'
import type { ReasoningSeal } from '../../core/request.ts'
import { callIdOf } from './tool-calls.ts'
import { calledName } from './tools.ts'

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

export type ProseKind = 'text' | 'refusal' | 'thinking'
type BlockKind = ProseKind | 'tool-call'

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
    this.#events.push({ type: `${kind}-start`, ...this.#next(kind) })
  }

  startCall(id: Json | undefined, name: Json | undefined, custom = false): void {
    const call = { id: callIdOf(id), name: calledName(name), custom }
    this.#events.push({ type: 'tool-call-start', ...this.#next('tool-call'), ...call })
  }

  /** More of the open block. */
  add(text: string, logprobs?: readonly TokenLogprob[]): void {
    const kind = this.#open
    if (kind === undefined || (text === '' && logprobs === undefined)) return
    const at = { choice: this.#choice, block: this.#block }
    this.#events.push(
      kind === 'text' && logprobs !== undefined
        ? { type: 'text-delta', ...at, text, logprobs }
        : { type: `${kind}-delta`, ...at, text },
    )
  }

  cite(citation: Citation): void {
    const at = { choice: this.#choice, block: this.#block }
    this.#events.push({ type: 'text-citation', ...at, citation })
  }

  /** Ends the open block, if there is one. */
  end(seal?: ReasoningSeal): void {
    const kind = this.#open
    if (kind === undefined) return
    this.#open = undefined
    const at = { choice: this.#choice, block: this.#block }
    this.#events.push({ type: `${kind}-end`, ...at, ...(seal && { seal }) })
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
