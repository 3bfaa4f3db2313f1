// Texts that match a regular expression, made by reading the expression instead of running it. It knows the common
// part of the language; for the rest (look-around, back references) it returns undefined.

/** A text for each number from 0 on, as varied as the pattern allows; `more` adds to the optional repetitions. */
type PatternText = (variant: number, more: number) => string | undefined

const PATTERN_CHARACTERS_MAX = 500
/** More than an answer can hold: a longer match would be cut anyway. */
const PIECES_MAX = 20_000

export function readPattern(pattern: string): PatternText | undefined {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return undefined
  const reader: Reader = { text: pattern, position: 0 }
  const write = readable(() => readAlternatives(reader))
  if (write === undefined || reader.position < pattern.length) return undefined
  return (variant, more) => readable(() => write({ variant, more, pieces: PIECES_MAX }))
}

class Unreadable extends Error {}

function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

type Reader = { readonly text: string; position: number }
/** Each choice takes a digit from `variant`, so that counting up visits all choices; `pieces` bounds the work. */
type Choices = { variant: number; readonly more: number; pieces: number }
type Writer = (choices: Choices) => string

function readAlternatives(reader: Reader): Writer {
  const options = [readSequence(reader)]
  while (reader.text[reader.position] === '|') {
    reader.position++
    options.push(readSequence(reader))
  }
  return (choices) => pick(choices, options)(choices)
}

function readSequence(reader: Reader): Writer {
  const pieces: Writer[] = []
  for (;;) {
    const character = reader.text[reader.position]
    if (character === undefined || character === '|' || character === ')') break
    pieces.push(readRepeated(reader))
  }
  return (choices) => pieces.map((piece) => piece(choices)).join('')
}

function readRepeated(reader: Reader): Writer {
  const piece = readAtom(reader)
  const [least, most] = readQuantifier(reader)
  if (least === 1 && most === 1) return piece
  return (choices) => {
    let text = ''
    for (let times = Math.min(most, least + choices.more); times > 0; times--) {
      if (--choices.pieces < 0) throw new Unreadable()
      text += piece(choices)
    }
    return text
  }
}

function readQuantifier(reader: Reader): readonly [least: number, most: number] {
  const rest = reader.text.slice(reader.position, reader.position + 24)
  const [whole, sign, least, comma, most] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(rest) ?? []
  if (whole === undefined) return [1, 1]
  reader.position += whole.length
  if (sign !== undefined) return [sign === '+' ? 1 : 0, sign === '?' ? 1 : Infinity]
  if (comma === '') return [Number(least), Number(least)]
  return [Number(least), most === '' ? Infinity : Number(most)]
}

function readAtom(reader: Reader): Writer {
  const character = takeCharacter(reader)
  switch (character) {
    case '^':
    case '$':
      return () => ''
    case '.':
      return oneOf(PLAIN)
    case '(':
      return readGroup(reader)
    case '[':
      return readClass(reader)
    case '\\':
      return readEscape(reader)
    case '*':
    case '+':
    case '?':
      throw new Unreadable()
    default:
      return () => character
  }
}

function readGroup(reader: Reader): Writer {
  const rest = reader.text.slice(reader.position)
  if (rest.startsWith('?')) {
    const opening = /^\?(?::|<\w+>)/.exec(rest)?.[0]
    if (opening === undefined) throw new Unreadable()
    reader.position += opening.length
  }
  const inside = readAlternatives(reader)
  if (takeCharacter(reader) !== ')') throw new Unreadable()
  return inside
}

/** Letters first: they make the most readable texts. */
const PLAIN = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;/@#%&=+!?~']
const SETS: Readonly<Record<string, (character: string) => boolean>> = {
  d: (character) => /\d/.test(character),
  D: (character) => /\D/.test(character),
  w: (character) => /\w/.test(character),
  W: (character) => /\W/.test(character),
  s: (character) => /\s/.test(character),
  S: (character) => /\S/.test(character),
}
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' }

function readEscape(reader: Reader): Writer {
  const character = reader.text[reader.position]
  if (character === 'b' || character === 'B') {
    reader.position++
    return () => ''
  }
  if (character !== undefined && /[1-9k]/.test(character)) throw new Unreadable()
  return oneOf(readEscapedSet(reader))
}

/** The characters that an escape stands for, inside or outside a class. */
function readEscapedSet(reader: Reader): readonly string[] {
  const character = takeCharacter(reader)
  const set = SETS[character]
  if (set !== undefined) return PLAIN.filter(set)
  if (character === 'p' || character === 'P') return readProperty(reader, character === 'P')
  const code = { u: /^(?:([\da-f]{4})|\{([\da-f]{1,6})\})/i, x: /^([\da-f]{2})/i }[character]
  const digits = code?.exec(reader.text.slice(reader.position, reader.position + 8))
  if (digits) {
    reader.position += digits[0].length
    return [String.fromCodePoint(Number.parseInt(digits[1] ?? digits[2] ?? '', 16))]
  }
  return [CONTROLS[character] ?? character]
}

/** `\p{…}`: V8 knows the properties, and testing single characters is fast. */
function readProperty(reader: Reader, isNegated: boolean): readonly string[] {
  const name = /^\{[\w=]{1,40}\}/.exec(reader.text.slice(reader.position))?.[0]
  if (name === undefined) throw new Unreadable()
  reader.position += name.length
  try {
    const property = new RegExp(`^\\p${name}$`, 'u')
    return PLAIN.filter((character) => property.test(character) !== isNegated)
  } catch {
    throw new Unreadable()
  }
}

function readClass(reader: Reader): Writer {
  const isNegated = reader.text[reader.position] === '^'
  if (isNegated) reader.position++
  const inside: string[] = []
  for (;;) {
    const character = takeCharacter(reader)
    if (character === ']') break
    const set = character === '\\' ? readEscapedSet(reader) : [character]
    const [from] = set
    const isRange =
      set.length === 1 &&
      reader.text[reader.position] === '-' &&
      reader.text[reader.position + 1] !== ']'
    if (!isRange || from === undefined) inside.push(...set)
    else {
      reader.position++
      const end = takeCharacter(reader)
      inside.push(...range(from, end === '\\' ? readEscapedSet(reader)[0] : end))
    }
  }
  return oneOf(isNegated ? PLAIN.filter((character) => !inside.includes(character)) : inside)
}

const RANGE_MAX = 256

function range(from: string, to: string | undefined): string[] {
  const first = from.codePointAt(0) ?? 0
  const last = to?.codePointAt(0) ?? -1
  if (last < first) throw new Unreadable()
  return Array.from({ length: Math.min(last - first + 1, RANGE_MAX) }, (_, index) =>
    String.fromCodePoint(first + index),
  )
}

function oneOf(characters: readonly string[]): Writer {
  if (characters.length === 0) throw new Unreadable()
  return (choices) => pick(choices, characters)
}

function pick<Option>(choices: Choices, options: readonly Option[]): Option {
  const option = options[choices.variant % options.length]
  choices.variant = Math.floor(choices.variant / options.length)
  if (option === undefined) throw new Unreadable()
  return option
}

function takeCharacter(reader: Reader): string {
  const code = reader.text.codePointAt(reader.position)
  if (code === undefined) throw new Unreadable()
  const character = String.fromCodePoint(code)
  reader.position += character.length
  return character
}
