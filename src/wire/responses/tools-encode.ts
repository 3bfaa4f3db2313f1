// Tools and tool choice as a responses provider expects them.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import { fitToolName } from '../tool-name.ts'

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
