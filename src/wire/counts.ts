// What a provider says that it counted: a number, nothing, or something that is no count and that no bill can rest on.
import type { Usage } from '../core/events.ts'
import type { JsonObject } from '../core/json.ts'
import { isGiven, numberOf } from '../core/json.ts'

/** Undefined where nothing is told; NaN where something else than a number is, so that no sum forgets it. */
export function countIn(counts: JsonObject, name: string): number | undefined {
  const count = counts[name]
  return isGiven(count) ? (numberOf(count) ?? NaN) : undefined
}

/** The usage, if it is made of numbers alone: half a count would charge half. */
export function readable(usage: Usage): Usage | undefined {
  return Object.values(usage).some(Number.isNaN) ? undefined : usage
}
