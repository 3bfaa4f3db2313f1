// Web searches that a messages provider runs itself: the only hosted tool with a price.
import { searchesWithin } from '../../core/call.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isGiven, isObject, listOf } from '../../core/json.ts'

export function isSearch(tool: Json): tool is JsonObject {
  return isObject(tool) && /^web_search_\d+$/.test(String(tool['type']))
}

/** The most searches that a request may run; 0 = it asks for none. */
export function searchesMaxOf({ tools }: JsonObject): number {
  const searches = listOf(tools).filter(isSearch)
  return searches.reduce((sum, { max_uses: limit }) => sum + searchesWithin(limit), 0)
}

/**
 * Every search tool gets a limit, or no hold would cover it. Only the model may call it: newer versions can also be
 * called by code that the model runs at the provider, and a search limit does not bound how often it runs code and
 * reads everything again.
 */
export function withSearchLimit(tool: Json): Json {
  if (!isSearch(tool)) return tool
  const limited = { ...tool, max_uses: searchesWithin(tool['max_uses']) }
  const isPlain = tool['type'] === 'web_search_20250305' && !isGiven(tool['allowed_callers'])
  return isPlain ? limited : { ...limited, allowed_callers: ['direct'] }
}
