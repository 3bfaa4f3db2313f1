// Tools and tool choice for a messages provider, which supports functions only.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, Tool } from '../../core/request.ts'
import { CUSTOM_TOOL_SCHEMA, describeCustomTool } from '../custom-tools.ts'
import { allowedTools } from '../tool-choice.ts'
import { fitToolName } from '../tool-name.ts'
import { encodeCacheMark } from './cache-marks.ts'
import { isForcedInWords } from './forced-tool.ts'
import { adaptSchema } from '../schema-adapt.ts'
import { LONG_NAME_CHARACTERS_MAX } from './tool-names.ts'

/** The format has no list of allowed tools, so all others are left out instead. */
export function encodeTools(request: Conversation): JsonObject[] {
  return allowedTools(request).map(encodeTool)
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

/** The instruction for models that refuse a forced tool call. */
export function forcingWords(request: Conversation): string | undefined {
  if (!isForcedInWords(request)) return undefined
  const { toolChoice } = request
  return toolChoice?.type === 'tool'
    ? `Call the tool ${toolChoice.name}.`
    : 'Call at least one tool.'
}

function encodeTool(tool: Tool): JsonObject {
  const name = fitToolName(tool.name, 'tools', LONG_NAME_CHARACTERS_MAX)
  const cache_control = encodeCacheMark(tool.cache)
  switch (tool.type) {
    case 'function': {
      const { description, strict } = tool
      const input_schema = {
        type: 'object',
        ...(strict === true ? adaptSchema(tool.schema) : tool.schema),
      }
      return defined({
        name,
        description,
        input_schema,
        strict: strict === true ? true : undefined,
        cache_control,
      })
    }
    case 'custom':
      return defined({
        name,
        description: describeCustomTool(tool),
        input_schema: CUSTOM_TOOL_SCHEMA,
        cache_control,
      })
  }
}
