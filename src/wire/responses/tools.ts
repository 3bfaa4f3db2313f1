// Tools that the provider of a responses request would run itself. They are removed, except for web searches that the
// hold covers.
import { createHash } from 'node:crypto'
import type { GatewayError } from '../../core/errors.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import {
  defined,
  isArray,
  isGiven,
  isObject,
  listOf,
  objectOf,
  stringOf,
  typeOf,
} from '../../core/json.ts'
import { searchesWithin } from '../../core/request.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import { asksForTool, decodeParameters, fitToolName, isToolName } from '../content/tools.ts'
import {
  expectBoolean,
  expectList,
  expectName,
  expectObject,
  expectOneOf,
  expectText,
  optional,
} from '../json/expect.ts'

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

// The flat names that other formats use for the tools of a responses request, including those in a namespace.

export type ToolNames = {
  /** The one name that other formats use for this tool. */
  flat(name: string, namespace: string | undefined): string
  /** Whether the request declares a tool with this flat name. */
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

/** Maps the tools that the request declares to their names in other formats, and back. */
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
    return isToolName(joined) && !isTaken ? joined : digestName(namespace, name)
  }
  for (const { tool } of declared) {
    const namespace = stringOf(tool['name'])
    if (tool['type'] !== 'namespace' || namespace === undefined) continue
    for (const { name, type } of listOf(tool['tools']).map(objectOf)) {
      if (typeof name !== 'string') continue
      own.set(flat(name, namespace), { name, namespace, custom: type === 'custom' })
    }
  }
  return {
    flat,
    has: (name) => own.has(name),
    own: (name) => own.get(name) ?? { name, custom: false },
    custom: new Set([...own].filter(([, tool]) => tool.custom).map(([name]) => name)),
  }
}

type DeclaredTool = { readonly tool: JsonObject; readonly place: string }

/** Every tool object of the request: those in `tools`, and those that input items add later. */
function declaredTools(body: JsonObject): DeclaredTool[] {
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

const DIGEST_DIGITS = 16
const READABLE_CHARACTERS = 40

function digestName(namespace: string, name: string): string {
  const digest = createHash('sha256').update(`${namespace}\0${name}`).digest('hex')
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, READABLE_CHARACTERS)
  return `${readable}__${digest.slice(0, DIGEST_DIGITS)}`
}

// The tools and the tool choice of a responses request in the canonical form: one flat list.

export type Reading = {
  readonly names: ToolNames
  /** Collects the names of what has no place in the canonical form. */
  readonly dropped: Set<string>
}

export function decodeTools(body: JsonObject, reading: Reading): Tool[] {
  for (const [index, tool] of (optional(body['tools'], 'tools', expectList) ?? []).entries()) {
    expectObject(tool, `tools[${index}]`)
  }
  return declaredTools(body).flatMap(({ tool, place }) => decodeTool(tool, place, reading))
}

function decodeTool(tool: JsonObject, place: string, reading: Reading): Tool[] {
  switch (typeOf(tool)) {
    case 'function':
    case 'custom':
      return [decodeOne(tool, { place, namespace: undefined }, reading)]
    case 'namespace': {
      const namespace = expectName(tool['name'], `${place}.name`)
      if ((tool['description'] ?? '') !== '') reading.dropped.add('tools.namespace.description')
      return expectList(tool['tools'], `${place}.tools`).map((inner, index) => {
        const at = `${place}.tools[${index}]`
        return decodeOne(expectObject(inner, at), { place: at, namespace }, reading)
      })
    }
    default:
      // Hosted tools, and client tools whose schema only the format's own models know.
      reading.dropped.add(`tools.${expectName(tool['type'], `${place}.type`)}`)
      return []
  }
}

/** Settings of a tool that no other format has. */
export const OWN_SETTINGS = ['defer_loading', 'async', 'output_schema', 'allowed_callers']

type Spot = { readonly place: string; readonly namespace: string | undefined }

