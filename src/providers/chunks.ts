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
  readonly #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #reader: PromiseWithResolvers<Reading> | undefined
  #end: { readonly failure?: unknown } | undefined

  constructor(source: ChunkSource) {
    this.#source = source
  }

  /** The bytes that nobody has read yet: when they are many, the sender should pause. */
  push(chunk: Uint8Array): number {
    if (this.#reader !== undefined) this.#answer({ done: false, value: chunk })
    else {
      this.#waiting.push(chunk)
      this.#waitingBytes += chunk.length
    }
    return this.#waitingBytes
  }

  end(): void {
    this.#end ??= {}
    this.#answer({ done: true, value: undefined })
  }

  /** What has come before is still read, then this is thrown. */
  fail(failure: unknown): void {
    if (this.#end !== undefined) return
    this.#end = { failure }
    this.#reader?.reject(failure)
    this.#reader = undefined
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Reading> {
    const value = this.#waiting.shift()
    if (value !== undefined) {
      this.#waitingBytes -= value.length
      if (this.#waiting.length === 0) this.#source.resume()
      return Promise.resolve({ done: false, value })
    }
    if (this.#end === undefined) {
      this.#reader ??= Promise.withResolvers()
      return this.#reader.promise
    }
    return 'failure' in this.#end ? Promise.reject(this.#end.failure) : Promise.resolve(DONE)
  }

  return(): Promise<Reading> {
    this.#waiting.length = 0
    this.#waitingBytes = 0
    this.#source.leave()
    this.end()
    return Promise.resolve(DONE)
  }

  #answer(reading: Reading): void {
    this.#reader?.resolve(reading)
    this.#reader = undefined
  }
}

const DONE: Reading = { done: true, value: undefined }
