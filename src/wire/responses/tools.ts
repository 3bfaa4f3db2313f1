// The tools of a responses request: which of them the provider would run itself (those are taken out, but for searches
// of the web where the hold covers them), and the flat names under which other formats know the tools that a namespace
// holds.
import { createHash } from 'node:crypto'

import { searchesWithin } from '../../core/call.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf, stringOf } from '../../core/json.ts'
import { asksForTool } from '../choice-among-none.ts'

export type UsableTools = {
  readonly tools: readonly Json[]
  readonly toolChoice: Json | undefined
  /** The input, whose items may bring tools along too. */
  readonly input: Json | undefined
  /** Names of what was taken out; empty = all is as the client sent it. */
  readonly dropped: readonly string[]
}

/** The request's tools without those that run at the provider, whose price no hold covers. */
export function usableTools(body: JsonObject, { maySearch = false } = {}): UsableTools {
  const isGone = maySearch ? (tool: Json) => isHosted(tool) && !isSearch(tool) : isHosted
  const given = listOf(body['tools'])
  const { input, brought } = usableInput(body['input'])
  const dropped = new Set([...given.filter(isGone), ...brought.filter(isHosted)].map(nameOf))
  const tools = given.filter((tool) => !isGone(tool))
  const usable = [...tools, ...brought.filter((tool) => !isHosted(tool))]
  const choice = body['tool_choice'] ?? undefined
  const toolChoice = dropped.size === 0 ? choice : usableChoice(choice, usable)
  if (toolChoice !== choice && asksForTool(choice)) dropped.add('tool_choice')
  return { tools, toolChoice, input, dropped: [...dropped] }
}

/** How often a request may search the web at most; 0 = it does not ask for searches. */
export function searchesMaxOf({ tools, max_tool_calls: calls }: JsonObject): number {
  return isArray(tools) && tools.some(isSearch) ? searchesWithin(calls) : 0
}

/** The search whose price is known; its preview is billed otherwise, by model and by how much it reads. */
function isSearch(tool: Json): boolean {
  return toolType(tool) === 'web_search' || toolType(tool) === 'web_search_2025_08_26'
}

/** The same input when no item brings a hosted tool along, and all tools that items bring. */
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

/** Tools that the client runs, or that need no running: everything else runs at the provider. */
const CLIENT_TOOLS: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'tool_search',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
])

function isHosted(tool: Json): boolean {
  if (!isObject(tool)) return false
  if (toolType(tool) !== 'shell') return !CLIENT_TOOLS.has(toolType(tool))
  const { environment } = tool
  return !(isObject(environment) && environment['type'] === 'local')
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
  const types = new Set(['function', 'custom', 'namespace', ...usable.map(toolType)])
  if (toolType(choice) !== 'allowed_tools') return types.has(toolType(choice)) ? choice : undefined
  const allowed = listOf(choice['tools'])
  const left = allowed.filter((tool) => types.has(toolType(tool)))
  if (left.length === allowed.length) return choice
  return left.length === 0 ? undefined : { ...choice, tools: left }
}

export type ToolNames = {
  /** The one name that other formats use for this tool. */
  flat(name: string, namespace: string | undefined): string
  /** Whether the request brings a tool with this flat name. */
  has(flat: string): boolean
  /** The tool behind a flat name, as this client knows it. */
  own(flat: string): OwnTool
  /** The flat names of the tools that take free text. */
  readonly custom: ReadonlySet<string>
}

export type OwnTool = {
  readonly name: string
  readonly namespace?: string
  readonly custom: boolean
}

/** How the tools that the request declares are called elsewhere, and back. */
export function toolNames(body: JsonObject): ToolNames {
  const own = new Map<string, OwnTool>()
  const declared = declaredTools(body)
  for (const { tool } of declared) {
    const name = stringOf(tool['name'])
    if (name !== undefined && tool['type'] !== 'namespace') {
      own.set(name, { name, custom: tool['type'] === 'custom' })
    }
  }
  const flat = (name: string, namespace: string | undefined): string => {
    if (namespace === undefined) return name
    const joined = `${namespace}__${name}`
    const isTaken = own.has(joined) && own.get(joined)?.namespace !== namespace
    return FLAT_NAME.test(joined) && !isTaken ? joined : digestName(namespace, name)
  }
  for (const { tool } of declared) {
    const namespace = stringOf(tool['name'])
    if (tool['type'] !== 'namespace' || namespace === undefined) continue
    for (const inner of listOf(tool['tools'])) {
      const name = isObject(inner) ? stringOf(inner['name']) : undefined
      if (name === undefined) continue
      own.set(flat(name, namespace), { name, namespace, custom: toolType(inner) === 'custom' })
    }
  }
  return {
    flat,
    has: (name) => own.has(name),
    own: (name) => own.get(name) ?? { name, custom: false },
    custom: new Set([...own].filter(([, tool]) => tool.custom).map(([name]) => name)),
  }
}

export type DeclaredTool = { readonly tool: JsonObject; readonly place: string }

/** Every tool object of the request: those of `tools`, and those that an input item adds on the way. */
export function declaredTools(body: JsonObject): DeclaredTool[] {
  const declared = placed(body['tools'], 'tools')
  const items = listOf(body['input'])
  for (const [index, item] of items.entries()) {
    if (!isObject(item) || item['type'] !== 'additional_tools') continue
    declared.push(...placed(item['tools'], `input[${index}].tools`))
  }
  return declared
}

function placed(tools: Json | undefined, place: string): DeclaredTool[] {
  if (!isArray(tools)) return []
  return tools.flatMap((tool, index) =>
    isObject(tool) ? [{ tool, place: `${place}[${index}]` }] : [],
  )
}

/** What every format takes as a tool's name. */
const FLAT_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const DIGEST_DIGITS = 16
const READABLE_CHARACTERS = 40

function digestName(namespace: string, name: string): string {
  const digest = createHash('sha256').update(`${namespace}\0${name}`).digest('hex')
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, READABLE_CHARACTERS)
  return `${readable}__${digest.slice(0, DIGEST_DIGITS)}`
}
