// A choice among no tools, which other providers refuse: it is left out, and named if it asked for anything.
import type { Json } from '../core/json.ts'
import { isGiven } from '../core/json.ts'

/** To be left free to call tools, or kept from it, is nothing where there are none. */
export function asksForTool(choice: Json | undefined): boolean {
  return isGiven(choice) && choice !== 'auto' && choice !== 'none'
}
