// A canonical request as Converse expects it. The model and whether to stream are in the URL. What this format cannot
// express is left out: `losses.ts` has already reported it.
import assert from 'node:assert/strict'

import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { CanonicalRequest, Conversation, Tool, ToolChoice } from '../../core/request.ts'
import { CUSTOM_TOOL_SCHEMA, describeCustomTool } from '../custom-tools.ts'
import { adaptSchema } from '../schema-adapt.ts'
import { allowedTools } from '../tool-choice.ts'
import { fitToolName } from '../tool-name.ts'
import { calledTools } from './called-tools.ts'
import { encodeThinking } from './thinking-encode.ts'
import { encodeTurns } from './turns-encode.ts'

export function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'chat')
  const { system, messages } = encodeTurns(request)
  const { temperature, topP, stop } = request.sampling
  return defined({
    messages,
    system: system.length === 0 ? undefined : system,
    inferenceConfig: defined({
      maxTokens: request.outputTokensMax,
      temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
      topP,
      stopSequences: stop,
    }),
    toolConfig: encodeToolConfig(request),
    outputConfig: encodeOutputConfig(request),
    additionalModelRequestFields: encodeThinking(request),
  })
}

/** The schema is sent as JSON text. */
function encodeOutputConfig({ outputFormat }: Conversation): JsonObject | undefined {
  if (outputFormat?.type !== 'json-schema') return undefined
  const { name, description } = outputFormat
  const schema = JSON.stringify(adaptSchema(outputFormat.schema))
  const jsonSchema = defined({ name, description, schema })
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

/**
 * The format has no list of allowed tools and no way to forbid calls, so tools that may not be called are left out.
 * Where earlier turns have calls, some tools must be offered even if the choice forbids all of them.
 */
function encodeToolConfig(request: Conversation): JsonObject | undefined {
  const { toolChoice } = request
  const called = calledTools(request)
  const offered = allowedTools(request)
  if (toolChoice?.type === 'none' && called.length === 0) return undefined
  // Converse refuses calls of earlier turns when the request offers no tools.
  const told = offered.length > 0 ? offered : called
  if (told.length === 0) return undefined
  return defined({ tools: told.map(encodeTool), toolChoice: encodeToolChoice(toolChoice) })
}

function encodeTool(tool: Tool): JsonObject {
  const isCustom = tool.type === 'custom'
  return {
    toolSpec: defined({
      name: fitToolName(tool.name, 'tools'),
      description: isCustom ? describeCustomTool(tool) : tool.description,
      inputSchema: { json: isCustom ? CUSTOM_TOOL_SCHEMA : { type: 'object', ...tool.schema } },
    }),
  }
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
