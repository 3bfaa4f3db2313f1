// Tools and tool choice as Converse expects them, and the tools that a conversation has called, whether or not it still
// offers them: Converse refuses calls without tools.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, ToolChoice } from '../../core/request.ts'
import { allowedFunctions, callsIn, fitToolName } from '../content/tools.ts'
import type { FunctionTool } from '../content/tools.ts'

/**
 * The format has no list of allowed tools and no way to forbid calls, so tools that may not be called are left out.
 * Where earlier turns have calls, some tools must be offered even if the choice forbids all of them.
 */
export function encodeToolConfig(request: Conversation): JsonObject | undefined {
  const { toolChoice } = request
  const called = calledTools(request)
  const offered = allowedFunctions(request)
  if (toolChoice?.type === 'none' && called.length === 0) return undefined
  // Converse refuses calls of earlier turns when the request offers no tools.
  const told = offered.length > 0 ? offered : called
  if (told.length === 0) return undefined
  return defined({ tools: told.map(encodeTool), toolChoice: encodeToolChoice(toolChoice) })
}

function encodeTool({ name, description, schema }: FunctionTool): JsonObject {
  const inputSchema = { json: { type: 'object', ...schema } }
  return { toolSpec: defined({ name: fitToolName(name, 'tools'), description, inputSchema }) }
}

function encodeToolChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  switch (choice?.type) {
    case undefined:
    case 'none':
      return undefined
    case 'auto':
      return { auto: {} }
    case 'required':
      return { any: {} }
    case 'tool':
      return { tool: { name: choice.name } }
    case 'allowed':
      return choice.required ? { any: {} } : { auto: {} }
  }
}

export function calledTools({ messages }: Conversation): readonly FunctionTool[] {
  const names = new Set(callsIn(messages).map(({ name }) => name))
  return [...names].map((name) => ({ type: 'function', name, schema: {} }))
}
