// Adds up what bounds the input of a request while a format walks over its body. What a walker does not know must still
// be counted: as JSON when its bytes bound it, as unbounded when they do not. A tokenizer gets its texts from the same
// walk, so that it misses no text that is measured (`textsOf`).
import type { Ability } from '../../core/endpoints.ts'
import { unsupportedParameter } from '../../core/errors.ts'
import { CONTAINERS_MAX, isGiven, isObject, type JsonObject, stringOf } from '../../core/json.ts'
import { type InputMeasure, NO_INPUT } from '../../core/request.ts'
import { tooComplex } from '../json/body.ts'
import type { FieldTable, Shape } from './fields.ts'

/** Roles that belong to the framing of a message. Any other is text that the client chose. */
const ROLES = new Set<unknown>(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

export class Measure {
  readonly #sum: { -readonly [Part in keyof InputMeasure]: InputMeasure[Part] } = { ...NO_INPUT }
  readonly #texts: string[] | undefined
  /** The abilities that a model needs for what was counted. */
  readonly needs = new Set<Ability>()
  /** Whether the conversation carries reasoning that no provider of the client's format could read. */
  hasForeignReasoning = false
  #containers = 0

  /** `texts` collects everything that is counted in bytes and that a tokenizer can read. */
  constructor(texts?: string[]) {
    this.#texts = texts
  }

  get sum(): InputMeasure {
    return this.#sum
  }

  /** Prose. Anything but a string is counted as JSON. */
  text(value: unknown): void {
    if (typeof value !== 'string') return this.json(value)
    this.#sum.textBytes += Buffer.byteLength(value)
    this.#texts?.push(value)
  }

  /** Reasoning that only its provider can read: longer than what the model reads, and unreadable to a tokenizer. */
  opaque(value: unknown): void {
    if (typeof value !== 'string') return this.json(value)
    const bytes = Buffer.byteLength(value)
    this.#sum.textBytes += bytes
    this.#sum.opaqueBytes = (this.#sum.opaqueBytes ?? 0) + bytes
  }

  /** Schemas, arguments, results: providers serialize them again before the model reads them. */
  json(value: unknown): void {
    if (!isGiven(value)) return
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    this.#sum.jsonBytes += Buffer.byteLength(text)
    this.#texts?.push(text)
    this.#countContainers(text)
  }

  /** By their brackets; those inside strings count, too, because there may be JSON in them again. */
  #countContainers(text: string): void {
    for (const bracket of ['{', '[']) {
      for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
        if (++this.#containers > CONTAINERS_MAX.requestTexts) {
          throw tooComplex(CONTAINERS_MAX.requestTexts, 'objects and lists in its JSON texts')
        }
      }
    }
  }

  role(value: unknown): void {
    if (!ROLES.has(value)) this.text(value)
  }

  /**
   * A field in no table may still reach the model: providers read documents and templates there, and vLLM gives its
   * template whole messages.
   */
  unknownFields(holder: JsonObject, known: FieldTable | Shape): void {
    for (const name of Object.keys(holder)) {
      if (!Object.hasOwn(known, name)) this.json(holder[name])
    }
  }

  /** `known`: how many tools the model knows by this tool's type. */
  tool(value: unknown, { known }: { readonly known: number }): void {
    this.needs.add('tools')
    this.item()
    this.json(value)
    if (known > 0) this.#sum.vendorTools = (this.#sum.vendorTools ?? 0) + known
  }

  item(): void {
    this.#sum.items += 1
  }

  /** The declared media type decides: Gemini watches a video even where an image belongs. */
  image(mediaType?: string): void {
    this.needs.add('images')
    if (mediaType === undefined) this.fetched()
    if (mediaType?.startsWith('image/') ?? true) this.#sum.images += 1
    else this.#document(mediaType)
  }

  file(mediaType?: string): void {
    this.needs.add('files')
    if (mediaType === undefined) this.fetched()
    this.#document(mediaType)
  }

  /** Videos are heard, too. */
  #document(mediaType?: string): void {
    if (/^(?:audio|video)\//.test(mediaType ?? '')) this.audio()
    else this.unbounded()
  }

  /** The content is behind a URL: the model may find something other than the request says it is. */
  fetched(): void {
    this.#sum.fetched = true
  }

  unbounded(): void {
    this.#sum.unbounded = true
  }

  /** Sound, or something unknown that may be. */
  audio(): void {
    this.#sum.unbounded = true
    this.#sum.audio = true
  }

  tokens(count: number): void {
    this.#sum.tokens += count
  }

  /** Cache marks, under the names that a format has for them. `place`: the holder's; '' for the request itself. */
  cacheMarks(holder: JsonObject, place: string, names: readonly string[]): void {
    for (const name of names) {
      const mark = holder[name]
      if (!isObject(mark)) continue
      this.#cacheWrite(mark['ttl'], place === '' ? `${name}.ttl` : `${place}.${name}.ttl`)
    }
  }

  /** The chat family's settings for the whole prompt; marks are on its parts. */
  cacheSettings({ prompt_cache_options: options, prompt_cache_retention: kept }: JsonObject): void {
    if (isObject(options)) this.#cacheWrite(options['ttl'], 'prompt_cache_options.ttl')
    if (isGiven(kept) && kept !== 'in_memory') this.#cacheWrite(kept, 'prompt_cache_retention')
  }

  #cacheWrite(ttl: unknown, place: string): void {
    const lifetime = lifetimeOf(ttl, place)
    if (this.#sum.cacheWrites !== 'long') this.#sum.cacheWrites = lifetime
  }
}

/** The class of a cache lifetime, each with a price: below an hour, or from an hour on. Any other has no known price. */
export function lifetimeOf(ttl: unknown, place: string): 'short' | 'long' {
  switch (stringOf(ttl ?? '5m') ?? '') {
    case '5m':
    case '30m':
      return 'short'
    case '1h':
    case '12h':
    case '24h':
      return 'long'
    default:
      throw unsupportedParameter(
        place,
        `${place} must be a lifetime with a known price: 5m, 30m, 1h, 12h or 24h`,
      )
  }
}

/** Everything that was measured in bytes, for a tokenizer; except opaque reasoning (`InputMeasure.opaqueBytes`). */
export function textsOf(
  readCall: (body: JsonObject, measure: Measure) => unknown,
  body: JsonObject,
): string[] {
  const texts: string[] = []
  readCall(body, new Measure(texts))
  return texts
}