function decodeOne(tool: JsonObject, { place, namespace }: Spot, reading: Reading): Tool {
  const type = expectOneOf(['function', 'custom'])(tool['type'], `${place}.type`)
  for (const name of OWN_SETTINGS) {
    if ((tool[name] ?? false) !== false) reading.dropped.add(`tools.${name}`)
  }
  const name = reading.names.flat(expectName(tool['name'], `${place}.name`), namespace)
  const description = optional(tool['description'], `${place}.description`, expectText)
  if (type === 'custom') {
    const inputFormat = optional(tool['format'], `${place}.format`, expectObject)
    return defined({ type, name, description, inputFormat })
  }
  return defined({
    type,
    name,
    description,
    schema: decodeParameters(tool['parameters'], `${place}.parameters`),
    strict: optional(tool['strict'], `${place}.strict`, expectBoolean),
  })
}

export function decodeToolChoice(
  body: JsonObject,
  tools: readonly Tool[],
  reading: Reading,
): ToolChoice | undefined {
  const { toolChoice, dropped } = usableTools(body, { isTranslated: true })
  const choice = isGiven(toolChoice) ? decodeChoice(toolChoice, body, reading) : undefined
  const isAmongNone = tools.length === 0 && asksForTool(toolChoice)
  if (isAmongNone || dropped.includes('tool_choice')) reading.dropped.add('tool_choice')
  return tools.length === 0 ? undefined : choice
}

function decodeChoice(toolChoice: Json, body: JsonObject, reading: Reading): ToolChoice {
  if (typeof toolChoice === 'string') {
    return { type: expectOneOf(['auto', 'none', 'required'])(toolChoice, 'tool_choice') }
  }
  const choice = expectObject(toolChoice, 'tool_choice')
  switch (typeOf(choice)) {
    case 'function':
    case 'custom':
      return { type: 'tool', name: chosenName(choice, 'tool_choice', reading) }
    case 'allowed_tools':
      return decodeAllowed(choice, body, reading)
    default:
      throw cannotForce('tool_choice', choice['type'])
  }
}

function decodeAllowed(choice: JsonObject, body: JsonObject, reading: Reading): ToolChoice {
  const mode = expectOneOf(['auto', 'required'])(choice['mode'], 'tool_choice.mode')
  const names = new Set<string>()
  // A namespace may be named many times; its tools are looked up once.
  const namespaces = new Set<Json | undefined>()
  for (const [index, entry] of expectList(choice['tools'], 'tool_choice.tools').entries()) {
    const place = `tool_choice.tools[${index}]`
    const tool = expectObject(entry, place)
    switch (typeOf(tool)) {
      case 'function':
      case 'custom':
        names.add(chosenName(tool, place, reading))
        break
      case 'namespace':
        namespaces.add(tool['name'])
        break
      default:
        throw cannotForce(place, tool['type'])
    }
  }
  for (const { tool, place } of declaredTools(body)) {
    if (tool['type'] !== 'namespace' || !namespaces.has(tool['name'])) continue
    for (const { name } of decodeTool(tool, place, reading)) names.add(name)
  }
  return { type: 'allowed', names: [...names], required: mode === 'required' }
}

function chosenName(tool: JsonObject, place: string, { names }: Reading): string {
  const namespace = optional(tool['namespace'], `${place}.namespace`, expectName)
  const name = expectName(tool['name'], `${place}.name`)
  const flat = names.flat(name, namespace)
  if (names.has(flat)) return flat
  throw invalidRequest(place, `${place} names the tool "${name}", which is not among the tools`)
}

function cannotForce(place: string, type: Json | undefined): GatewayError {
  return invalidRequest(
    place,
    `${place} asks for the tool type ${JSON.stringify(type ?? null)}, which this model does not have`,
  )
}

// Tools and tool choice as a responses provider expects them.

export function encodeTool(tool: Tool): JsonObject {
  const { type, description } = tool
  const name = fitToolName(tool.name, 'tools')
  if (tool.type === 'custom') return defined({ type, name, description, format: tool.inputFormat })
  // Here a missing `strict` means true, and a schema written for another format may not comply.
  return defined({
    type,
    name,
    description,
    parameters: tool.schema,
    strict: tool.strict ?? false,
  })
}

export function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[]): string | JsonObject {
  const types = new Map(tools.map(({ name, type }) => [name, type]))
  const named = (name: string): JsonObject => ({
    type: types.get(name) ?? 'function',
    name,
  })
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    case 'tool':
      return named(choice.name)
    case 'allowed':
      return {
        type: 'allowed_tools',
        mode: choice.required ? 'required' : 'auto',
        tools: choice.names.map(named),
      }
  }
}
