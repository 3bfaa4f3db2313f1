// The messages of a chat completions request as canonical messages, one for one. Enforces that every tool call has its
// result before the conversation goes on: providers of both families refuse anything else, less clearly.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, stringOf, typeOf } from '../../core/json.ts'
import type { AssistantPart, Message, ThinkingPart, ToolCallPart } from '../../core/request.ts'
import { expectList, expectName, expectObject, expectText, optional } from '../expect.ts'
import { unpackSeal } from '../seal.ts'
import {
  decodeParts,
  decodeSpokenPart,
  decodeTextPart,
  decodeToolPart,
  decodeUserPart,
} from './parts-decode.ts'

export function decodeMessages(value: unknown): readonly Message[] {
  const calls = new OpenCalls()
  const messages = expectList(value, 'messages').map((entry, index) => {
    const place = `messages[${index}]`
    return decodeMessage(expectObject(entry, place), place, calls)
  })
  if (messages.length === 0) throw invalidRequest('messages', 'messages must not be empty')
  calls.expectNone()
  return messages
}

function decodeMessage(message: JsonObject, place: string, calls: OpenCalls): Message {
  const { content } = message
  const role = stringOf(message['role']) ?? ''
  const at = `${place}.content`
  if (role !== 'tool' && role !== 'function') calls.expectNone()
  switch (role) {
    case 'system':
    case 'developer':
      return { role, parts: decodeParts(content, at, decodeTextPart), ...nameOf(message, place) }
    case 'user':
      return { role, parts: decodeParts(content, at, decodeUserPart), ...nameOf(message, place) }
    case 'assistant': {
      const parts = decodeAssistant(message, place, calls)
      for (const part of parts) if (part.type === 'tool-call') calls.open(part, place)
      return { role, parts, ...nameOf(message, place) }
    }
    case 'tool': {
      const callId = expectName(message['tool_call_id'], `${place}.tool_call_id`)
      calls.answer(callId, `${place}.tool_call_id`)
      return { role, callId, parts: decodeParts(content, at, decodeToolPart) }
    }
    case 'function': {
      const callId = calls.answerByName(expectName(message['name'], `${place}.name`), place)
      return { role: 'tool', callId, parts: decodeParts(content ?? '', at, decodeTextPart) }
    }
    default:
      throw invalidRequest(
        `${place}.role`,
        `${place}.role must be one of system, developer, user, assistant, tool`,
      )
  }
}

function nameOf(message: JsonObject, place: string): { readonly name?: string } {
  const name = optional(message['name'], `${place}.name`, expectText)
  return name === undefined ? {} : { name }
}

/** Thoughts, text, refusal, calls: the order in which a model produces them, since the format records none. */
function decodeAssistant(
  message: JsonObject,
  place: string,
  open: OpenCalls,
): readonly AssistantPart[] {
  const { content } = message
  const refusal = optional(message['refusal'], `${place}.refusal`, expectText)
  const calls = optional(message['tool_calls'], `${place}.tool_calls`, expectList) ?? []
  const parts: AssistantPart[] = [...decodeThinking(message, place)]
  if (isGiven(content) && content !== '') {
    parts.push(...decodeParts(content, `${place}.content`, decodeSpokenPart))
  }
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal })
  parts.push(...calls.map((call, index) => decodeToolCall(call, `${place}.tool_calls[${index}]`)))
  const legacy = optional(message['function_call'], `${place}.function_call`, expectObject)
  if (legacy !== undefined) {
    parts.push({ ...decodeCalled(legacy, `${place}.function_call`), id: open.nameless() })
  }
  return parts
}

function decodeThinking(message: JsonObject, place: string): ThinkingPart[] {
  const details = message['reasoning_details']
  if (isArray(details) && details.length > 0) {
    return details.map((entry, index) => {
      const at = `${place}.reasoning_details[${index}]`
      return decodeDetail(expectObject(entry, at), at)
    })
  }
  const text =
    optional(message['reasoning_content'], `${place}.reasoning_content`, expectText) ??
    optional(message['reasoning'], `${place}.reasoning`, expectText)
  return text === undefined || text === '' ? [] : [{ type: 'thinking', text }]
}

function decodeDetail(detail: JsonObject, place: string): ThinkingPart {
  switch (typeOf(detail)) {
    case 'reasoning.text': {
      const text = optional(detail['text'], `${place}.text`, expectText) ?? ''
      const signature = optional(detail['signature'], `${place}.signature`, expectText)
      if (signature === undefined) return { type: 'thinking', text }
      const seal = unpackSeal(signature, { format: 'chat', kind: 'signature' })
      return { type: 'thinking', text, seal }
    }
    case 'reasoning.encrypted': {
      const data = expectText(detail['data'], `${place}.data`)
      const seal = unpackSeal(data, { format: 'chat', kind: 'encrypted' })
      return { type: 'thinking', text: '', seal }
    }
    default:
      // Summaries and whatever else gateways put here are not thoughts that a model would take back.
      return { type: 'thinking', text: stringOf(detail['summary']) ?? '' }
  }
}

function decodeToolCall(value: Json, place: string): ToolCallPart {
  const call = expectObject(value, place)
  const id = expectName(call['id'], `${place}.id`)
  if (call['type'] === 'custom') {
    const custom = expectObject(call['custom'], `${place}.custom`)
    const name = expectName(custom['name'], `${place}.custom.name`)
    const input = expectText(custom['input'], `${place}.custom.input`)
    return { type: 'tool-call', id, name, input, custom: true }
  }
  const called = expectObject(call['function'], `${place}.function`)
  return { ...decodeCalled(called, `${place}.function`), id }
}

function decodeCalled(called: JsonObject, place: string): Omit<ToolCallPart, 'id'> {
  const name = expectName(called['name'], `${place}.name`)
  const input = optional(called['arguments'], `${place}.arguments`, expectText) ?? ''
  return { type: 'tool-call', name, input, custom: false }
}

/** The calls of the last assistant message that have no result yet. */
class OpenCalls {
  readonly #calls = new Map<string, { readonly name: string; readonly place: string }>()
  /** The ids of the calls of each function, and how many of them have been looked at. */
  readonly #byName = new Map<string, { readonly ids: string[]; seen: number }>()

  #nameless = 0

  /** The deprecated `function_call` has no id. A counter gives it the same one in every turn of a conversation. */
  nameless(): string {
    return `call_function_${this.#nameless++}`
  }

  open(call: ToolCallPart, place: string): void {
    if (this.#calls.has(call.id)) {
      throw invalidRequest(place, `${place} has two tool calls with the id ${call.id}`)
    }
    this.#calls.set(call.id, { name: call.name, place })
    const named = this.#byName.get(call.name)
    if (named === undefined) this.#byName.set(call.name, { ids: [call.id], seen: 0 })
    else named.ids.push(call.id)
  }

  answer(id: string, place: string): void {
    if (this.#calls.delete(id)) return
    throw invalidRequest(
      place,
      `${place} does not match an open tool call of the assistant message before it`,
    )
  }

  answerByName(name: string, place: string): string {
    const named = this.#byName.get(name) ?? { ids: [], seen: 0 }
    while (named.seen < named.ids.length) {
      const id = named.ids[named.seen++] ?? ''
      if (this.#calls.get(id)?.name !== name) continue
      this.#calls.delete(id)
      return id
    }
    throw invalidRequest(`${place}.name`, `${place}.name does not match a function call before it`)
  }

  expectNone(): void {
    for (const [id, { place }] of this.#calls) {
      throw invalidRequest(place, `${place} calls a tool (${id}), but no result follows for it`)
    }
  }
}
