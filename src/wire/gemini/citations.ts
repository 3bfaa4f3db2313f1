// Citations in generateContent answers: URLs for spans of all the text so far, counted in UTF-8 bytes, and repeated
// with later pieces.
import type { Citation } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { listOf, numberOf, objectOf, stringOf } from '../../core/json.ts'

/** Each one is counted out in the text so far; beyond this many they are left out. */
const CITATIONS_MAX = 100

export class Citations {
  #said = ''
  #saidBytes = 0
  /** Where the open block begins in the text so far. */
  #blockStart = 0
  readonly #told = new Set<string>()
  /** Those of the piece being read whose text has not arrived yet. */
  #waiting: readonly JsonObject[] = []

  beginBlock(): void {
    this.#blockStart = this.#said.length
  }

  say(text: string): void {
    this.#said += text
    this.#saidBytes += Buffer.byteLength(text)
  }

  /** Begins a piece of the answer, with the citations that came with it. */
  beginPiece(metadata: Json | undefined): void {
    // Vertex AI uses another name for the same list.
    const { citationSources, citations } = objectOf(metadata)
    const sources = listOf(citationSources ?? citations).slice(0, CITATIONS_MAX)
    this.#waiting = sources.map(objectOf).filter(({ uri }) => typeof uri === 'string')
  }

  /** The new citations whose text has arrived, in characters of the open block. */
  take(): Citation[] {
    const isSaid = (source: JsonObject): boolean => startOf(source) < this.#saidBytes
    const said = this.#waiting.filter(isSaid)
    if (said.length > 0) this.#waiting = this.#waiting.filter((source) => !isSaid(source))
    return said.flatMap((source) => {
      const { uri, title, startIndex, endIndex } = source
      const span = `${stringOf(uri)} ${startIndex} ${endIndex}`
      if (this.#told.has(span) || this.#told.size === CITATIONS_MAX) return []
      this.#told.add(span)
      const start = this.#characters(startOf(source))
      const end = this.#characters(numberOf(endIndex) ?? Infinity)
      return [{ url: stringOf(uri) ?? '', title: stringOf(title) ?? '', start, end }]
    })
  }

  #characters(bytes: number): number {
    const before = Buffer.from(this.#said).subarray(0, bytes).toString()
    return Math.max(0, before.length - this.#blockStart)
  }
}

function startOf({ startIndex }: JsonObject): number {
  return numberOf(startIndex) ?? 0
}
