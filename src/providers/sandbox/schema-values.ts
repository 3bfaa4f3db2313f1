// Values for the fields of a schema: guesses from the message (quoted words, names, numbers, "city: Paris") where they
// are allowed, else made up. Patterns are read and never run: a client's could keep a regular expression busy for hours.
import type { JsonObject } from '../../core/json.ts'
import { listOf, numberOf, stringOf } from '../../core/json.ts'

export type Hints = {
  /** Texts for text fields, the likeliest first; never empty. */
  readonly phrases: readonly string[]
  readonly numbers: readonly number[]
  /** Whether it is one of the texts, in any case. */
  isMentioned(text: string): boolean
  /** The value that follows a field's name in the text. */
  readonly valueOf: (field: string) => string | undefined
}

/** Only the beginning of a message is read, so that a long one takes no longer. */
const CHARACTERS_MAX = 4000

/** Each number of a message is tried in each field for one. */
const NUMBERS_MAX = 20

export function readHints(message: string): Hints {
  const text = message.slice(0, CHARACTERS_MAX)
  const phrases = [...quoted(text), ...names(text), ...plainWords(text)]
  const values = labelled(text)
  const mentioned = new Set(phrases.map((phrase) => phrase.toLowerCase()))
  return {
    isMentioned: (word) => mentioned.has(word.toLowerCase()),
    phrases: phrases.length > 0 ? [...new Set(phrases)] : ['sandbox'],
    numbers: [...text.matchAll(/(?<![\w.-])-?\d{1,15}(?:\.\d{1,9})?(?![\w.]{0,9}\w)/g)]
      .slice(0, NUMBERS_MAX)
      .map(([digits]) => Number(digits)),
    valueOf: (field) => values.get(plainName(field)),
  }
}

function quoted(text: string): string[] {
  return [...text.matchAll(/"([^"\n]{1,200})"|“([^”\n]{1,200})”|`([^`\n]{1,200})`/g)].map(
    ([, straight, curly, code]) => straight ?? curly ?? code ?? '',
  )
}

/** Capitalized words inside a sentence: "in New York" is about New York. */
function names(text: string): string[] {
  return [
    ...text.matchAll(/(?<=[\p{L}\p{N},;:]\s)\p{Lu}[\p{L}\p{N}-]*(?:\s\p{Lu}[\p{L}\p{N}-]*)*/gu),
  ]
    .map(([name]) => name)
    .filter((name) => name !== 'I')
}

/** The last words first, because requests tend to end with what they are about. */
function plainWords(text: string): string[] {
  return [...text.matchAll(/\p{L}[\p{L}\p{N}]{2,30}/gu)]
    .slice(-20)
    .map(([word]) => word)
    .toReversed()
}

