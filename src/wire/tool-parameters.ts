// The parameters of a function, as both formats of the chat family write them.
import type { JsonObject } from '../core/json.ts'
import { expectObject, optional } from './expect.ts'

/** For a function without parameters: other formats require an explicit schema. */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

export function decodeParameters(value: unknown, place: string): JsonObject {
  return optional(value, place, expectObject) ?? NO_PARAMETERS
}
