// Keeps integers as they were written. JavaScript rounds those beyond 2^53, and the ids of messages, rows and accounts
// in tool calls are often longer. For values that are written again; bytes forwarded as they came need none of this.
import { isShallow } from '../core/json-depth.ts'
import type { JsonObject } from '../core/json.ts'
import { isObject, parseObject } from '../core/json.ts'

/**
 * Parses an object so that writing it again gives the same numbers; in between, a long number is not a number.
 * Undefined when the text is not an object, not JSON, or nested deeper than real JSON.
 */
export function parseExactly(text: string): JsonObject | undefined {
  if (!hasLongNumber(text)) return parseObject(text)
  if (!isShallow(text)) return undefined
  try {
    const value: unknown = JSON.parse(text, keepLong)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The same for a text that is already parsed; nearly always, that value is exact enough. */
export function exactly(text: string, value: JsonObject): JsonObject {
  return hasLongNumber(text) ? (parseExactly(text) ?? value) : value
}

/** The shortest integer that may be rounded has sixteen digits. */
function hasLongNumber(text: string): boolean {
  return /\d{16}/.test(text)
}

function keepLong(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? rawJson(source) : value
}

/** JSON.stringify writes its result unchanged. The type libraries do not declare it yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): object }).rawJSON
