// Adds up how much a model will read (design 2.6), while a format walks its request once. It counts bytes and never
// copies texts; what each part of a request counts as is the format's to say.
import type { InputMeasure } from '../core/call.ts'
import type { Json } from '../core/json.ts'

export class InputTally {
  #textBytes = 0
  #jsonBytes = 0
  #items = 0
  #images = 0
  #unbounded = false
  #tokens = 0
  #cacheWrites: InputMeasure['cacheWrites'] = 'none'

  text(text: string): void {
    this.#textBytes += Buffer.byteLength(text)
  }

  /** A text that stands where providers write JSON anew: tool results, tool call arguments. */
  jsonText(text: string): void {
    this.#jsonBytes += Buffer.byteLength(text)
  }

  json(value: Json | undefined): void {
    if (value !== undefined) this.jsonText(JSON.stringify(value))
  }

  item(): void {
    this.#items++
  }

  image(): void {
    this.#images++
  }

  /** Something whose size its bytes do not bound. */
  unbounded(): void {
    this.#unbounded = true
  }

  tokens(count: number): void {
    this.#tokens += count
  }

  cacheWrite(lifetime: 'short' | 'long'): void {
    if (this.#cacheWrites !== 'long') this.#cacheWrites = lifetime
  }

  get hasImages(): boolean {
    return this.#images > 0
  }

  get measure(): InputMeasure {
    return {
      textBytes: this.#textBytes,
      jsonBytes: this.#jsonBytes,
      items: this.#items,
      images: this.#images,
      unbounded: this.#unbounded,
      tokens: this.#tokens,
      cacheWrites: this.#cacheWrites,
    }
  }
}
