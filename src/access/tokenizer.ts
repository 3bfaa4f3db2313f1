// Counts tokens with a real tokenizer, in a thread that starts when it is first needed. A count is worth only a short
// wait: what takes longer, is too large, or breaks the thread is left uncounted, and its bytes bound it.
import { Worker } from 'node:worker_threads'
import { moduleBeside } from '../core/runtime.ts'
import type { Count, CountReply, CountRequest } from './tokenizer-thread.ts'

/** More than any context window holds. */
const CHARACTERS_MAX = 8_000_000
const WAITING_MAX = 64
const COUNT_MS_MAX = 5_000
/** On a busy machine the thread takes seconds to load, and without a count, a request that fits may be refused. */
const FIRST_COUNT_MS_MAX = 30_000

/** Part of the texts of a request, small enough to keep while its answer is open. */
export type TextSample = {
  readonly pieces: readonly string[]
  /** How many times as long the texts are. */
  readonly times: number
}

const SAMPLE_PIECES = 32
const SAMPLE_PIECE_CHARACTERS = 512

/** All of short texts; of long ones, pieces from all over, each at a place that nobody can foresee. */
export function sampleOf(texts: readonly string[]): TextSample {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters <= SAMPLE_PIECES * SAMPLE_PIECE_CHARACTERS) {
    return { pieces: texts.map(copied), times: 1 }
  }
  const pieces: string[] = []
  const step = characters / SAMPLE_PIECES
  let sampled = 0
  let index = 0
  let before = 0
  for (let piece = 0; piece < SAMPLE_PIECES; piece++) {
    const at = Math.floor((piece + Math.random()) * step)
    let text = texts[index] ?? ''
    while (at >= before + text.length && index < texts.length) {
      before += text.length
      index += 1
      text = texts[index] ?? ''
    }
    const taken = text.slice(at - before, at - before + SAMPLE_PIECE_CHARACTERS)
    sampled += taken.length
    pieces.push(copied(taken))
  }
  return { pieces, times: characters / sampled }
}

/** A piece of a text keeps the whole text in memory. */
function copied(text: string): string {
  return Buffer.from(text).toString()
}

export class Tokenizer {
  readonly #countMsMax: number
  #worker: Worker | undefined
  #isLoaded = false
  #lastId = 0
  readonly #waiting = new Map<number, (count: Count | undefined) => void>()

  constructor({ countMsMax = COUNT_MS_MAX } = {}) {
    this.#countMsMax = countMsMax
  }

  /** How many tokens these texts have; undefined if they cannot be counted in time. */
  async count(texts: readonly string[]): Promise<Count | undefined> {
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    if (characters > CHARACTERS_MAX || this.#waiting.size >= WAITING_MAX) return undefined
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<Count | undefined>()
    const worker = this.#thread()
    this.#waiting.set(id, resolve)
    worker.postMessage({ id, texts } satisfies CountRequest)
    // A text that takes too long holds up all others: the thread is abandoned, and the next count starts a new one.
    const timer = setTimeout(
      () => this.#lose(worker),
      this.#isLoaded ? this.#countMsMax : FIRST_COUNT_MS_MAX,
    )
    timer.unref()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** How many tokens the texts have that this is a sample of; undefined if it cannot be counted in time. */
  async estimate({ pieces, times }: TextSample): Promise<number | undefined> {
    const count = await this.count(pieces)
    return count && Math.ceil(count.likely * times)
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const file = moduleBeside(import.meta.url, 'tokenizer-thread')
    const worker = new Worker(file, { name: 'tokenizer' })
    worker.on('message', ({ id, ...count }: CountReply) => {
      this.#isLoaded = true
      this.#waiting.get(id)?.(count)
      this.#waiting.delete(id)
    })
    worker.on('error', () => this.#lose(worker))
    worker.on('exit', () => this.#lose(worker))
    worker.unref()
    this.#worker = worker
    return worker
  }

  #lose(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#isLoaded = false
    void worker.terminate()
    for (const resolve of this.#waiting.values()) resolve(undefined)
    this.#waiting.clear()
  }
}
