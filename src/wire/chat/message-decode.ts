// The messages of a chat completions request as canonical messages, one for one. Holds the rule that every tool call
// is answered before the conversation goes on: both families' providers refuse anything else, less clearly.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, stringOf, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  CacheMark,
  FilePart,
  ImagePart,
  Message,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  UserPart,
} from '../../core/request.ts'
import { expectList, expectName, expectObject, expectText, optional } from '../expect.ts'
import { decodeDataUrl, decodeUrl, expectBase64 } from '../media.ts'
import { refuseFileId } from '../refused-fields.ts'
import { unpackSeal } from '../seal.ts'

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

function decodeParts<Part>(
  content: Json | undefined,
  place: string,
  decodePart: (part: JsonObject, place: string) => Part,
): readonly (Part | TextPart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!isArray(content)) {
    throw invalidRequest(place, `${place} must be a string or a list of content parts`)
  }
  return content.map((part, index) => {
    const at = `${place}[${index}]`
    return decodePart(expectObject(part, at), at)
  })
}

function decodeTextPart(part: JsonObject, place: string): TextPart {
  if (part['type'] !== 'text') throw unknownPart(part, place, 'text')
  return { type: 'text', text: expectText(part['text'], `${place}.text`), ...markOf(part, place) }
}

function decodeToolPart(part: JsonObject, place: string): TextPart | ImagePart | FilePart {
  switch (typeOf(part)) {
    case 'image_url':
      return decodeImage(part, place)
    case 'file':
      return decodeFile(part, place)
    default:
      return decodeTextPart(part, place)
  }
}

function decodeUserPart(part: JsonObject, place: string): UserPart {
  switch (typeOf(part)) {
    case 'text':
      return decodeTextPart(part, place)
    case 'image_url':
      return decodeImage(part, place)
    case 'file':
      return decodeFile(part, place)
    case 'input_audio': {
      const audio = expectObject(part['input_audio'], `${place}.input_audio`)
      return {
        type: 'audio',
        data: expectBase64(audio['data'], `${place}.input_audio.data`),
        encoding: expectName(audio['format'], `${place}.input_audio.format`),
      }
    }
    default:
      throw unknownPart(part, place, 'text, image_url, input_audio or file')
  }
}

function decodeImage(part: JsonObject, place: string): ImagePart {
  const image = expectObject(part['image_url'], `${place}.image_url`)
  const detail = optional(image['detail'], `${place}.image_url.detail`, expectText)
  return {
    type: 'image',
    source: decodeUrl(image['url'], `${place}.image_url.url`),
    ...(detail !== undefined && { detail }),
    ...markOf(part, place),
  }
}

function decodeFile(part: JsonObject, place: string): FilePart {
  const file = expectObject(part['file'], `${place}.file`)
  if (isGiven(file['file_id'])) refuseFileId(`${place}.file.file_id`)
  const name = optional(file['filename'], `${place}.file.filename`, expectText)
  return {
    type: 'file',
    source: decodeDataUrl(file['file_data'], `${place}.file.file_data`),
    ...(name !== undefined && { name }),
    ...markOf(part, place),
  }
}

/** The format's own cache mark, or the one that clients of other gateways write on chat parts. */
export function markOf(part: JsonObject, place: string): { readonly cache?: CacheMark } {
  const name = isObject(part['prompt_cache_breakpoint'])
    ? 'prompt_cache_breakpoint'
    : 'cache_control'
  const mark = optional(part[name], `${place}.${name}`, expectObject)
  if (mark === undefined) return {}
  const ttl = optional(mark['ttl'], `${place}.${name}.ttl`, expectText)
  return { cache: ttl === undefined ? {} : { ttl } }
}

/** Thoughts, words, refusal, calls: the order in which a model makes them, since the format keeps none. */
function decodeAssistant(
  message: JsonObject,
  place: string,
  open: OpenCalls,
): readonly AssistantPart[] {
  const { content } = message
  const refusal = optional(message['refusal'], `${place}.refusal`, expectText)
  const calls = optional(message['tool_calls'], `${place}.tool_calls`, expectList) ?? []
  const parts: AssistantPart[] = [...decodeThinking(message, place)]
  if (content !== undefined && content !== null && content !== '') {
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

function decodeSpokenPart(part: JsonObject, place: string): AssistantPart {
  if (part['type'] !== 'refusal') return decodeTextPart(part, place)
  return { type: 'refusal', text: expectText(part['refusal'], `${place}.refusal`) }
}

function decodeThinking(message: JsonObject, place: string): ThinkingPart[] {
  const details = message['reasoning_details']
  if (isArray(details) && details.length > 0) {
    return details.flatMap((entry, index) => {
      const at = `${place}.reasoning_details[${index}]`
      return decodeDetail(expectObject(entry, at), at)
    })
  }
  const text =
    optional(message['reasoning_content'], `${place}.reasoning_content`, expectText) ??
    optional(message['reasoning'], `${place}.reasoning`, expectText)
  return text === undefined || text === '' ? [] : [{ type: 'thinking', text }]
}

function decodeDetail(detail: JsonObject, place: string): ThinkingPart[] {
  switch (typeOf(detail)) {
    case 'reasoning.text': {
      const text = optional(detail['text'], `${place}.text`, expectText) ?? ''
      const signature = optional(detail['signature'], `${place}.signature`, expectText)
      if (signature === undefined) return [{ type: 'thinking', text }]
      const seal = unpackSeal(signature, { format: 'chat', kind: 'signature' })
      return [{ type: 'thinking', text, seal }]
    }
    case 'reasoning.encrypted': {
      const data = expectText(detail['data'], `${place}.data`)
      const seal = unpackSeal(data, { format: 'chat', kind: 'encrypted' })
      return [{ type: 'thinking', text: '', seal }]
    }
    default:
      // Summaries and whatever else gateways put here are nobody's thoughts: they can be given back to no model.
      return [{ type: 'thinking', text: stringOf(detail['summary']) ?? '' }]
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

function unknownPart(part: JsonObject, place: string, known: string): Error {
  const type = typeof part['type'] === 'string' ? `"${part['type']}"` : 'missing'
  return invalidRequest(place, `${place}.type is ${type}; here it must be ${known}`)
}

/** The calls of the last assistant message that have no result yet. */
class OpenCalls {
  readonly #calls = new Map<string, { readonly name: string; readonly place: string }>()

  #nameless = 0

  /** The deprecated kind of call carries no id, so it is counted: the same in every turn of a conversation. */
  nameless(): string {
    return `call_function_${this.#nameless++}`
  }

  open(call: ToolCallPart, place: string): void {
    if (this.#calls.has(call.id)) {
      throw invalidRequest(place, `${place} has two tool calls with the id ${call.id}`)
    }
    this.#calls.set(call.id, { name: call.name, place })
  }

  answer(id: string, place: string): void {
    if (this.#calls.delete(id)) return
    throw invalidRequest(
      place,
      `${place} names no open tool call of the assistant message before it`,
    )
  }

  answerByName(name: string, place: string): string {
    for (const [id, call] of this.#calls) {
      if (call.name !== name) continue
      this.#calls.delete(id)
      return id
    }
    throw invalidRequest(`${place}.name`, `${place}.name names no function call before it`)
  }

  expectNone(): void {
    for (const [id, { place }] of this.#calls) {
      throw invalidRequest(place, `${place} calls a tool (${id}) whose result is missing after it`)
    }
  }
}