/** "city: Paris", "first name is Bob": values by the one or two words before them. */
function labelled(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const said =
    /(?:([\p{L}\p{N}]{1,40})[ _-])?([\p{L}\p{N}]{1,40})["']?(?: is| to| of|:|=)\s?(?:"([^"\n]{1,200})"|([^\s,;]{1,200}))/gu
  for (const [, before = '', word = '', quotation, plain = ''] of text.matchAll(said)) {
    const value = quotation ?? plain.replace(/[.!?]+$/, '')
    if (value === '') continue
    values.set(plainName(word), value)
    values.set(plainName(before + word), value)
  }
  return values
}

function plainName(name: string): string {
  return name.replaceAll(/[\s_-]/g, '').toLowerCase()
}

export type Field = {
  readonly name: string | undefined
  readonly hints: Hints
  /** How many fields of this type come before it: they take the hints in turn. */
  readonly rank: number
  /** The position in a list: items differ. */
  readonly variant: number
}

/** The schemas that a value must fit, all of them. */
export type Parts = readonly JsonObject[]

export function largest(parts: Parts, keyword: string, otherwise: number): number {
  return Math.max(otherwise, ...parts.map((part) => numberOf(part[keyword]) ?? otherwise))
}

export function smallest(parts: Parts, keyword: string, otherwise: number): number {
  return Math.min(otherwise, ...parts.map((part) => numberOf(part[keyword]) ?? otherwise))
}

/** The keyword's text, in the first schema that has it. */
export function wordIn(parts: Parts, keyword: string): string | undefined {
  return parts.map((part) => stringOf(part[keyword])).find((word) => word !== undefined)
}

export function textFor(parts: Parts, field: Field): string | undefined {
  const { name = '', hints, rank, variant } = field
  const least = largest(parts, 'minLength', 0)
  const most = smallest(parts, 'maxLength', Infinity)
  const pattern = wordIn(parts, 'pattern')
  // Whoever wrote a pattern that cannot be read here may have written an example, too.
  if (pattern !== undefined) return exampleIn(parts) ?? textMatching(pattern, least, variant)
  const format = FORMATS.get(wordIn(parts, 'format') ?? '')
  if (format !== undefined) return format(variant + 1)
  const { phrases } = hints
  const phrase = phrases[(rank + variant) % phrases.length] ?? ''
  const own = variant === 0 ? hints.valueOf(name) : undefined
  const text = own ?? (variant < phrases.length ? phrase : `${variant + 1} ${phrase}`)
  return least > most ? undefined : fitted(text, least, most)
}

function exampleIn(parts: Parts): string | undefined {
  const examples = parts.flatMap((part) => [part['default'], ...listOf(part['examples'])])
  return examples.find((example) => typeof example === 'string')
}

function fitted(text: string, least: number, most: number): string {
  const longer = text.length < least ? text.padEnd(least, ` ${text}`) : text
  return longer.length > most ? Array.from(longer).slice(0, most).join('') : longer
}

/** A row of characters, sets and lists of words, each perhaps repeated: all that is read of regular expressions. */
const PIECE =
  /(?:\\(?<set>[dws])|\[(?<inside>(?:\\.|[^\]\\])+)\]|\((?:\?:)?(?<words>[^()[\]{}*+?\\^$.]+)\)|(?<any>\.)|\\(?<escaped>[^A-Za-z0-9])|(?<plain>[^\\[\](){}.*+?|^$]))(?:\{(?<least>\d{1,4})(?<more>,\d{0,4})?\}|(?<sign>[*+?]))?/uy
const PATTERN_CHARACTERS_MAX = 300
/** Longer than an answer. */
const REPEATED_CHARACTERS_MAX = 20_000

/** A text that matches a simple pattern; undefined = the pattern is not simple. */
function textMatching(pattern: string, least: number, variant: number): string | undefined {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return undefined
  const body = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')
  let text = ''
  let choices = variant
  for (PIECE.lastIndex = 0; PIECE.lastIndex < body.length;) {
    const piece = PIECE.exec(body)?.groups
    const options = piece === undefined ? [] : optionsOf(piece)
    if (piece === undefined || options.length === 0) return undefined
    const { sign = '', more } = piece
    const usual = Number(piece['least'] ?? ('*?'.includes(sign) && sign !== '' ? 0 : 1))
    // A text that must be longer grows where the pattern first allows any number.
    const isOpen = sign === '*' || sign === '+' || more === ','
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

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const SETS: Readonly<Record<string, string>> = { d: DIGITS, w: LETTERS + DIGITS, s: ' ' }

/** What one piece of a pattern may be; nothing if that cannot be read. */
function optionsOf(piece: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { set, inside, words, any, escaped, plain } = piece
  if (words !== undefined) return words.split('|')
  if (inside !== undefined) return charactersIn(inside)
  return Array.from(SETS[set ?? ''] ?? (any === undefined ? (escaped ?? plain ?? '') : LETTERS))
}

function charactersIn(inside: string): readonly string[] {
  const isNegated = inside.startsWith('^')
  const listed = new Set<string>()
  for (const [, set = '', letter, first = '', last = first] of inside
    .slice(Number(isNegated))
    .matchAll(/\\([dws])|\\([A-Za-z0-9])|\\?(.)(?:-([^\\]))?/gsu)) {
    if (letter !== undefined) return []
    for (const character of SETS[set] ?? range(first, last)) listed.add(character)
  }
  const others = Array.from(LETTERS + LETTERS.toUpperCase() + DIGITS)
  return isNegated ? others.filter((one) => !listed.has(one)) : [...listed]
}

function range(first: string, last: string): readonly string[] {
  const [from = 0, to = 0] = [first.codePointAt(0), last.codePointAt(0)]
  const length = Math.max(0, Math.min(to - from + 1, 64))
  return Array.from({ length }, (_, index) => String.fromCodePoint(from + index))
}

const FORMATS: ReadonlyMap<string, (index: number) => string> = new Map([
  ['date-time', (index) => `2026-01-01T12:00:${pad(index % 60, 2)}.${pad(index, 3)}Z`],
  ['date', (index) => `${2000 + index}-01-31`],
  ['time', (index) => `12:${pad(index % 60, 2)}:00.${pad(index, 3)}Z`],
  ['duration', (index) => `P${index}D`],
  ['email', (index) => `user${index}@example.com`],
  ['hostname', (index) => `host${index}.example.com`],
  ['ipv4', (index) => `192.0.2.${index % 256}`],
  ['ipv6', (index) => `2001:db8::${index.toString(16)}`],
  ['uri', (index) => `https://example.com/${index}`],
  ['url', (index) => `https://example.com/${index}`],
  ['uri-reference', (index) => `/items/${index}`],
  ['uuid', (index) => `00000000-0000-4000-8000-${pad(index, 12)}`],
  ['json-pointer', (index) => `/items/${index}`],
  ['regex', (index) => `^a{${index}}$`],
])

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0')
}

/** How many steps of a range are tried: another schema may allow only some of them. */
const STEPS_TRIED = 16

/** The first number that all schemas allow: of the message, near 1, or at the lower end of the range. */
export function numberFor(parts: Parts, field: Field, type: string): number | undefined {
  const low = largest(parts, 'exclusiveMinimum', largest(parts, 'minimum', -Infinity))
  const high = smallest(parts, 'exclusiveMaximum', smallest(parts, 'maximum', Infinity))
  const step = largest(parts, 'multipleOf', 0) || 1
  const nearest = Math.ceil(Math.min(Math.max(1, low), high) / step) + field.variant
  const around = Array.from({ length: STEPS_TRIED }, (_, index) => [index, -1 - index]).flat()
  // A narrow range between two steps contains none of them.
  const width = Number.isFinite(high - low) ? high - low : 1
  const inside = width / (field.variant + 2)
  const candidates = [
    ...(field.variant === 0 ? numbersIn(field) : []),
    ...around.map((offset) => decimal((nearest + offset) * step)),
    Number.isFinite(low) ? low + inside : Math.min(high, 1) - inside,
  ]
  return candidates.find(
    (value) =>
      (type === 'number' || Number.isInteger(value)) &&
      parts.every((part) => isWithin(part, value)),
  )
}

/** The numbers of the message, first the one beside the field's name. */
function numbersIn({ name = '', hints: { numbers, valueOf }, rank }: Field): readonly number[] {
  const start = rank % Math.max(1, numbers.length)
  const own = Number(valueOf(name))
  return [
    ...(Number.isFinite(own) ? [own] : []),
    ...numbers.slice(start),
    ...numbers.slice(0, start),
  ]
}

function isWithin(part: JsonObject, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = part
  const quotient = value / (numberOf(multipleOf) || value || 1)
  return (
    value >= (numberOf(minimum) ?? -Infinity) &&
    value <= (numberOf(maximum) ?? Infinity) &&
    value > (numberOf(exclusiveMinimum) ?? -Infinity) &&
    value < (numberOf(exclusiveMaximum) ?? Infinity) &&
    Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient))
  )
}

/** Without the noise of binary fractions: three steps of 0.1 are 0.3. */
function decimal(value: number): number {
  return Number(value.toPrecision(15))
}
