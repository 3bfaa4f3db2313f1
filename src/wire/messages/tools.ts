// The tools of a messages request: which of them a provider would run itself, how the others are carried to other formats
// and back, the choice among them, and names and ids that fit everywhere.
import { createHash } from 'node:crypto'
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isGiven, isObject, listOf, typeOf } from '../../core/json.ts'
import type { Conversation, Tool, ToolChoice } from '../../core/request.ts'
import { searchesWithin } from '../../core/request.ts'
import { adaptSchema, canBeStrict } from '../content/schemas.ts'
import type { FunctionTool } from '../content/tools.ts'
import { asksForTool, fitToolName, forcesTool, TOOL_NAME_CHARACTERS_MAX } from '../content/tools.ts'
import { cacheMarkOf } from '../contract/fields.ts'
import { claudeOf } from '../contract/models.ts'
import type { Placed } from '../json/expect.ts'
import { expect } from '../json/expect.ts'

/** Whether the provider runs this tool itself. */
export function isHosted(tool: Json | undefined): boolean {
  if (!isObject(tool) || typeof tool['type'] !== 'string') return false
  return tool['type'] !== 'custom' && !isVendorTool(tool)
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
  return typeOf(tool).includes('_toolset_') ? TOOLSET_MEMBERS : 1
}

/** A web search that the provider runs itself: the only hosted tool with a price. */
function isSearch(tool: Json): tool is JsonObject {
  return isObject(tool) && /^web_search_\d+$/.test(typeOf(tool))
}

/** The most searches that a request may run; 0 = it asks for none. */
export function searchesMaxOf(tools: readonly Json[]): number {
  const searches = tools.filter(isSearch)
  return searches.reduce((sum, { max_uses: limit }) => sum + searchesWithin(limit), 0)
}

/**
 * Every search tool gets a limit, or no hold would cover it. Only the model may call it: newer versions can also be
 * called by code that the model runs at the provider, and a search limit does not bound how often it runs code and
 * reads everything again.
 */
