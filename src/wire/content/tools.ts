// The tools that a request offers: their names, the choice among them, and custom tools, which take free text, for
// providers that support functions only. There a function with one string argument stands for the tool, and the client
// gets that argument back as plain text.
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isGiven, parseObject, stringOf } from '../../core/json.ts'
import type {
  AssistantPart,
  Conversation,
  TargetModel,
  Tool,
  ToolChoice,
} from '../../core/request.ts'
import { expectObject, optional } from '../json/expect.ts'
import { openAiOf } from '../models/openai.ts'

/** Only OpenAI's models take custom tools; other servers that speak its formats refuse them. */
export function takesCustomTools(target: TargetModel): boolean {
  return openAiOf(target) !== undefined
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
const CUSTOM_TOOL_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** The description, followed by the input format if there is one. */
function describeCustomTool(tool: Extract<Tool, { type: 'custom' }>): string | undefined {
  const format = tool.inputFormat
  if (format === undefined || format['type'] === 'text') return tool.description
  const rule = `The input must follow this format: ${JSON.stringify(format)}`
  return tool.description === undefined ? rule : `${tool.description}\n\n${rule}`
}

export type FunctionTool = Extract<Tool, { readonly type: 'function' }>

/** The tools that may be called, as functions, for formats that have neither custom tools nor a list of allowed ones. */
export function allowedFunctions(request: Conversation): readonly FunctionTool[] {
  return allowedTools(request).map(asFunction)
}

function asFunction(tool: Tool): FunctionTool {
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

/** The tools without those that a list of allowed ones leaves out, for formats that have no such list. */
function allowedTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  return tools.filter(({ name }) => names.has(name))
}

/** The same conversation without such a list. */
export function withAllowedOnly(request: Conversation): Conversation {
  const { toolChoice } = request
  if (toolChoice?.type !== 'allowed') return request
  const type = toolChoice.required ? 'required' : 'auto'
  return { ...request, tools: allowedTools(request), toolChoice: { type } }
}

export function forcesTool({ toolChoice }: Conversation): boolean {
  if (toolChoice?.type === 'allowed') return toolChoice.required
  return toolChoice?.type === 'required' || toolChoice?.type === 'tool'
}

/** Whether a choice that is left out for want of tools asked for a call; `auto` and `none` mean nothing then. */
export function asksForTool(choice: Json | undefined): boolean {
  return isGiven(choice) && choice !== 'auto' && choice !== 'none'
}

/** The choice as both formats of the chat family write it: a word, a named tool, or the names that are allowed. */
export function encodeChoice(
  choice: ToolChoice,
  tools: readonly Tool[],
  named: (name: string, type: Tool['type']) => JsonObject,
): string | JsonObject {
  const types = new Map(tools.map(({ name, type }) => [name, type]))
  const encode = (name: string): JsonObject => named(name, types.get(name) ?? 'function')
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    case 'tool':
      return encode(choice.name)
    case 'allowed':
      return { mode: choice.required ? 'required' : 'auto', tools: choice.names.map(encode) }
  }
}

/** Of a tool's name, in every format but messages, which allows more. */
export const TOOL_NAME_CHARACTERS_MAX = 64

/** Every provider accepts letters, digits, - and _; only the greatest length differs. */
export function isToolName(name: string, charactersMax = TOOL_NAME_CHARACTERS_MAX): boolean {
  return name.length <= charactersMax && /^[a-zA-Z0-9_-]+$/.test(name)
}

/** The name, or the 400 for one that the format cannot carry. */
export function fitToolName(
  name: string,
  place: string,
  charactersMax = TOOL_NAME_CHARACTERS_MAX,
): string {
  if (isToolName(name, charactersMax)) return name
  const shown = JSON.stringify(name.slice(0, 100).toWellFormed())
  throw invalidRequest(
    place,
    `the tool name ${shown} cannot be used with this model: use at most ${charactersMax} letters, digits, - and _`,
  )
}

/** The name of a tool that a provider calls: without one, no client could run it. */
export function calledName(given: Json | undefined): string {
  if (typeof given === 'string' && given !== '') return given
  throw new GatewayError('provider_failed', 'the provider called a tool without naming it')
}

/** For a function without parameters: other formats require an explicit schema. */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

/** As both formats of the chat family write them. */
export function decodeParameters(value: unknown, place: string): JsonObject {
  return optional(value, place, expectObject) ?? NO_PARAMETERS
}
