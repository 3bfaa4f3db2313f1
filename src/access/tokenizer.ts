// Counts tokens with a real tokenizer, in a thread of its own that starts when it is first needed.
import { Worker } from 'node:worker_threads'

import type { CountReply, CountRequest } from './tokenizer-worker.ts'

export class Tokenizer {
  #worker: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, (tokens: number) => void>()

  /** How many tokens these texts are. */
  count(texts: readonly string[]): Promise<number> {
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<number>()
    this.#waiting.set(id, resolve)
    this.#thread().postMessage({ id, texts } satisfies CountRequest)
    return promise
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker
    // The worker lies beside this file and has its ending: .ts in a checkout, .js in the package.
    const file = import.meta.url.replace(/tokenizer(\.[jt]s)$/, 'tokenizer-worker$1')
    const worker = new Worker(new URL(file), { name: 'tokenizer' })
    worker.on('message', ({ id, tokens }: CountReply) => {
      this.#waiting.get(id)?.(tokens)
      this.#waiting.delete(id)
    })
    worker.unref()
    this.#worker = worker
    return worker
  }
}
