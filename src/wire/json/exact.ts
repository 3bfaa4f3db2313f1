// Keeps integers as they were written. JavaScript rounds those beyond 2^53, and the ids of messages, rows and accounts
// in tool calls are often longer. For values that are written again; bytes forwarded as they came need none of this.
import { randomUUID } from 'node:crypto'
import { endOfString, isArray, isObject, parseObject, QUOTE } from '../../core/json.ts'
import type { Json, JsonObject } from '../../core/json.ts'

/**
 * Parses an object so that writing it again gives the same numbers; in between, a long number is not a number.
 * Undefined when the text is not an object, not JSON, or larger inside than real JSON.
 */
export function parseExactly(text: string): JsonObject | undefined {
  const value = parseObject(text)
  return value && exactly(text, value)
}

/** The same for a text that is already parsed; nearly always, that value is exact enough. */
export function exactly(text: string, value: JsonObject): JsonObject {
  const marked = withMarks(text)
  return marked === undefined ? value : unmarkedMembers(JSON.parse(marked) as JsonObject)
}

/** The same for a large text. */
export async function exactlyInSteps(
  text: string,
  value: JsonObject,
  nextStep: () => Promise<void>,
): Promise<JsonObject> {
  const marked = withMarks(text)
  if (marked === undefined) return value
  await nextStep()
  const parsed = JSON.parse(marked) as JsonObject
  await nextStep()
  return unmarkedMembers(parsed)
}

/** The shortest integer that may be rounded has sixteen digits. */
const LONG_INTEGER = /^-?\d{16,}$/
const LENGTH_MIN = 16
/** Each takes two microseconds; beyond this many, they are rounded. */
const LONG_INTEGERS_MAX = 20_000

/** The beginning of a string that stands for a long integer while its text is parsed; no client can know it. */
const MARK = `${randomUUID()} `

/** With a marked string in place of each long integer; undefined = there is none. A reviver is far slower. */
function withMarks(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined
  let marked = ''
  let copiedTo = 0
  let count = 0
  for (let index = 0; index < text.length && count < LONG_INTEGERS_MAX; index++) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) index = endOfString(text, index) - 1
    if (character !== MINUS && !isDigit(character)) continue
    const end = endOfNumber(text, index)
    const number = end - index < LENGTH_MIN ? '' : text.slice(index, end)
    if (LONG_INTEGER.test(number) && !Number.isSafeInteger(Number(number))) {
      marked += `${text.slice(copiedTo, index)}"${MARK}${number}"`
      copiedTo = end
      count += 1
    }
    index = end - 1
  }
  return count === 0 ? undefined : marked + text.slice(copiedTo)
}

const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const SMALL_E = 0x65

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isInNumber(text.charCodeAt(end))) end += 1
  return end
}

function isInNumber(character: number): boolean {
  if (isDigit(character)) return true
  // The bit makes a letter small.
  const isSign = character === PLUS || character === MINUS || character === POINT
  return isSign || (character | 0x20) === SMALL_E
}

function isDigit(character: number): boolean {
  return character >= 0x30 && character <= 0x39
}

function unmarked(value: Json | undefined): Json | undefined {
  if (typeof value === 'string') {
    return value.startsWith(MARK) ? (rawJson(value.slice(MARK.length)) as Json) : value
  }
  if (isArray(value)) return value.map(unmarked) as readonly Json[]
  return isObject(value) ? unmarkedMembers(value) : value
}

function unmarkedMembers(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unmarked(each)]))
}

/** JSON.stringify writes its result unchanged. The type libraries do not declare it yet. */
const rawJson = (JSON as unknown as { rawJSON: (text: string) => object }).rawJSON
