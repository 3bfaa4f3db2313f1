// Citations in generateContent answers: URLs for spans of all the text so far, counted in UTF-8 bytes, and repeated
// with later pieces.
import type { Citation } from '../../core/events.ts'
import type { Json } from '../../core/json.ts'
import { isObject, listOf, numberOf, objectOf, stringOf } from '../../core/json.ts'

export class Citations {
  #said = ''
  /** Where the open block begins in the text so far. */
  #blockStart = 0
  readonly #told = new Set<string>()

  beginBlock(): void {
    this.#blockStart = this.#said.length
  }

  say(text: string): void {
    this.#said += text
  }

  /** The new citations that have a URL and whose text has already arrived, in characters of the open block. */
  read(metadata: Json | undefined): Citation[] {
    if (!isObject(metadata)) return []
    // Vertex AI uses another name for the same list.
    const sources = metadata['citationSources'] ?? metadata['citations']
    return listOf(sources).flatMap((source) => {
      const { uri, title, startIndex, endIndex } = objectOf(source)
      const url = stringOf(uri)
      const span = `${url} ${startIndex} ${endIndex}`
      const startByte = numberOf(startIndex) ?? 0
      const isSaid = startByte < Buffer.byteLength(this.#said)
      if (url === undefined || !isSaid || this.#told.has(span)) return []
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
