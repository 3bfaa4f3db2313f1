// Tools that the provider runs itself, at a price and in the account that all keys share. They are removed from every
// request; only tools that the client runs stay.
import type { Json, JsonObject } from '../../core/json.ts'
import { isGiven, isObject, listOf, typeOf } from '../../core/json.ts'

type UsableTools = {
  /** The entries of `tools` that stay. */
  readonly tools: readonly Json[]
  /** Whether `tool_choice` stays too: providers refuse a choice when there are no tools. */
  readonly hasChoice: boolean
  /** What was removed, by the client's names. */
  readonly dropped: readonly string[]
}

export function usableTools(body: JsonObject): UsableTools {
  const given = listOf(body['tools'])
  const tools = given.filter((tool) => !isHosted(tool))
  const dropped = given.filter(isHosted).map((tool) => `tools.${nameOf(tool)}`)
  const hasChoice = tools.length > 0 || dropped.length === 0
  if (isGiven(body['tool_choice']) && !hasChoice) dropped.push('tool_choice')
  if (isGiven(body['web_search_options'])) dropped.push('web_search_options')
  return { tools, hasChoice, dropped }
}

export function isHosted(tool: Json): tool is JsonObject {
  if (!isObject(tool)) return false
  const type = typeOf(tool)
  // A function may omit its type, and so may a hosted tool: LiteLLM accepts Gemini's as {"googleSearch": {}}.
  return type === '' ? !isGiven(tool['function']) : type !== 'function' && type !== 'custom'
}

function nameOf(tool: JsonObject): string {
  return typeOf(tool) || (Object.keys(tool)[0] ?? 'unknown')
}
