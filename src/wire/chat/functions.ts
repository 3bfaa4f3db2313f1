// The deprecated form of tools, `functions`: a message calls at most one.
import type { JsonObject } from '../../core/json.ts'
import { isGiven } from '../../core/json.ts'

/** Whether the client uses only the deprecated form. */
export function knowsOnlyFunctions({ functions, tools }: JsonObject): boolean {
  return isGiven(functions) && !isGiven(tools)
}
