// The tools that a request offers, the choice among them, and the calls of a conversation with their ids and inputs. For
// providers that support functions only, a function with one string argument stands for a custom tool, which takes free
// text, and the client gets that argument back as plain text.
import { createHash, randomUUID } from 'node:crypto'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isGiven, membersIn, parseObject, stringOf } from '../../core/json.ts'
import type {
  AssistantPart,
  CanonicalRequest,
  Conversation,
  Message,
  TargetModel,
  Tool,
  ToolCallPart,
  ToolChoice,
} from '../../core/request.ts'
import { openAiOf } from '../contract/models.ts'
import { parseExactly } from '../json/exact.ts'
import { expect, optional } from '../json/expect.ts'

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
  return optional(value, place, expect.object) ?? NO_PARAMETERS
}

/** A provider's id for a call, or a new one if it gave none. */
export function callIdOf(given: Json | undefined): string {
  if (typeof given === 'string' && given !== '') return given
  return `call_${randomUUID().replaceAll('-', '')}`
}

/** The id of a call in an answer, or a new one if another call has it: clients match results by id alone. */
export function ownCallId(given: string, taken: Set<string>, newId: () => string): string {
  const id = taken.has(given) ? newId() : given
  taken.add(id)
  return id
}

/**
 * The same list if no id occurs twice. Otherwise repeated ids are replaced, in the same way in every later turn: some
 * servers reuse the same ids in every answer, and other providers refuse two calls with one id, or mix up their results.
 */
export function withUniqueCallIds(messages: readonly Message[]): readonly Message[] {
  const ids = toolCallsIn(messages).map(({ id }) => id)
  const taken = new Set(ids)
  return taken.size === ids.length ? messages : renamed(messages, taken)
}

/** The calls of a conversation, in their order. */
export function toolCallsIn(messages: readonly Message[]): readonly ToolCallPart[] {
  return messages.flatMap((message) =>
    message.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool-call') : [],
  )
}

function renamed(messages: readonly Message[], taken: Set<string>): readonly Message[] {
  /** The new id of the last call with each id. Results follow their calls, so that is the call they belong to. */
  const names = new Map<string, string>()
  /** The number after which to look for the next free one, by id. */
  const numbers = new Map<string, number>()
  const freeId = (id: string): string => {
    let number = numbers.get(id) ?? 1
    do number += 1
    while (taken.has(`${id}_${number}`))
    numbers.set(id, number)
    return `${id}_${number}`
  }
  const rename = (part: AssistantPart): AssistantPart => {
    if (part.type !== 'tool-call') return part
    const id = names.has(part.id) ? freeId(part.id) : part.id
    names.set(part.id, id)
    return { ...part, id }
  }
  return messages.map((message) => {
    switch (message.role) {
      case 'assistant':
        return { ...message, parts: message.parts.map(rename) }
      case 'tool':
        return { ...message, callId: names.get(message.callId) ?? message.callId }
      case 'system':
      case 'developer':
      case 'user':
        return message
    }
  })
}

/**
 * How many characters the inputs of all calls may have together: twice what the longest windows hold. Translation parses
 * them, which takes as long as for everything else together.
 */
const INPUTS_CHARACTERS_MAX = 4_000_000

/** Of long inputs, in all: objects with very many fields take longest to parse and to write again. */
const INPUTS_FIELDS_MAX = 50_000

/** Shorter texts are parsed quickly, whatever is in them: what takes long is an object with very many fields. */
const LONG_TEXT_CHARACTERS = 10_000

/** What counts against a limit on the fields that are parsed in all texts of a request. */
export function fieldsToParse(text: string): number {
  return text.length < LONG_TEXT_CHARACTERS ? 0 : membersIn(text)
}

/** Refuses calls whose inputs no model has written. */
export function refuseLongInputs(request: CanonicalRequest): void {
  if (request.kind !== 'chat') return
  const calls = toolCallsIn(request.messages)
  let characters = 0
  for (const { input } of calls) characters += input.length
  if (characters > INPUTS_CHARACTERS_MAX) {
    throw tooLong(characters, 'characters of', INPUTS_CHARACTERS_MAX)
  }
  let fields = 0
  for (const { input } of calls) fields += fieldsToParse(input)
  if (fields > INPUTS_FIELDS_MAX) throw tooLong(fields, 'fields in their', INPUTS_FIELDS_MAX)
}

function tooLong(count: number, what: string, most: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `the tool calls have ${count} ${what} arguments; at most ${most} can be translated for this model`,
  )
}

/** A call's input as an object, as some formats carry it; in the canonical form it is the model's own text. */
export function toolInput({ input, custom }: ToolCallPart): JsonObject {
  return custom ? wrapCustomInput(input) : toolInputObject(input)
}

/** Models also write texts that are not JSON objects. They are kept whole: the turn goes on, and the client decides. */
export function toolInputObject(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseExactly(text) ?? { _raw: text })
}

/** OpenAI's limit for the name of a user or a cache, in both of its formats. */
export const OPENAI_IDENTIFIER_CHARACTERS_MAX = 64

/** A name that is too long for a provider is replaced by its hash: users, caches and calls stay distinct. */
export function fitIdentifier(name: string, charactersMax: number): string {
  if (name.length <= charactersMax) return name
  return createHash('sha256').update(name).digest('hex').slice(0, charactersMax)
}
