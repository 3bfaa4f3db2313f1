// The tools and the tool choice of a messages request. Tools that only this format has are dropped and named.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isObject, listOf, typeOf } from '../../core/json.ts'
import type { Conversation, Tool, ToolChoice } from '../../core/request.ts'
import { asksForTool } from '../choice-among-none.ts'
import {
  expectBoolean,
  expectList,
  expectName,
  expectObject,
  expectOneOf,
  expectText,
  optional,
} from '../expect.ts'
import { canBeStrict } from '../strict-schema.ts'
import { fitToolName } from '../tool-name.ts'
import { decodeCacheMark } from './cache-marks.ts'
import { isVendorTool } from './search.ts'
import { LONG_NAME_CHARACTERS_MAX, shortToolName } from './tool-names.ts'

export function decodeTools(body: JsonObject, dropped: Set<string>): Tool[] {
  const loaded = loadedTools(body)
  const tools = new Map<string, Tool>()
  for (const [index, value] of (optional(body['tools'], 'tools', expectList) ?? []).entries()) {
    const place = `tools[${index}]`
    const tool = expectObject(value, place)
    if (isVendorTool(tool)) {
      dropped.add(`tools.${String(tool['type'])}`)
      continue
    }
    const at = `${place}.name`
    const name = fitToolName(expectName(tool['name'], at), at, LONG_NAME_CHARACTERS_MAX)
    const short = shortToolName(name)
    if (tool['defer_loading'] === true && !loaded.has(name)) {
      // It waits for a tool search that other providers lack, and nothing in this conversation has loaded it.
      dropped.add('tools.defer_loading')
    } else if (tools.has(short)) {
      throw invalidRequest(at, `${at} ${name} is already the name of another tool`)
    } else tools.set(short, { name: short, ...decodeTool(tool, place, dropped) })
  }
  return [...tools.values()]
}

export function decodeToolChoice(
  body: JsonObject,
  tools: readonly Tool[],
  dropped: Set<string>,
): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  const choice = optional(body['tool_choice'], 'tool_choice', expectObject)
  if (choice === undefined) return {}
  if (tools.length === 0) {
    if (asksForTool(choice['type'])) dropped.add('tool_choice')
    return {}
  }
  const isSingle = optional(
    choice['disable_parallel_tool_use'],
    'tool_choice.disable_parallel_tool_use',
    expectBoolean,
  )
  const toolChoice = choiceOf(choice, tools, objectsIn(body['tools']))
  if (toolChoice === undefined) dropped.add('tool_choice')
  return defined({
    toolChoice,
    parallelToolCalls: isSingle === undefined ? undefined : !isSingle,
  })
}

const expectChoice = expectOneOf(['auto', 'none', 'any', 'tool'])

/** Undefined for a tool that the client declared but that was left out. */
function choiceOf(
  choice: JsonObject,
  tools: readonly Tool[],
  given: readonly JsonObject[],
): ToolChoice | undefined {
  const type = expectChoice(choice['type'], 'tool_choice.type')
  switch (type) {
    case 'auto':
    case 'none':
      return { type }
    case 'any':
      return { type: 'required' }
    case 'tool': {
      const chosen = expectName(choice['name'], 'tool_choice.name')
      const name = shortToolName(chosen)
      if (tools.some((tool) => tool.name === name)) return { type, name }
      if (given.some((tool) => tool['name'] === chosen)) return undefined
      throw invalidRequest('tool_choice.name', `tool_choice.name ${name} is not among the tools`)
    }
  }
}

/** Settings of a tool that no other format has. */
export const OWN_SETTINGS = ['input_examples', 'allowed_callers']

function decodeTool(tool: JsonObject, place: string, dropped: Set<string>) {
  for (const name of OWN_SETTINGS) {
    if (tool[name] !== undefined) dropped.add(`tools.${name}`)
  }
  const schema = expectObject(tool['input_schema'], `${place}.input_schema`)
  const strict = optional(tool['strict'], `${place}.strict`, expectBoolean)
  // Here, properties of a strict tool may be optional.
  const isLoose = strict === true && !canBeStrict(schema)
  if (isLoose) dropped.add('tools.strict')
  return defined({
    type: 'function' as const,
    description: optional(tool['description'], `${place}.description`, expectText),
    schema,
    strict: isLoose ? undefined : strict,
    cache: decodeCacheMark(tool, place),
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
