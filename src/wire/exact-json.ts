// Whole numbers as they were written. JavaScript rounds those beyond 2^53, and the ids of messages, rows and accounts
// that tools are called with are often longer. For what is translated only: bytes that are passed on stay as they are.
import { isShallow } from '../core/json-depth.ts'
import type { JsonObject } from '../core/json.ts'
import { isObject, parseObject } from '../core/json.ts'

/**
 * The object that a text says, to be written again with the numbers it was read with: such a number is no number in
 * between. Undefined when the text says something else, is no JSON, or too deep to be meant.
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

/** The same for a text that is parsed already, which is nearly always enough. */
export function exactly(text: string, value: JsonObject): JsonObject {
  return hasLongNumber(text) ? (parseExactly(text) ?? value) : value
}

/** The shortest that may be rounded has sixteen digits. */
function hasLongNumber(text: string): boolean {
  return /\d{16}/.test(text)
}

function keepLong(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? rawJson(source) : value
}

/** Written as it is by JSON.stringify; the type libraries do not know it yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): object }).rawJSON
