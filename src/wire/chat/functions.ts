// The deprecated kind of tools: `functions`, of which a message calls one at most.
import type { JsonObject } from '../../core/json.ts'
import { isGiven } from '../../core/json.ts'

/** Whether the client knows no other kind. */
export function knowsOnlyFunctions({ functions, tools }: JsonObject): boolean {
  return isGiven(functions) && !isGiven(tools)
}
