// Web searches that a messages provider runs itself: the only hosted tool with a price.
import { searchesWithin } from '../../core/call.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, listOf } from '../../core/json.ts'

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

/** What is removed from a request so far, as `Removals` that grow. */
export type Removing = {
  readonly changes: Record<string, Json | undefined>
  readonly dropped: string[]
}

/** Whether the model knows this tool's schema by its type, and the client runs it. */
export function isVendorTool(tool: JsonObject): boolean {
  return typeof tool['type'] === 'string' && CLIENT_RUN.test(tool['type'])
}

const CLIENT_RUN = /^(bash|text_editor|memory|computer|computer_toolset|browser_toolset)_\d+$/

/** No toolset has more members. */
const TOOLSET_MEMBERS = 32

/** How many tools the model knows by this tool's type. */
export function vendorToolsIn(tool: JsonObject): number {
  if (!isVendorTool(tool)) return 0
  return String(tool['type']).includes('_toolset_') ? TOOLSET_MEMBERS : 1
}

/** Whether the provider runs this tool itself. */
export function isHosted(tool: Json | undefined): boolean {
  if (!isObject(tool) || typeof tool['type'] !== 'string') return false
  return tool['type'] !== 'custom' && !isVendorTool(tool)
}

export function removeTools(
  { tools, tool_choice: choice }: JsonObject,
  isGone: (tool: Json) => boolean,
  { changes, dropped }: Removing,
): void {
  if (!isArray(tools) || !tools.some(isHosted)) return
  const gone = tools.filter(isGone).filter(isObject)
  const kept = tools.filter((tool) => !isGone(tool)).map(withSearchLimit)
  for (const tool of gone) dropped.push(`tools.${String(tool['type'])}`)
  // Without its search tool a model could never reach the deferred tools, so they are loaded at once.
  const isSearchGone = gone.some((tool) => String(tool['type']).startsWith('tool_search_tool_'))
  const given = isSearchGone ? kept.map(withoutDeferral) : kept
  changes['tools'] = given.length === 0 ? undefined : given
  if (!isObject(choice)) return
  const isChosen = gone.some(({ name }) => name !== undefined && name === choice['name'])
  if (given.length === 0 || isChosen) {
    changes['tool_choice'] = undefined
    dropped.push('tool_choice')
  }
}

function withoutDeferral(tool: Json): Json {
  return isObject(tool) && 'defer_loading' in tool ? { ...tool, defer_loading: undefined } : tool
}
