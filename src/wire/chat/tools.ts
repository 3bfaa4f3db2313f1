// The tools of a chat completions request and the choice among them, deprecated `functions` included.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isGiven, isObject, typeOf } from '../../core/json.ts'
import type { CacheMark, Tool, ToolChoice } from '../../core/request.ts'
import { asksForTool, decodeParameters, encodeChoice, fitToolName } from '../content/tools.ts'
import { cacheMarkOf } from '../contract/fields.ts'
import type { Placed } from '../json/expect.ts'
import { expect } from '../json/expect.ts'

/** Whether the provider would run this tool itself. */
export function isHosted(tool: Json): tool is JsonObject {
  if (!isObject(tool)) return false
  const type = typeOf(tool)
  // A function may omit its type, and so may a hosted tool: LiteLLM accepts Gemini's as {"googleSearch": {}}.
  return type === '' ? !isGiven(tool['function']) : type !== 'function' && type !== 'custom'
}

/** Whether the client uses only the deprecated form of tools, in which a message calls at most one. */
export function knowsOnlyFunctions({ functions, tools }: JsonObject): boolean {
  return isGiven(functions) && !isGiven(tools)
}

export function decodeTools(body: Placed): readonly Tool[] {
  const tools = body.optional('tools', expect.placedList) ?? []
  const functions = body.optional('functions', expect.placedList) ?? []
  return [
    ...tools.filter(({ value }) => !isHosted(value)).map(decodeTool),
    ...functions.map(decodeFunction),
  ]
}

function decodeTool(tool: Placed): Tool {
  const cache = decodeCacheMark(tool)
  if (tool.value['type'] !== 'custom') {
    return defined({ ...decodeFunction(tool.get('function', expect.placed)), cache })
  }
  const custom = tool.get('custom', expect.placed)
  return defined({
    type: 'custom' as const,
    name: custom.get('name', expect.name),
    description: custom.optional('description', expect.text),
    inputFormat: custom.optional('format', decodeInputFormat),
    cache,
  })
}

function decodeFunction(tool: Placed): Tool {
  return defined({
    type: 'function' as const,
    name: tool.get('name', expect.name),
    schema: tool.get('parameters', decodeParameters),
    description: tool.optional('description', expect.text),
    strict: tool.optional('strict', expect.boolean),
  })
}

/** The format's own cache mark, or the one that clients of other gateways write. */
export function decodeCacheMark(holder: Placed): CacheMark | undefined {
  const isOwn = isObject(holder.value['prompt_cache_breakpoint'])
  return cacheMarkOf(holder, isOwn ? 'prompt_cache_breakpoint' : 'cache_control')
}

/** This format nests a grammar one level deeper than the canonical form does. */
function decodeInputFormat(value: unknown, place: string): JsonObject {
  const format = expect.placed(value, place)
  if (format.value['type'] !== 'grammar') return format.value
  return { type: 'grammar', ...format.get('grammar', expect.object) }
}

const CHOICES = ['auto', 'none', 'required'] as const

export function decodeToolChoice(
  body: Placed,
  tools: readonly Tool[],
  dropped: Set<string>,
): ToolChoice | undefined {
  const { tool_choice: given, function_call: legacy } = body.value
  if (tools.length === 0) {
    if (asksForTool(given)) dropped.add('tool_choice')
    if (asksForTool(legacy)) dropped.add('function_call')
    return undefined
  }
  const word = CHOICES.find((each) => each === (given ?? legacy))
  if (word !== undefined) return { type: word }
  const known = new Set(tools.map(({ name }) => name))
  if (!isGiven(given)) {
    const called = body.optional('function_call', expect.placed)
    return called && { type: 'tool', name: knownTool(called.value, called.place, known) }
  }
  const choice = body.get('tool_choice', expect.placed)
  if (choice.value['type'] !== 'allowed_tools') {
    return { type: 'tool', name: knownTool(named(choice), choice.place, known) }
  }
  const allowed = choice.get('allowed_tools', expect.placed)
  const mode = expect.oneOf(['auto', 'required'])(
    allowed.value['mode'] ?? 'auto',
    allowed.at('mode'),
  )
  const names = allowed
    .get('tools', expect.placedList)
    .map((tool) => knownTool(named(tool), tool.place, known))
  return { type: 'allowed', names, required: mode === 'required' }
}

/** The object that holds the tool's name: it is found under the tool's type. */
function named(choice: Placed): JsonObject {
  return choice.get(choice.get('type', expect.oneOf(['function', 'custom'])), expect.object)
}

function knownTool({ name: given }: JsonObject, place: string, known: ReadonlySet<string>): string {
  const name = expect.name(given, place)
  if (known.has(name)) return name
  throw invalidRequest(place, `${place} names the tool "${name}", which is not among the tools`)
}

/** A message carries only one deprecated call, so a client that uses only `functions` gets no parallel calls. */
export function decodeParallel(body: Placed, dropped: Set<string>): boolean | undefined {
  const asked = body.optional('parallel_tool_calls', expect.boolean)
  if (!knowsOnlyFunctions(body.value)) return asked
  if (asked === true) dropped.add('parallel_tool_calls')
  return false
}

export function encodeTool(tool: Tool): JsonObject {
  const { description } = tool
  const name = fitToolName(tool.name, 'tools')
  if (tool.type === 'function') {
    const { schema: parameters, strict } = tool
    return { type: 'function', function: defined({ name, description, parameters, strict }) }
  }
  const format = tool.inputFormat && encodeInputFormat(tool.inputFormat)
  return { type: 'custom', custom: defined({ name, description, format }) }
}

function encodeInputFormat(inputFormat: JsonObject): JsonObject {
  const { type, ...grammar } = inputFormat
  return type === 'grammar' ? { type, grammar } : inputFormat
}

export function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[]): Json {
  const encoded = encodeChoice(choice, tools, (name, type) => ({ type, [type]: { name } }))
  if (choice.type !== 'allowed') return encoded
  return { type: 'allowed_tools', allowed_tools: encoded }
}
