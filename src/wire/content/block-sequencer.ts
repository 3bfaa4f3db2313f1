// An answer whose pieces arrive in any order, put in order again: each choice by a decoder of its own, and the blocks of
// one choice one after the other.
import { GatewayError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import { numberOf } from '../../core/json.ts'

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