function withSearchLimit(tool: Json): Json {
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

/** Removes hosted tools, except for searches where the hold covers them. */
export function removeTools(
  { tools, tool_choice: choice }: JsonObject,
  maySearch: boolean,
  { changes, dropped }: Removing,
): void {
  if (!isArray(tools) || !tools.some(isHosted)) return
  const isGone = (tool: Json): boolean => isHosted(tool) && !(maySearch && isSearch(tool))
  const gone = tools.filter(isGone).filter(isObject)
  const kept = tools.filter((tool) => !isGone(tool)).map(withSearchLimit)
  for (const tool of gone) dropped.push(`tools.${typeOf(tool)}`)
  // Without its search tool a model could never reach the deferred tools, so they are loaded at once.
  const isSearchGone = gone.some((tool) => typeOf(tool).startsWith('tool_search_tool_'))
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

/** Tools that only this format has are dropped and named. */
export function decodeTools(body: Placed, dropped: Set<string>): Tool[] {
  const loaded = loadedTools(body.value)
  const tools = new Map<string, Tool>()
  for (const tool of body.get('tools', expect.placedList)) {
    if (isVendorTool(tool.value)) {
      dropped.add(`tools.${typeOf(tool.value)}`)
      continue
    }
    const at = tool.at('name')
    const name = fitToolName(tool.get('name', expect.name), at, LONG_NAME_CHARACTERS_MAX)
    const short = shortToolName(name)
    if (tool.value['defer_loading'] === true && !loaded.has(name)) {
      // It waits for a tool search that other providers lack, and nothing in this conversation has loaded it.
      dropped.add('tools.defer_loading')
    } else if (tools.has(short)) {
      throw invalidRequest(at, `${at} ${name} is already the name of another tool`)
    } else tools.set(short, { name: short, ...decodeTool(tool, dropped) })
  }
  return [...tools.values()]
}

/** Settings of a tool that no other format has. */
export const OWN_SETTINGS = ['input_examples', 'allowed_callers']

function decodeTool(tool: Placed, dropped: Set<string>) {
  for (const name of OWN_SETTINGS) {
    if (tool.value[name] !== undefined) dropped.add(`tools.${name}`)
  }
  const schema = tool.get('input_schema', expect.object)
  const strict = tool.optional('strict', expect.boolean)
  // Here, properties of a strict tool may be optional.
  const isLoose = strict === true && !canBeStrict(schema)
  if (isLoose) dropped.add('tools.strict')
  return defined({
    type: 'function' as const,
    description: tool.optional('description', expect.text),
    schema,
    strict: isLoose ? undefined : strict,
    cache: cacheMarkOf(tool, 'cache_control'),
  })
}

/** The deferred tools that a search earlier in the conversation loaded. */
function loadedTools({ messages }: JsonObject): ReadonlySet<unknown> {
  const references = objectsIn(messages)
    .flatMap(({ content }) => objectsIn(content))
    .filter((block) => typeOf(block) === 'tool_result')
    .flatMap(({ content }) => objectsIn(content))
    .filter((result) => typeOf(result) === 'tool_reference')
  return new Set(references.map(({ tool_name: name }) => name))
}

function objectsIn(list: Json | undefined): readonly JsonObject[] {
  return listOf(list).filter(isObject)
}

export function decodeToolChoice(
  body: Placed,
  tools: readonly Tool[],
  dropped: Set<string>,
): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  const choice = body.get('tool_choice', expect.placed)
  if (tools.length === 0) {
    if (asksForTool(choice.value['type'])) dropped.add('tool_choice')
    return {}
  }
  const isSingle = choice.optional('disable_parallel_tool_use', expect.boolean)
  const toolChoice = choiceOf(choice, tools, objectsIn(body.value['tools']))
  if (toolChoice === undefined) dropped.add('tool_choice')
  return defined({
    toolChoice,
    parallelToolCalls: isSingle === undefined ? undefined : !isSingle,
  })
}

const expectChoice = expect.oneOf(['auto', 'none', 'any', 'tool'])

/** Undefined for a tool that the client declared but that was left out. */
function choiceOf(
  choice: Placed,
  tools: readonly Tool[],
  given: readonly JsonObject[],
): ToolChoice | undefined {
  const type = choice.get('type', expectChoice)
  switch (type) {
    case 'auto':
    case 'none':
      return { type }
    case 'any':
      return { type: 'required' }
    case 'tool': {
      const chosen = choice.get('name', expect.name)
      const name = shortToolName(chosen)
      if (tools.some((tool) => tool.name === name)) return { type, name }
      if (given.some((tool) => tool['name'] === chosen)) return undefined
      throw invalidRequest('tool_choice.name', `tool_choice.name ${name} is not among the tools`)
    }
  }
}

export function encodeTool({ name, description, schema, strict }: FunctionTool): JsonObject {
  const isStrict = strict === true
  return defined({
    name: fitToolName(name, 'tools', LONG_NAME_CHARACTERS_MAX),
    description,
    input_schema: { type: 'object', ...(isStrict ? adaptSchema(schema) : schema) },
    strict: isStrict ? true : undefined,
  })
}

/** Only for a request with tools: providers refuse a choice when there are none. */
export function encodeToolChoice(request: Conversation): JsonObject | undefined {
  const { parallelToolCalls } = request
  const toolChoice = isForcedInWords(request) ? AUTO : request.toolChoice
  // Single calls can be requested only together with a choice.
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  switch (toolChoice?.type) {
    case undefined:
      return parallelToolCalls === false ? { type: 'auto', ...single } : undefined
    case 'auto':
      return { type: 'auto', ...single }
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any', ...single }
    case 'tool':
      return { type: 'tool', name: toolChoice.name, ...single }
    case 'allowed':
      return { type: toolChoice.required ? 'any' : 'auto', ...single }
  }
}

const AUTO = { type: 'auto' } as const

/** Whether a required tool call must be requested in words, because the Claude model refuses a forced one. */
export function isForcedInWords(request: Conversation): boolean {
  return forcesTool(request) && !claudeOf(request).takesForcedTool
}

/** The instruction for models that refuse a forced tool call. */
export function forcingWords(request: Conversation): string | undefined {
  if (!isForcedInWords(request)) return undefined
  const { toolChoice } = request
  return toolChoice?.type === 'tool'
    ? `Call the tool ${toolChoice.name}.`
    : 'Call at least one tool.'
}

/** Other formats allow 64: longer names are shortened when a request is decoded, and restored in its answer. */
const LONG_NAME_CHARACTERS_MAX = 128
/** 120 bits: two names will never share a hash. */
const HASH_CHARACTERS = 20

/** The same short name for the same long one, in every turn of a conversation. */
export function shortToolName(name: string): string {
  if (name.length <= TOOL_NAME_CHARACTERS_MAX) return name
  return `${name.slice(0, TOOL_NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hashOf(name)}`
}

/** Providers of this format accept only letters, digits, - and _ in ids; other formats allow more. */
export function plainCallId(id: string): string {
  return /^[a-zA-Z0-9_-]+$/.test(id) ? id : `toolu_${hashOf(id)}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, HASH_CHARACTERS)
}
