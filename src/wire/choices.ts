// The choices of one answer, each with its own decoder.
import { GatewayError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { numberOf } from '../core/json.ts'

/** No provider gives more, and every event may ask all of them whether they have ended. */
const CHOICES_MAX = 256

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
