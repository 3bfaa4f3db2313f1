// JSON as a type, the few questions that decoders ask of it, and how large it may be inside. Lenient by design: what is
// not there is undefined.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json | undefined }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** The object in a JSON text; undefined if it is something else, not JSON, or larger inside than real JSON. */
export function parseObject(text: string, depthMax?: number): JsonObject | undefined {
  if (!isModest(text, depthMax)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The members of an object; none when it is something else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The entries of a list; none when it is something else. */
export function listOf(value: unknown): readonly Json[] {
  return isArray(value) ? value : []
}

/** An object's `type`; '' if it has none. */
export function typeOf(value: JsonObject): string {
  return stringOf(value['type']) ?? ''
}

/** Whether a member is set: both SDK families write null for what they leave out. */
export function isGiven<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null
}

/** The object without the members that are undefined, as exact optional types require. */
export function defined<T extends object>(object: T): Defined<T> {
  const kept: { [Name in keyof T]?: unknown } = {}
  for (const name in object) if (object[name] !== undefined) kept[name] = object[name]
  return kept as Defined<T>
}

/** Whether no member is set. */
export function isEmpty(object: object): boolean {
  return Object.values(object).every((value) => value === undefined)
}

type Defined<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name]
} & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

/**
 * How deep JSON may be, checked before it is parsed: reading millions of levels, objects or members takes seconds and
 * gigabytes, during which nothing else is served. Real requests, answers and tool arguments stay far below it.
 */
export const DEPTH_MAX = 128

/** Objects and lists. */
export const CONTAINERS_MAX = {
  /** A body that a client sends: five times what the longest conversations of coding agents have. */
  request: 50_000,
  /**
   * JSON that is text in a request, such as the input of a tool call, added up: translation parses it, and ten million
   * took half a minute and two gigabytes. Brackets in strings count, too, so there may be more than in the body.
   */
  requestTexts: 200_000,
  /** Any other text: an answer of 16,000 tokens with twenty alternatives each has fewer. */
  text: 1_200_000,
} as const

/** Fields of objects. */
export const MEMBERS_MAX = { request: 100_000, text: 1_200_000 } as const

/** Says nothing about a text that is not JSON. */
export function isModest(text: string, depthMax = DEPTH_MAX): boolean {
  if (text.length <= MEMBERS_MAX.text && hasFewContainers(text, depthMax)) return true
  let depth = 0
  let containers = 0
  let members = 0
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index) - 1
        break
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (++depth > depthMax || ++containers > CONTAINERS_MAX.text) return false
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth -= 1
        break
      case COLON:
        if (++members > MEMBERS_MAX.text) return false
        break
      default:
    }
  }
  return true
}

/** Whether a text has no more opening brackets than this, those in strings included: searching is fast where they are rare. */
function hasFewContainers(text: string, most: number): boolean {
  let count = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++count > most) return false
    }
  }
  return true
}

/** How many fields the objects in a text have. */
export function membersIn(text: string): number {
  let members = 0
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) index = endOfString(text, index) - 1
    else if (character === COLON) members += 1
  }
  return members
}

/** The index after a string's closing quote. */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    if (quote < 0) return text.length
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
}

/** The characters that give JSON its structure, as codes: the same in bytes of UTF-8 and in a string. */
export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
