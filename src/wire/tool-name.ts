// Tool names that every provider accepts: letters, digits, - and _; only the greatest length differs.
import { GatewayError, invalidRequest } from '../core/errors.ts'
import type { Json } from '../core/json.ts'

/** In every format but messages, which allows more. */
export const TOOL_NAME_CHARACTERS_MAX = 64

export function isToolName(name: string, charactersMax = TOOL_NAME_CHARACTERS_MAX): boolean {
  return name.length <= charactersMax && /^[a-zA-Z0-9_-]+$/.test(name)
}

/** The name, or the 400 for one that the format cannot carry. */
export function fitToolName(
  name: string,
  place: string,
  charactersMax = TOOL_NAME_CHARACTERS_MAX,
): string {
  if (isToolName(name, charactersMax)) return name
  const shown = JSON.stringify(name.slice(0, 100).toWellFormed())
  throw invalidRequest(
    place,
    `the tool name ${shown} cannot be used with this model: use at most ${charactersMax} letters, digits, - and _`,
  )
}

/** The name of a tool that a provider calls: without one, no client could run it. */
export function calledName(given: Json | undefined): string {
  if (typeof given === 'string' && given !== '') return given
  throw new GatewayError('provider_failed', 'the provider called a tool without naming it')
}
