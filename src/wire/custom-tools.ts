// Custom tools, which take free text, for providers that support functions only: a function with one string argument
// stands for the tool, and the client gets that argument back as plain text.
import type { CanonicalEvent } from '../core/events.ts'
import type { JsonObject } from '../core/json.ts'
import { parseObject, stringOf } from '../core/json.ts'
import type { AssistantPart, Conversation, Tool } from '../core/request.ts'
import type { Addressee } from './known-names.ts'
import { openAiOf } from './openai.ts'

/** Only OpenAI's models take custom tools; other servers that speak its formats refuse them. */
export function takesCustomTools(addressee: Addressee): boolean {
  return openAiOf(addressee) !== undefined
}

/** The same conversation with functions in place of custom tools, and calls of those in its history. */
export function withFunctionsOnly(request: Conversation): Conversation {
  return {
    ...request,
    tools: request.tools.map(asFunction),
    messages: request.messages.map((message) =>
      message.role === 'assistant'
        ? { ...message, parts: message.parts.map(asFunctionCall) }
        : message,
    ),
  }
}

/** The input of the function that stands for a custom tool. */
export const CUSTOM_TOOL_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** The description, followed by the input format if there is one. */
export function describeCustomTool(tool: Extract<Tool, { type: 'custom' }>): string | undefined {
  const format = tool.inputFormat
  if (format === undefined || format['type'] === 'text') return tool.description
  const rule = `The input must follow this format: ${JSON.stringify(format)}`
  return tool.description === undefined ? rule : `${tool.description}\n\n${rule}`
}

function asFunction(tool: Tool): Tool {
  if (tool.type === 'function') return tool
  const { inputFormat: _, ...named } = tool
  const description = describeCustomTool(tool)
  return {
    ...named,
    type: 'function',
    schema: CUSTOM_TOOL_SCHEMA,
    ...(description !== undefined && { description }),
  }
}

function asFunctionCall(part: AssistantPart): AssistantPart {
  if (part.type !== 'tool-call' || !part.custom) return part
  return { ...part, input: JSON.stringify(wrapCustomInput(part.input)), custom: false }
}

export function wrapCustomInput(input: string): JsonObject {
  return { input }
}

export function unwrapCustomInput(text: string): string {
  // A model that ignored the wrapping meant its text as the input.
  return stringOf(parseObject(text)?.['input']) ?? text
}

/** Makes calls of the named tools custom again. Partial JSON cannot be unwrapped: all input comes at the end. */
export function restoreCustomCalls(
  names: ReadonlySet<string>,
): (event: CanonicalEvent) => readonly CanonicalEvent[] {
  /** For each choice, the input so far of the wrapped call that is open. */
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
