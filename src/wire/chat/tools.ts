// Tools that the provider runs itself, at a price and in the account that all keys share. They are removed from every
// request; only tools that the client runs stay.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isGiven, isObject, listOf, typeOf } from '../../core/json.ts'
import type { CacheMark, Tool, ToolChoice } from '../../core/request.ts'
import { expectCacheMark } from '../content/caching.ts'
import { asksForTool, decodeParameters, fitToolName } from '../content/tools.ts'
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

// The deprecated form of tools, `functions`: a message calls at most one.

/** Whether the client uses only the deprecated form. */
export function knowsOnlyFunctions({ functions, tools }: JsonObject): boolean {
  return isGiven(functions) && !isGiven(tools)
}

// The tools and the tool choice of a chat completions request, deprecated functions included.

export function decodeTools(body: JsonObject): readonly Tool[] {
  const tools = optional(body['tools'], 'tools', expectList) ?? []
  const functions = optional(body['functions'], 'functions', expectList) ?? []
  return [
    ...tools.flatMap((tool, index) =>
      isHosted(tool) ? [] : [decodeTool(tool, `tools[${index}]`)],
    ),
    ...functions.map((tool, index) => decodeFunction(tool, `functions[${index}]`)),
  ]
}

function decodeTool(value: Json, place: string): Tool {
  const tool = expectObject(value, place)
  const cache = markOf(tool, place)
  if (tool['type'] !== 'custom') {
    return { ...decodeFunction(tool['function'], `${place}.function`), ...cache }
  }
  const custom = expectObject(tool['custom'], `${place}.custom`)
  return {
    type: 'custom',
    name: expectName(custom['name'], `${place}.custom.name`),
    ...defined({
      description: optional(custom['description'], `${place}.custom.description`, expectText),
      inputFormat: optional(custom['format'], `${place}.custom.format`, decodeInputFormat),
    }),
    ...cache,
  }
}

function decodeFunction(value: Json | undefined, place: string): Tool {
  const tool = expectObject(value, place)
  return {
    type: 'function',
    name: expectName(tool['name'], `${place}.name`),
    schema: decodeParameters(tool['parameters'], `${place}.parameters`),
    ...defined({
      description: optional(tool['description'], `${place}.description`, expectText),
      strict: optional(tool['strict'], `${place}.strict`, expectBoolean),
    }),
  }
}

/** This format nests a grammar one level deeper than the canonical form does. */
function decodeInputFormat(value: unknown, place: string): JsonObject {
  const format = expectObject(value, place)
  if (format['type'] !== 'grammar') return format
  return { type: 'grammar', ...expectObject(format['grammar'], `${place}.grammar`) }
}

const CHOICES = ['auto', 'none', 'required'] as const

export function decodeToolChoice(
  body: JsonObject,
  tools: readonly Tool[],
  dropped: Set<string>,
): ToolChoice | undefined {
  if (tools.length === 0) {
    if (asksForTool(body['tool_choice'])) dropped.add('tool_choice')
    if (asksForTool(body['function_call'])) dropped.add('function_call')
    return undefined
  }
  const place = isGiven(body['tool_choice']) ? 'tool_choice' : 'function_call'
  const value = body[place]
  if (!isGiven(value)) return undefined
  const word = CHOICES.find((each) => each === value)
  if (word !== undefined) return { type: word }
  const choice = expectObject(value, place)
  const known = new Set(tools.map(({ name }) => name))
  if (choice['type'] === 'allowed_tools') return decodeAllowed(choice['allowed_tools'], known)
  const chosen = place === 'function_call' ? choice : namedIn(choice, place)
  return { type: 'tool', name: knownTool(chosen['name'], place, known) }
}

function decodeAllowed(value: Json | undefined, known: ReadonlySet<string>): ToolChoice {
  const place = 'tool_choice.allowed_tools'
  const allowed = expectObject(value, place)
  const mode = expectOneOf(['auto', 'required'])(allowed['mode'] ?? 'auto', `${place}.mode`)
  const names = expectList(allowed['tools'], `${place}.tools`).map((entry, index) => {
    const at = `${place}.tools[${index}]`
    return knownTool(namedIn(expectObject(entry, at), at)['name'], at, known)
  })
  return { type: 'allowed', names, required: mode === 'required' }
}

/** The object that holds the tool's name: it is found under the tool's type. */
function namedIn(choice: JsonObject, place: string): JsonObject {
  const type = expectOneOf(['function', 'custom'])(choice['type'], `${place}.type`)
  return expectObject(choice[type], `${place}.${type}`)
}

function knownTool(value: unknown, place: string, known: ReadonlySet<string>): string {
  const name = expectName(value, place)
  if (known.has(name)) return name
  throw invalidRequest(place, `${place} names the tool "${name}", which is not among the tools`)
}

/** A message carries only one deprecated call, so a client that uses only `functions` gets no parallel calls. */
export function decodeParallel(body: JsonObject, dropped: Set<string>): boolean | undefined {
  const asked = optional(body['parallel_tool_calls'], 'parallel_tool_calls', expectBoolean)
  if (!knowsOnlyFunctions(body)) return asked
  if (asked === true) dropped.add('parallel_tool_calls')
  return false
}

/** The format's own cache mark, or the one that clients of other gateways write on chat parts. */
export function markOf(part: JsonObject, place: string): { readonly cache?: CacheMark } {
  const name = isObject(part['prompt_cache_breakpoint'])
    ? 'prompt_cache_breakpoint'
    : 'cache_control'
  const cache = optional(part[name], `${place}.${name}`, expectCacheMark)
  return cache === undefined ? {} : { cache }
}

// Tools and tool choice as a chat completions provider expects them.

export function encodeTool(tool: Tool): JsonObject {
  const { description } = tool
  const name = fitToolName(tool.name, 'tools')
  if (tool.type === 'function') {
    const { schema: parameters, strict } = tool
    return { type: 'function', function: defined({ name, description, parameters, strict }) }
  }
  const format = tool.inputFormat === undefined ? undefined : encodeInputFormat(tool.inputFormat)
  return { type: 'custom', custom: defined({ name, description, format }) }
}

/** This format nests a grammar one level deeper than the canonical form does. */
function encodeInputFormat(inputFormat: JsonObject): JsonObject {
  const { type, ...grammar } = inputFormat
  return type === 'grammar' ? { type, grammar } : inputFormat
}

export function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[]): string | JsonObject {
  const types = new Map(tools.map(({ name, type }) => [name, type]))
  const named = (name: string): JsonObject => {
    const type = types.get(name) ?? 'function'
    return { type, [type]: { name } }
  }
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    case 'tool':
      return named(choice.name)
    case 'allowed': {
      const mode = choice.required ? 'required' : 'auto'
      return { type: 'allowed_tools', allowed_tools: { mode, tools: choice.names.map(named) } }
    }
  }
}
