// Tools and tool choice for generateContent, which supports functions only.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type { Conversation, ToolChoice } from '../../core/request.ts'
import { allowedFunctions, fitToolName } from '../content/tools.ts'

/** generateContent accepts a list of allowed tools only with a forced call, so the other tools are left out instead. */
export function encodeTools(request: Conversation): readonly JsonObject[] {
  return allowedFunctions(request).map(({ name, description, schema }) =>
    defined({
      name: fitToolName(name, 'tools'),
      description,
      parametersJsonSchema: { type: 'object', ...schema },
    }),
  )
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
