// Texts and numbers for the fields of a schema: first those in the message, then made-up ones, enough of them for
// arrays whose items must differ. A value may break a bound; the caller checks every one.
import type { JsonObject } from '../../core/json.ts'
import { stringOf } from '../../core/json.ts'
import type { Hints } from './hints.ts'
import { count } from './schema-check.ts'
import { readPattern } from './schema-pattern.ts'

/** How many different values a field offers. */
const VARIETY = 256

type Field = {
  readonly name: string | undefined
  readonly hints: Hints
  /** How many fields of this type come before it: they take the hints in turn. */
  readonly turn: number
}

export function* textsFor(schema: JsonObject, { name, hints, turn }: Field): Generator<string> {
  const least = count(schema['minLength'], 0)
  const most = count(schema['maxLength'], Infinity)
  const pattern = stringOf(schema['pattern'])
  if (pattern !== undefined) yield* textsMatching(pattern, least)
  const format = FORMATS.get(stringOf(schema['format']) ?? '')
  if (format !== undefined) {
    for (let index = 1; index <= VARIETY; index++) yield format(index)
    return
  }
  const own = name === undefined ? undefined : hints.valueOf(name)
  if (own !== undefined) yield fitted(own, least, most)
  const phrases = rotated(hints.phrases, turn)
  for (const phrase of phrases) yield fitted(phrase, least, most)
  const [phrase] = phrases
  for (let index = 2; index <= VARIETY; index++) yield fitted(`${index} ${phrase}`, least, most)
}

function* textsMatching(pattern: string, least: number): Generator<string> {
  const write = readPattern(pattern)
  if (write === undefined) return
  let more = 0
  for (const longer of [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]) {
    more = longer
    if ((write(0, more)?.length ?? 0) >= least) break
  }
  for (let variant = 0; variant < VARIETY; variant++) {
    const text = write(variant, more)
    if (text === undefined) return
    yield text
  }
}

/** Long enough for any answer, whatever the schema demands. */
const CHARACTERS_MAX = 20_000

function fitted(text: string, least: number, most: number): string {
  const length = Math.min(least, CHARACTERS_MAX)
  const padded =
    text.length < length ? text + ` ${text}`.repeat(Math.ceil(length / text.length)) : text
  const characters = [...padded]
  if (text.length < length) return characters.slice(0, length).join('')
  return characters.length > most ? characters.slice(0, most).join('') : padded
}

type Format = (index: number) => string

const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries<Format>({
    'date-time': (index) => `2026-01-01T12:00:${pad(index % 60, 2)}.${pad(index, 3)}Z`,
    date: (index) => `${2000 + index}-01-31`,
    time: (index) => `12:${pad(index % 60, 2)}:00.${pad(index, 3)}Z`,
    duration: (index) => `P${index}D`,
    email: (index) => `user${index}@example.com`,
    'idn-email': (index) => `user${index}@example.com`,
    hostname: (index) => `host${index}.example.com`,
    'idn-hostname': (index) => `host${index}.example.com`,
    ipv4: (index) => `192.0.2.${index % 256}`,
    ipv6: (index) => `2001:db8::${index.toString(16)}`,
    uri: (index) => `https://example.com/${index}`,
    'uri-reference': (index) => `/items/${index}`,
    iri: (index) => `https://example.com/${index}`,
    'iri-reference': (index) => `/items/${index}`,
    url: (index) => `https://example.com/${index}`,
    uuid: (index) => `00000000-0000-4000-8000-${pad(index, 12)}`,
    'json-pointer': (index) => `/items/${index}`,
    'relative-json-pointer': (index) => `${index}/items`,
    regex: (index) => `^a{${index}}$`,
  }),
)

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0')
}

export function* numbersFor(schema: JsonObject, { name, hints, turn }: Field): Generator<number> {
  const own = Number(name === undefined ? undefined : hints.valueOf(name))
  if (Number.isFinite(own)) yield own
  yield* rotated(hints.numbers, turn)
  const low = Math.max(
    count(schema['minimum'], -Infinity),
    count(schema['exclusiveMinimum'], -Infinity),
  )
  const high = Math.min(
    count(schema['maximum'], Infinity),
    count(schema['exclusiveMaximum'], Infinity),
  )
  const start = Math.min(Math.max(1, low), high)
  const step = count(schema['multipleOf'], 1)
  // Whole steps first, because most ranges contain one.
  const nearest = Math.ceil(start / step)
  for (let index = 0; index < VARIETY; index++) {
    yield decimal((nearest + index) * step)
    yield decimal((nearest - 1 - index) * step)
  }
  // A narrow range between two steps contains none of them.
  const width = Number.isFinite(low) && Number.isFinite(high) ? high - low : 1
  for (let parts = 2; parts <= VARIETY; parts++) {
    const inside = width / parts
    yield Number.isFinite(low) ? low + inside : Math.min(high, 1) - inside
  }
}

/** Without the noise of binary fractions: three steps of 0.1 are 0.3. */
function decimal(value: number): number {
  return Number(value.toPrecision(15))
}

function rotated<Item>(items: readonly Item[], turn: number): readonly Item[] {
  const start = items.length === 0 ? 0 : turn % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
