// How large JSON may be inside, checked before it is parsed: reading millions of levels, objects or members takes seconds
// and gigabytes, and writing them again minutes, during which nothing else is served.
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-characters.ts'

/** Real requests, answers and tool arguments stay far below it. */
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
