// Tools that the provider of a responses request would run itself. They are removed, except for web searches that the
// hold covers.
import { searchesWithin } from '../../core/call.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf, stringOf } from '../../core/json.ts'
import { asksForTool } from '../choice-among-none.ts'

type UsableTools = {
  readonly tools: readonly Json[]
  readonly toolChoice: Json | undefined
  /** The input; its items may bring tools too. */
  readonly input: Json | undefined
  /** Names of what was removed; empty = everything is as the client sent it. */
  readonly dropped: readonly string[]
}

/**
 * The request's tools without hosted ones, whose price no hold covers, and in translation without those that only the
 * format's own models know.
 */
export function usableTools(
  body: JsonObject,
  { maySearch = false, isTranslated = false } = {},
): UsableTools {
  const isTaken = isTranslated ? (tool: Json) => isHosted(tool) || isVendorTool(tool) : isHosted
  const isGone = maySearch ? (tool: Json) => isTaken(tool) && !isSearch(tool) : isTaken
  const given = listOf(body['tools'])
  const { input, brought } = usableInput(body['input'])
  const dropped = new Set([...given.filter(isGone), ...brought.filter(isTaken)].map(nameOf))
  const tools = given.filter((tool) => !isGone(tool))
  const usable = [...tools, ...brought.filter((tool) => !isTaken(tool))]
  const choice = body['tool_choice'] ?? undefined
  const toolChoice = dropped.size === 0 ? choice : usableChoice(choice, usable)
  if (toolChoice !== choice && asksForTool(choice)) dropped.add('tool_choice')
  return { tools, toolChoice, input, dropped: [...dropped] }
}

/** The most web searches that a request may run; 0 = it asks for none. */
export function searchesMaxOf({ tools, max_tool_calls: calls }: JsonObject): number {
  return isArray(tools) && tools.some(isSearch) ? searchesWithin(calls) : 0
}

/** The search with a known price. Its preview is billed differently, by model and by how much it reads. */
function isSearch(tool: Json): boolean {
  return toolType(tool) === 'web_search' || toolType(tool) === 'web_search_2025_08_26'
}

/** The input without hosted tools, or the same input if it has none, and all tools that its items bring. */
function usableInput(input: Json | undefined): {
  readonly input: Json | undefined
  readonly brought: readonly Json[]
} {
  if (!isArray(input)) return { input, brought: [] }
  const brought = input.flatMap((item) => toolsIn(item))
  if (!brought.some(isHosted)) return { input, brought }
  const usable = input.map((item) =>
    isObject(item) && toolsIn(item).some(isHosted)
      ? { ...item, tools: toolsIn(item).filter((tool) => !isHosted(tool)) }
      : item,
  )
  return { input: usable, brought }
}

function toolsIn(item: Json): readonly Json[] {
  return listOf(objectOf(item)['tools'])
}

/** Tools that the client describes. */
const DESCRIBED: ReadonlySet<string> = new Set(['function', 'custom', 'namespace'])

/** Whether the model knows this tool by its type: then the request does not show what the model reads about it. */
export function isVendorTool(tool: Json): boolean {
  return !DESCRIBED.has(toolType(tool))
}

/** Tools that the client runs, or that need not be run. All others run at the provider. */
const CLIENT_TOOLS: ReadonlySet<string> = new Set([
  ...DESCRIBED,
  'tool_search',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
])

function isHosted(tool: Json): boolean {
  if (!isObject(tool)) return false
  switch (toolType(tool)) {
    case 'shell':
      return objectOf(tool['environment'])['type'] !== 'local'
    case 'namespace':
      return listOf(tool['tools']).some(isHosted)
    default:
      return !CLIENT_TOOLS.has(toolType(tool))
  }
}

function toolType(tool: Json): string {
  return (isObject(tool) ? stringOf(tool['type']) : undefined) ?? 'unknown'
}

function nameOf(tool: Json): string {
  return `tools.${toolType(tool)}`
}

function usableChoice(choice: Json | undefined, usable: readonly Json[]): Json | undefined {
  if (usable.length === 0) return undefined
  if (!isObject(choice)) return choice
  const types = new Set([...DESCRIBED, ...usable.map(toolType)])
  if (toolType(choice) !== 'allowed_tools') return types.has(toolType(choice)) ? choice : undefined
  const allowed = listOf(choice['tools'])
  const left = allowed.filter((tool) => types.has(toolType(tool)))
  if (left.length === allowed.length) return choice
  return left.length === 0 ? undefined : { ...choice, tools: left }
}
