// The tools of a messages request and how they may be chosen. Tools that only this format knows are dropped and named.
import { invalidRequest } from '../../core/errors.ts'
import { defined, isArray, isObject } from '../../core/json.ts'
import type { Conversation, Tool, ToolChoice } from '../../core/request.ts'
import type { Fields } from '../read.ts'
import {
  fieldsOf,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
  placeOf,
  requiredString,
} from '../read.ts'
import { decodeCacheMark } from './blocks-decode.ts'
import { isVendorTool } from './removals.ts'
import { shortToolName } from './tool-names.ts'

export function decodeTools(body: Fields, dropped: Set<string>): Tool[] {
  const loaded = loadedTools(body)
  const tools = new Map<string, Tool>()
  for (const [index, value] of (optionalList(body, 'tools') ?? []).entries()) {
    const fields = fieldsOf(value, `tools[${index}]`)
    const name = requiredString(fields, 'name')
    if (isVendorTool(fields.values)) {
      dropped.add(`tools.${String(fields.values['type'])}`)
    } else if (optionalBoolean(fields, 'defer_loading') === true && !loaded.has(name)) {
      // It waits for a search that other providers do not have; nothing in this conversation has loaded it.
      dropped.add('tools.defer_loading')
    } else {
      const tool = decodeTool(fields, dropped)
      if (tools.has(tool.name)) {
        throw invalidRequest(placeOf(fields, 'name'), `the tool name ${name} is given twice`)
      }
      tools.set(tool.name, tool)
    }
  }
  return [...tools.values()]
}

/** Only for a list of tools: a choice among none is meaningless, and refused by other providers. */
export function decodeToolChoice(
  body: Fields,
  tools: readonly Tool[],
  dropped: Set<string>,
): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  const fields = optionalObject(body, 'tool_choice')
  if (fields === undefined) return {}
  if (tools.length === 0) {
    dropped.add('tool_choice')
    return {}
  }
  const oneAtATime = optionalBoolean(fields, 'disable_parallel_tool_use')
  return defined({
    toolChoice: choiceOf(fields, tools),
    parallelToolCalls: oneAtATime === undefined ? undefined : !oneAtATime,
  })
}

function choiceOf(fields: Fields, tools: readonly Tool[]): ToolChoice {
  const type = requiredString(fields, 'type')
  switch (type) {
    case 'auto':
    case 'none':
      return { type }
    case 'any':
      return { type: 'required' }
    case 'tool': {
      const name = shortToolName(requiredString(fields, 'name'))
      if (tools.some((tool) => tool.name === name)) return { type: 'tool', name }
      throw invalidRequest(
        'tool_choice.name',
        `tool_choice names ${name}, which is not among the tools`,
      )
    }
    default:
      throw invalidRequest('tool_choice.type', `tool_choice.type ${type} is not known`)
  }
}

function decodeTool(fields: Fields, dropped: Set<string>): Tool {
  const schema = optionalObject(fields, 'input_schema')
  if (schema === undefined) {
    const place = placeOf(fields, 'input_schema')
    throw invalidRequest(place, `${place} is required: a JSON schema of the tool’s input`)
  }
  for (const name of ['input_examples', 'allowed_callers']) {
    if (fields.values[name] !== undefined) dropped.add(`tools.${name}`)
  }
  return defined({
    type: 'function' as const,
    name: shortToolName(requiredString(fields, 'name')),
    description: optionalString(fields, 'description'),
    schema: schema.values,
    strict: optionalBoolean(fields, 'strict'),
    cache: decodeCacheMark(fields),
  })
}

/** The names of the deferred tools that a search earlier in the conversation brought in. */
function loadedTools(body: Fields): ReadonlySet<string> {
  const names = new Set<string>()
  for (const message of optionalList(body, 'messages') ?? []) {
    const content = isObject(message) ? message['content'] : undefined
    for (const block of isArray(content) ? content : []) {
      const results = isObject(block) && block['type'] === 'tool_result' ? block['content'] : []
      for (const result of isArray(results) ? results : []) {
        if (isObject(result) && result['type'] === 'tool_reference')
          names.add(String(result['tool_name']))
      }
    }
  }
  return names
}
