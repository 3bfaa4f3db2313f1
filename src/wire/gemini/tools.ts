// Tools and tool choice for generateContent, which supports functions only.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Tool, ToolChoice } from '../../core/request.ts'
import {
  allowedTools,
  CUSTOM_TOOL_SCHEMA,
  describeCustomTool,
  fitToolName,
} from '../content/tools.ts'

/** generateContent accepts a list of allowed tools only with a forced call, so the other tools are left out instead. */
export function encodeTools(request: Conversation): JsonObject[] {
  return allowedTools(request).map(encodeTool)
}

function encodeTool(tool: Tool): JsonObject {
  const name = fitToolName(tool.name, 'tools')
  switch (tool.type) {
    case 'function':
      return defined({
        name,
        description: tool.description,
        parametersJsonSchema: { type: 'object', ...tool.schema },
      })
    case 'custom':
      return defined({
        name,
        description: describeCustomTool(tool),
        parametersJsonSchema: CUSTOM_TOOL_SCHEMA,
      })
  }
}

export function encodeToolConfig(choice: ToolChoice | undefined): JsonObject | undefined {
  if (choice === undefined) return undefined
  return { functionCallingConfig: encodeCalling(choice) }
}

function encodeCalling(choice: ToolChoice): JsonObject {
  switch (choice.type) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      return { mode: choice.required ? 'ANY' : 'AUTO' }
  }
}
