// A tool choice without tools, which other providers refuse: it is left out, and named if it asked for a call.
import type { Json } from '../core/json.ts'
import { isGiven } from '../core/json.ts'

/** `auto` and `none` mean nothing when there are no tools. */
export function asksForTool(choice: Json | undefined): boolean {
  return isGiven(choice) && choice !== 'auto' && choice !== 'none'
}
