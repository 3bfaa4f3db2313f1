// Custom tools, which take a free text, at providers that know functions only: a function with one text argument stands
// for the tool, and what the model calls it with is given back to the client as the text it is.
import type { CanonicalEvent } from '../core/events.ts'
import type { JsonObject } from '../core/json.ts'
import { parseObject, stringOf } from '../core/json.ts'
import type { Tool } from '../core/request.ts'

/** The input of the function that stands for a custom tool. */
export const CUSTOM_TOOL_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** A description that also tells the format of the input, where there is one. */
export function describeCustomTool(tool: Extract<Tool, { type: 'custom' }>): string | undefined {
  const format = tool.inputFormat
  if (format === undefined || format['type'] === 'text') return tool.description
  const rule = `The input must follow this format: ${JSON.stringify(format)}`
  return tool.description === undefined ? rule : `${tool.description}\n\n${rule}`
}

export function wrapCustomInput(input: string): JsonObject {
  return { input }
}

export function unwrapCustomInput(text: string): string {
  // A model that broke the wrapping meant its text as the input.
  return stringOf(parseObject(text)?.['input']) ?? text
}

/** Calls of the named tools as custom ones again. Half a JSON text cannot be unwrapped: the input comes at its end. */
export function restoreCustomCalls(
  names: ReadonlySet<string>,
): (event: CanonicalEvent) => readonly CanonicalEvent[] {
  /** The input so far of the wrapped call that is open in a choice. */
  const inputs = new Map<number, string>()
  return (event) => {
    if (!('block' in event)) return [event]
    const input = inputs.get(event.choice)
    if (event.type === 'tool-call-start' && !event.custom && names.has(event.name)) {
      inputs.set(event.choice, '')
      return [{ ...event, custom: true }]
    }
    if (input === undefined) return [event]
    if (event.type === 'tool-call-delta') {
      inputs.set(event.choice, input + event.text)
      return []
    }
    inputs.delete(event.choice)
    const { choice, block } = event
    return [{ type: 'tool-call-delta', choice, block, text: unwrapCustomInput(input) }, event]
  }
}
