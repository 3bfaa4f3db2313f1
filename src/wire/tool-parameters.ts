// The parameters of a function, as both formats of the chat family write them.
import type { JsonObject } from '../core/json.ts'
import { expectObject, optional } from './expect.ts'

/** A function without parameters takes none; the other formats want that said. */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

export function decodeParameters(value: unknown, place: string): JsonObject {
  return optional(value, place, expectObject) ?? NO_PARAMETERS
}
