// The tools of a responses request: which of them a provider would run itself, the flat names that other formats use for
// them, namespaces included, and the choice among them.
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
import type { Tool, ToolChoice } from '../../core/request.ts'
import { searchesWithin } from '../../core/request.ts'
import {
  asksForTool,
  decodeParameters,
  encodeChoice,
  fitToolName,
  isToolName,
} from '../content/tools.ts'
import { expect, Placed } from '../json/expect.ts'

type UsableTools = {
  readonly tools: readonly Json[]
  readonly toolChoice: Json | undefined
  /** The input; its items may bring tools too. */
  readonly input: Json | undefined
  /** Names of what was removed; empty = everything is as the client sent it. */
  readonly dropped: readonly string[]
}

/**
 * The request's tools without hosted ones, whose price no hold covers, except for web searches where it does; and in
 * translation without those that only the format's own models know.
 */
export function usableTools(
  body: JsonObject,
  { maySearch = false, isTranslated = false } = {},
): UsableTools {
  const isTaken = isTranslated ? (tool: Json) => isHosted(tool) || isVendorTool(tool) : isHosted
  const isGone = maySearch ? (tool: Json) => isTaken(tool) && !isSearch(tool) : isTaken
  const given = listOf(body['tools'])
  const { input, brought } = usableInput(body['input'])
  const gone = [...given.filter(isGone), ...brought.filter(isTaken)]
  const dropped = new Set(gone.map((tool) => `tools.${toolType(tool)}`))
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
function usableInput(input: Json | undefined) {
  const brought = listOf(input).flatMap(toolsIn)
  if (!isArray(input) || !brought.some(isHosted)) return { input, brought }
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
  ...['tool_search', 'local_shell', 'apply_patch', 'computer', 'computer_use_preview'],
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
  return stringOf(objectOf(tool)['type']) ?? 'unknown'
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
  const declared = declaredTools(body).map(({ value }) => value)
  for (const { name, type } of declared) {
    if (typeof name === 'string' && type !== 'namespace') {
      own.set(name, { name, custom: type === 'custom' })
    }
  }
  const flat = (name: string, namespace: string | undefined): string => {
    if (namespace === undefined) return name
    const joined = `${namespace}__${name}`
    const isTaken = own.has(joined) && own.get(joined)?.namespace !== namespace
    return isToolName(joined) && !isTaken ? joined : digestName(namespace, name)
  }
  for (const { name: namespace, type, tools } of declared) {
    if (type !== 'namespace' || typeof namespace !== 'string') continue
    for (const { name, type: inner } of listOf(tools).map(objectOf)) {
      if (typeof name !== 'string') continue
      own.set(flat(name, namespace), { name, namespace, custom: inner === 'custom' })
    }
  }
  return {
    flat,
    has: (name) => own.has(name),
    own: (name) => own.get(name) ?? { name, custom: false },
    custom: new Set([...own].filter(([, tool]) => tool.custom).map(([name]) => name)),
  }
}

/** Every tool object of the request: those in `tools`, and those that input items add later. */
function declaredTools(body: JsonObject): Placed[] {
  const declared = placed(body['tools'], 'tools')
  for (const [index, item] of listOf(body['input']).entries()) {
    if (!isObject(item) || item['type'] !== 'additional_tools') continue
    declared.push(...placed(item['tools'], `input[${index}].tools`))
  }
  return declared
}

function placed(tools: Json | undefined, place: string): Placed[] {
  return listOf(tools).flatMap((tool, index) =>
    isObject(tool) ? [new Placed(tool, `${place}[${index}]`)] : [],
  )
}

const DIGEST_DIGITS = 16
const READABLE_CHARACTERS = 40

function digestName(namespace: string, name: string): string {
  const digest = createHash('sha256').update(`${namespace}\0${name}`).digest('hex')
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, READABLE_CHARACTERS)
  return `${readable}__${digest.slice(0, DIGEST_DIGITS)}`
}

export type Reading = {
  readonly names: ToolNames
  /** Collects the names of what has no place in the canonical form. */
  readonly dropped: Set<string>
}

export function decodeTools(body: Placed, reading: Reading): Tool[] {
  body.optional('tools', expect.placedList)
  return declaredTools(body.value).flatMap((tool) => decodeTool(tool, reading))
}

