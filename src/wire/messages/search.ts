// Searches of the web that a provider of the messages format runs itself: the one hosted tool that has a price.
import { searchesWithin } from '../../core/call.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isGiven, isObject, listOf } from '../../core/json.ts'

export function isSearch(tool: Json): tool is JsonObject {
  return isObject(tool) && /^web_search_\d+$/.test(String(tool['type']))
}

/** How often a request may search at most; 0 = it does not ask for searches. */
export function searchesMaxOf({ tools }: JsonObject): number {
  const searches = listOf(tools).filter(isSearch)
  return searches.reduce((sum, { max_uses: limit }) => sum + searchesWithin(limit), 0)
}

/**
 * No search goes out without a limit, or no hold would cover it. And the model itself searches: newer tools are called
 * by code that it runs at the provider, and no limit of searches says how often it runs some and reads everything again.
 */
export function withSearchLimit(tool: Json): Json {
  if (!isSearch(tool)) return tool
  const limited = { ...tool, max_uses: searchesWithin(tool['max_uses']) }
  const isPlain = tool['type'] === 'web_search_20250305' && !isGiven(tool['allowed_callers'])
  return isPlain ? limited : { ...limited, allowed_callers: ['direct'] }
}
