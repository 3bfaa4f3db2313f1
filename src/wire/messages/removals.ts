// What is removed from every messages request, in passthrough too: hosted tools, compaction, and what refers to earlier
// answers. They cost more than the hold covers, or reach what another key left in the shared account. Only web searches
// may stay, where the hold covers them.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject } from '../../core/json.ts'
import type { Removals } from '../codec.ts'
import { isSearch, withSearchLimit } from './search.ts'

export function removalsFrom(body: JsonObject, { maySearch = false } = {}): Removals {
  const removals: Growing = { changes: {}, dropped: [] }
  for (const name of ['compaction', 'diagnostics', 'fallback_credit_token']) {
    if (!isGiven(body[name])) continue
    removals.changes[name] = undefined
    removals.dropped.push(name)
  }
  const isGone = maySearch ? (tool: Json) => isHosted(tool) && !isSearch(tool) : isHosted
  removeTools(body, isGone, removals)
  removeCompactingEdits(body, removals)
  return removals
}

type Growing = { readonly changes: Record<string, Json | undefined>; readonly dropped: string[] }

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

function removeTools(
  { tools, tool_choice: choice }: JsonObject,
  isGone: (tool: Json) => boolean,
  { changes, dropped }: Growing,
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

function removeCompactingEdits(
  { context_management: management }: JsonObject,
  { changes, dropped }: Growing,
): void {
  // LiteLLM takes the list of the responses format here, too.
  if (isArray(management)) {
    changes['context_management'] = undefined
    dropped.push('context_management')
  }
  if (!isObject(management) || !isArray(management['edits'])) return
  const isCompacting = (edit: Json): boolean =>
    isObject(edit) && typeof edit['type'] === 'string' && edit['type'].startsWith('compact')
  const kept = management['edits'].filter((edit) => !isCompacting(edit))
  if (kept.length === management['edits'].length) return
  changes['context_management'] = { ...management, edits: kept }
  dropped.push('context_management.edits.compact')
}
