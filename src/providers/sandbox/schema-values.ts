// The type of a field, and texts and numbers for it: first those in the message, then made-up ones. A value may break a
// bound; the caller checks every one.
import type { JsonObject } from '../../core/json.ts'
import { listOf, stringOf } from '../../core/json.ts'
import type { Hints } from './hints.ts'
import type { Work } from './schema-check.ts'
import { count, typeNames } from './schema-check.ts'

export type Field = {
  readonly name: string | undefined
  readonly hints: Hints
  /** How many fields of this type come before it: they take the hints in turn. */
  readonly turn: number
  /** The place in a list: items differ. */
  readonly variant: number
}

/** The schemas that a value must fit, all of them. */
type Parts = readonly JsonObject[]

const TYPES = ['string', 'number', 'object', 'array', 'boolean', 'null']
const TELLING: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  minProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  contains: 'array',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
}

/** The types that all schemas name; if none does, all types, beginning with the one that their other words imply. */
export function typesOf(parts: Parts, work: Work): readonly string[] {
  let types: readonly string[] | undefined
  for (const { type } of parts) {
    if (type !== undefined) types = common(types, typeNames(type, work))
  }
  if (types !== undefined) {
    return [...types.filter((type) => type !== 'null'), ...types.filter((type) => type === 'null')]
  }
  const word = Object.keys(TELLING).find((one) => parts.some((part) => part[one] !== undefined))
  return word === undefined ? TYPES : [TELLING[word] ?? 'object', ...TYPES]
}

/** The types in both. Every integer is a number. */
function common(one: readonly string[] | undefined, other: readonly string[]): readonly string[] {
  if (one === undefined) return other
  const within = (type: string, types: readonly string[]): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  return [
    ...one.filter((type) => within(type, other)),
    ...other.filter((type) => !one.includes(type) && within(type, one)),
  ]
}

export function* textsFor(parts: Parts, field: Field): Generator<string> {
  const [least, most] = lengthsOf(parts)
  const pattern = wordOf(parts, 'pattern')
  if (pattern !== undefined) {
    // One text for two patterns is not looked for.
    if (parts.some((part) => (part['pattern'] ?? pattern) !== pattern)) return
    // Whoever wrote a pattern that cannot be read here may have written an example, too.
    yield* examplesIn(parts)
    const made = textMatching(pattern, { least, variant: field.variant })
    if (made !== undefined) yield made
    return
  }
  const format = FORMATS.get(wordOf(parts, 'format') ?? '')
  if (format !== undefined) return yield format(field.variant + 1)
  const { name, hints, turn, variant } = field
  const own = name === undefined ? undefined : hints.valueOf(name)
  if (own !== undefined && variant === 0) yield fitted(own, least, most)
  const { phrases } = hints
  const phrase = phrases[(turn + variant) % phrases.length] ?? ''
  const isSpent = variant >= phrases.length
  yield fitted(isSpent ? `${variant + 1} ${phrase}` : phrase, least, most)
}

export function lengthsOf(parts: Parts): readonly [least: number, most: number] {
  return [
    Math.max(...parts.map((part) => count(part['minLength'], 0))),
    Math.min(...parts.map((part) => count(part['maxLength'], Infinity))),
  ]
}

/** The keyword's value, in the first schema that has it. */
export function wordOf(parts: Parts, keyword: string): string | undefined {
  return stringOf(parts.find((part) => typeof part[keyword] === 'string')?.[keyword])
}

function* examplesIn(parts: Parts): Generator<string> {
  for (const { default: usual, examples } of parts) {
    if (typeof usual === 'string') yield usual
    const [example] = listOf(examples)
    if (typeof example === 'string') yield example
  }
}

function fitted(text: string, least: number, most: number): string {
  const padded =
    text.length < least ? text + ` ${text}`.repeat(Math.ceil(least / (text.length + 1))) : text
  const characters = [...padded]
  if (text.length < least) return characters.slice(0, least).join('')
  return characters.length > most ? characters.slice(0, most).join('') : padded
}

/** A row of characters, sets and lists of words, each perhaps repeated: all that is read of regular expressions. */
const PIECE =
  /(?:\\(?<set>[dws])|\[(?<inside>(?:\\.|[^\]\\])+)\]|\((?:\?:)?(?<words>[^()[\]{}*+?\\^$.]+)\)|(?<any>\.)|\\(?<escaped>[^A-Za-z0-9])|(?<plain>[^\\[\](){}.*+?|^$]))(?:\{(?<least>\d{1,4})(?<more>,\d{0,4})?\}|(?<sign>[*+?]))?/uy
const PATTERN_CHARACTERS_MAX = 300

type Wanted = { readonly least: number; readonly variant: number }

