// Tools and tool choice as a chat completions provider expects them.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import { fitToolName } from '../tool-name.ts'

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
