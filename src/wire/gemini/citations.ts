// Citations in generateContent answers: URLs for spans of all the text so far, counted in UTF-8 bytes, and repeated
// with later pieces.
import type { Citation } from '../../core/events.ts'
import type { Json } from '../../core/json.ts'
import { isObject, listOf, numberOf, objectOf, stringOf } from '../../core/json.ts'

/** Each one is counted out in the text so far; beyond this many they are left out. */
const CITATIONS_MAX = 100

export class Citations {
  #said = ''
  #saidBytes = 0
  /** Where the open block begins in the text so far. */
  #blockStart = 0
  readonly #told = new Set<string>()

  beginBlock(): void {
    this.#blockStart = this.#said.length
  }

  say(text: string): void {
    this.#said += text
    this.#saidBytes += Buffer.byteLength(text)
  }

  /** The new citations that have a URL and whose text has already arrived, in characters of the open block. */
  read(metadata: Json | undefined): Citation[] {
    if (!isObject(metadata)) return []
    // Vertex AI uses another name for the same list.
    const sources = metadata['citationSources'] ?? metadata['citations']
    const first = listOf(sources).slice(0, CITATIONS_MAX)
    return first.flatMap((source) => {
      const { uri, title, startIndex, endIndex } = objectOf(source)
      const url = stringOf(uri)
      const span = `${url} ${startIndex} ${endIndex}`
      const startByte = numberOf(startIndex) ?? 0
      if (url === undefined || startByte >= this.#saidBytes || this.#told.has(span)) return []
      if (this.#told.size === CITATIONS_MAX) return []
      this.#told.add(span)
      const start = this.#characters(startByte)
      const end = this.#characters(numberOf(endIndex) ?? Infinity)
      return [{ url, title: stringOf(title) ?? '', start, end }]
    })
  }

  #characters(bytes: number): number {
    const before = Buffer.from(this.#said).subarray(0, bytes).toString()
    return Math.max(0, before.length - this.#blockStart)
  }
}