/** A text that matches a simple pattern; undefined = the pattern is not simple. It is read, and never run. */
function textMatching(pattern: string, { least, variant }: Wanted): string | undefined {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return undefined
  const body = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')
  let text = ''
  let choices = variant
  for (PIECE.lastIndex = 0; PIECE.lastIndex < body.length;) {
    const piece = PIECE.exec(body)?.groups
    const options = piece === undefined ? undefined : optionsOf(piece)
    if (piece === undefined || options === undefined) return undefined
    const { sign, more } = piece
    const isOpen = sign === '*' || sign === '+' || more === ','
    const usual = Number(piece['least'] ?? (sign === '*' || sign === '?' ? 0 : 1))
    // A text that must be longer grows where the pattern first allows any number.
    const times = isOpen ? Math.max(usual, least - text.length) : usual
    if (times * (options[0]?.length ?? 0) > REPEATED_CHARACTERS_MAX) return undefined
    for (let index = 0; index < times; index++) {
      // Each choice takes a digit of the variant, so that counting up visits all of them.
      text += options[choices % options.length] ?? ''
      choices = Math.floor(choices / options.length)
    }
  }
  return text
}

/** Longer than an answer. */
const REPEATED_CHARACTERS_MAX = 20_000

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const SETS: Readonly<Record<string, string>> = { d: DIGITS, w: LETTERS + DIGITS, s: ' ' }

/** What one piece of a pattern may be. */
function optionsOf(
  piece: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  const { set, inside, words, any, escaped, plain } = piece
  if (words !== undefined) return words.split('|')
  if (inside !== undefined) return charactersIn(inside)
  return [...(SETS[set ?? ''] ?? (any === undefined ? (escaped ?? plain ?? '') : LETTERS))]
}

function charactersIn(inside: string): readonly string[] | undefined {
  const isNegated = inside.startsWith('^')
  const listed = new Set<string>()
  for (const [, set = '', letter, first = '', last] of inside
    .slice(Number(isNegated))
    .matchAll(/\\([dws])|\\([A-Za-z0-9])|\\?(.)(?:-([^\\]))?/gsu)) {
    if (letter !== undefined) return undefined
    for (const character of SETS[set] ?? range(first, last ?? first)) listed.add(character)
  }
  const characters = isNegated
    ? [...(LETTERS + LETTERS.toUpperCase() + DIGITS)].filter((one) => !listed.has(one))
    : [...listed]
  return characters.length === 0 ? undefined : characters
}

function range(first: string, last: string): readonly string[] {
  const [from = 0, to = 0] = [first.codePointAt(0), last.codePointAt(0)]
  const length = Math.max(0, Math.min(to - from + 1, 64))
  return Array.from({ length }, (_, index) => String.fromCodePoint(from + index))
}

type Format = (index: number) => string

const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries<Format>({
    'date-time': (index) => `2026-01-01T12:00:${pad(index % 60, 2)}.${pad(index, 3)}Z`,
    date: (index) => `${2000 + index}-01-31`,
    time: (index) => `12:${pad(index % 60, 2)}:00.${pad(index, 3)}Z`,
    duration: (index) => `P${index}D`,
    email: (index) => `user${index}@example.com`,
    hostname: (index) => `host${index}.example.com`,
    ipv4: (index) => `192.0.2.${index % 256}`,
    ipv6: (index) => `2001:db8::${index.toString(16)}`,
    uri: (index) => `https://example.com/${index}`,
    url: (index) => `https://example.com/${index}`,
    'uri-reference': (index) => `/items/${index}`,
    uuid: (index) => `00000000-0000-4000-8000-${pad(index, 12)}`,
    'json-pointer': (index) => `/items/${index}`,
    regex: (index) => `^a{${index}}$`,
  }),
)

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0')
}

/** How many steps of a range are tried: another schema may allow only some of them. */
const STEPS_TRIED = 16

export function* numbersFor(
  parts: Parts,
  { name, hints, turn, variant }: Field,
): Generator<number> {
  if (variant === 0) {
    const own = Number(name === undefined ? undefined : hints.valueOf(name))
    if (Number.isFinite(own)) yield own
    const { numbers } = hints
    for (let index = 0; index < numbers.length; index++) {
      yield numbers[(turn + index) % numbers.length] ?? 0
    }
  }
  const [low, high] = boundsOf(parts)
  const step = Math.max(...parts.map((part) => count(part['multipleOf'], 0))) || 1
  // The step nearest to 1 in the range, which few ranges do not contain; then the steps around it.
  const nearest = Math.ceil(Math.min(Math.max(1, low), high) / step)
  yield decimal((nearest + variant) * step)
  for (let index = 0; index < STEPS_TRIED; index++) {
    yield decimal((nearest + index) * step)
    yield decimal((nearest - 1 - index) * step)
  }
  // A narrow range between two steps contains none of them.
  const width = Number.isFinite(low) && Number.isFinite(high) ? high - low : 1
  const inside = width / (variant + 2)
  yield Number.isFinite(low) ? low + inside : Math.min(high, 1) - inside
}

function boundsOf(parts: Parts): readonly [low: number, high: number] {
  const lowest = parts.flatMap((part) => [part['minimum'], part['exclusiveMinimum']])
  const highest = parts.flatMap((part) => [part['maximum'], part['exclusiveMaximum']])
  return [
    Math.max(...lowest.map((bound) => count(bound, -Infinity))),
    Math.min(...highest.map((bound) => count(bound, Infinity))),
  ]
}

/** Without the noise of binary fractions: three steps of 0.1 are 0.3. */
function decimal(value: number): number {
  return Number(value.toPrecision(15))
}