function decodeTool(tool: Placed, reading: Reading): Tool[] {
  switch (typeOf(tool.value)) {
    case 'function':
    case 'custom':
      return [decodeOne(tool, undefined, reading)]
    case 'namespace': {
      const namespace = tool.get('name', expect.name)
      if ((tool.value['description'] ?? '') !== '') {
        reading.dropped.add('tools.namespace.description')
      }
      return tool
        .get('tools', expect.placedList)
        .map((inner) => decodeOne(inner, namespace, reading))
    }
    default:
      // Hosted tools, and client tools whose schema only the format's own models know.
      reading.dropped.add(`tools.${tool.get('type', expect.name)}`)
      return []
  }
}

/** Settings of a tool that no other format has. */
export const OWN_SETTINGS = ['defer_loading', 'async', 'output_schema', 'allowed_callers']

const expectToolType = expect.oneOf(['function', 'custom'])

function decodeOne(tool: Placed, namespace: string | undefined, reading: Reading): Tool {
  const type = tool.get('type', expectToolType)
  for (const name of OWN_SETTINGS) {
    if ((tool.value[name] ?? false) !== false) reading.dropped.add(`tools.${name}`)
  }
  const name = reading.names.flat(tool.get('name', expect.name), namespace)
  const description = tool.optional('description', expect.text)
  if (type === 'custom') {
    return defined({ type, name, description, inputFormat: tool.optional('format', expect.object) })
  }
  const schema = tool.get('parameters', decodeParameters)
  return defined({
    type,
    name,
    description,
    schema,
    strict: tool.optional('strict', expect.boolean),
  })
}

export function decodeToolChoice(
  { value: body }: Placed,
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
    return { type: expect.oneOf(['auto', 'none', 'required'])(toolChoice, 'tool_choice') }
  }
  const choice = expect.placed(toolChoice, 'tool_choice')
  switch (typeOf(choice.value)) {
    case 'function':
    case 'custom':
      return { type: 'tool', name: chosenName(choice, reading) }
    case 'allowed_tools':
      return decodeAllowed(choice, body, reading)
    default:
      throw cannotForce(choice)
  }
}

const expectMode = expect.oneOf(['auto', 'required'])

function decodeAllowed(choice: Placed, body: JsonObject, reading: Reading): ToolChoice {
  const mode = choice.get('mode', expectMode)
  const names = new Set<string>()
  // A namespace may be named many times; its tools are looked up once.
  const namespaces = new Set<Json | undefined>()
  for (const tool of choice.get('tools', expect.placedList)) {
    switch (typeOf(tool.value)) {
      case 'function':
      case 'custom':
        names.add(chosenName(tool, reading))
        break
      case 'namespace':
        namespaces.add(tool.value['name'])
        break
      default:
        throw cannotForce(tool)
    }
  }
  for (const tool of declaredTools(body)) {
    if (tool.value['type'] !== 'namespace' || !namespaces.has(tool.value['name'])) continue
    for (const { name } of decodeTool(tool, reading)) names.add(name)
  }
  return { type: 'allowed', names: [...names], required: mode === 'required' }
}

function chosenName(tool: Placed, { names }: Reading): string {
  const namespace = tool.optional('namespace', expect.name)
  const name = tool.get('name', expect.name)
  const flat = names.flat(name, namespace)
  if (names.has(flat)) return flat
  const { place } = tool
  throw invalidRequest(place, `${place} names the tool "${name}", which is not among the tools`)
}

function cannotForce({ value: { type = null }, place }: Placed): GatewayError {
  return invalidRequest(
    place,
    `${place} asks for the tool type ${JSON.stringify(type)}, which this model does not have`,
  )
}

export function encodeTool(tool: Tool): JsonObject {
  const { type, description } = tool
  const name = fitToolName(tool.name, 'tools')
  if (tool.type === 'custom') return defined({ type, name, description, format: tool.inputFormat })
  // Here a missing `strict` means true, and a schema written for another format may not comply.
  const { schema: parameters, strict = false } = tool
  return defined({ type, name, description, parameters, strict })
}

export function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[]): string | JsonObject {
  const encoded = encodeChoice(choice, tools, (name, type) => ({ type, name }))
  return typeof encoded !== 'string' && choice.type === 'allowed'
    ? { type: 'allowed_tools', ...encoded }
    : encoded
}
