// The body of one answer, as a queue between a sender that pushes and a reader that pulls, each at its own pace. A
// stream object does the same and costs several times as much, for every request.

export interface ChunkSource {
  /** The reader has emptied the queue: the sender may go on. */
  resume(): void
  /** The reader wants no more. */
  leave(): void
}

type Reading = IteratorResult<Uint8Array, undefined>

export class Chunks implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: ChunkSource
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  /** Wakes the waiting reader. */
  #wake: (() => void) | undefined
  #end: { readonly failure?: unknown } | undefined

  constructor(source: ChunkSource) {
    this.#source = source
  }

  /** Returns the number of unread bytes: when there are many, the sender should pause. */
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

  /** The reader still gets what arrived before, then this failure is thrown. */
  fail(failure: unknown): void {
    this.#end ??= { failure }
    this.#wake?.()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Everything that has arrived, in one piece: a connection often delivers many events at once. */
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
