// What arrives and what is read of one answer's body, each at its own pace: a queue between a sender that pushes and a
// reader that pulls. A stream object does the same and costs several times as much, for every request.

export interface ChunkSource {
  /** The reader has taken everything: more may come. */
  resume(): void
  /** The reader wants no more. */
  leave(): void
}

type Reading = IteratorResult<Uint8Array, undefined>

export class Chunks implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: ChunkSource
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  /** Wakes the reader, when it waits. */
  #wake: (() => void) | undefined
  #end: { readonly failure?: unknown } | undefined

  constructor(source: ChunkSource) {
    this.#source = source
  }

  /** The bytes that nobody has read yet: when they are many, the sender should pause. */
  push(chunk: Uint8Array): number {
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    this.#wake?.()
    return this.#waitingBytes
  }

  end(): void {
    this.#end ??= {}
    this.#wake?.()
  }

  /** What has come before is still read, then this is thrown. */
  fail(failure: unknown): void {
    this.#end ??= { failure }
    this.#wake?.()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** All that has come: what a connection delivers at once, often many events, is taken at once. */
  next(): Promise<Reading> {
    const hasCome = this.#waiting.length > 0 || this.#end !== undefined
    const arrival = hasCome ? ARRIVED : new Promise<void>((resolve) => (this.#wake = resolve))
    return arrival.then(() => this.#take())
  }

  async return(): Promise<Reading> {
    this.#waiting = []
    this.#waitingBytes = 0
    this.#source.leave()
    this.end()
    return DONE
  }

  #take(): Reading {
    const [first] = this.#waiting
    if (first !== undefined) {
      const value =
        this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting, this.#waitingBytes)
      this.#waiting = []
      this.#waitingBytes = 0
      this.#source.resume()
      return { done: false, value }
    }
    if (this.#end !== undefined && 'failure' in this.#end) throw this.#end.failure
    return DONE
  }
}

const ARRIVED = Promise.resolve()
const DONE: Reading = { done: true, value: undefined }
