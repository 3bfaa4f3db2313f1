// A chat completions request as a canonical one, for translation into another format. Strict: what it cannot
// understand is a 400 that names the field.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isGiven, stringOf, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  Message,
  OutputFormat,
  Reasoning,
  Sampling,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  UserPart,
} from '../../core/request.ts'
import { EFFORTS, VERBOSITIES } from '../../core/request.ts'
import { decodeDataUrl, decodeUrl, expectBase64 } from '../content/media.ts'
import { unpackSeal } from '../content/opaque-reasoning.ts'
import {
  countOf,
  decodeEndUser,
  decodeServiceTier,
  modelOf,
  streamOf,
} from '../contract/call-fields.ts'
import { droppedFields, unknownMembers } from '../contract/fields.ts'
import {
  expectBoolean,
  expectInteger,
  expectList,
  expectMap,
  expectName,
  expectNumber,
  expectObject,
  expectOneOf,
  expectText,
  expectTexts,
  optional,
  optionalText,
} from '../json/expect.ts'
import { CHAT_FIELDS, CHAT_SHAPE } from './fields.ts'
import { decodeParallel, decodeToolChoice, decodeTools, markOf, usableTools } from './tools.ts'

const LOGPROBS_MAX = 20

export function decodeRequest(body: JsonObject): Conversation {
  const dropped = new Set([
    ...usableTools(body).dropped,
    ...droppedFields(body, CHAT_FIELDS),
    ...unknownMembers(body, CHAT_SHAPE),
  ])
  const tools = decodeTools(body)
  return defined({
    kind: 'chat' as const,
    model: modelOf(body),
    stream: streamOf(body),
    messages: decodeMessages(body['messages']),
    tools,
    outputTokensMax: countOf(body, 'max_completion_tokens', 1) ?? countOf(body, 'max_tokens', 1),
    toolChoice: decodeToolChoice(body, tools, dropped),
    parallelToolCalls: tools.length === 0 ? undefined : decodeParallel(body, dropped),
    outputFormat: optional(body['response_format'], 'response_format', decodeFormat),
    verbosity: optional(body['verbosity'], 'verbosity', expectOneOf(VERBOSITIES)),
    reasoning: optional(body['reasoning_effort'], 'reasoning_effort', decodeReasoning),
    sampling: decodeSampling(body),
    choices: countOf(body, 'n', 1) ?? 1,
    endUser: decodeEndUser(body, dropped),
    metadata: optional(body['metadata'], 'metadata', expectMap(expectText)),
    cacheKey: optional(body['prompt_cache_key'], 'prompt_cache_key', expectText),
    serviceTier: decodeServiceTier(body),
    // Last, because decoding the rest adds to it.
    dropped: [...dropped],
  })
}

function decodeSampling(body: JsonObject): Sampling {
  const number = (name: string) => optional(body[name], name, expectNumber)
  return defined({
    temperature: number('temperature'),
    topP: number('top_p'),
    frequencyPenalty: number('frequency_penalty'),
    presencePenalty: number('presence_penalty'),
    seed: optional(body['seed'], 'seed', expectInteger),
    logitBias: optional(body['logit_bias'], 'logit_bias', expectMap(expectNumber)),
    stop: optional(body['stop'], 'stop', decodeStop),
    logprobs: decodeLogprobs(body),
  })
}

function decodeReasoning(value: unknown, place: string): Reasoning {
  return { effort: expectOneOf(EFFORTS)(value, place) }
}

function decodeStop(value: unknown, place: string): readonly string[] | undefined {
  const stop = typeof value === 'string' ? [value] : expectTexts(value, place)
  return stop.length === 0 ? undefined : stop
}

function decodeLogprobs(body: JsonObject): number | undefined {
  const asked = optional(body['logprobs'], 'logprobs', expectBoolean) ?? false
  const top = countOf(body, 'top_logprobs', 0)
  if (top !== undefined && top > LOGPROBS_MAX) {
    throw invalidRequest('top_logprobs', `top_logprobs must be at most ${LOGPROBS_MAX}`)
  }
  if (top !== undefined && !asked) {
    throw invalidRequest('top_logprobs', 'top_logprobs needs logprobs: true')
  }
  return asked ? (top ?? 0) : undefined
}

function decodeFormat(value: unknown, place: string): OutputFormat | undefined {
  const format = expectObject(value, place)
  switch (expectOneOf(['text', 'json_object', 'json_schema'])(format['type'], `${place}.type`)) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json' }
    case 'json_schema': {
      const at = `${place}.json_schema`
      const schema = expectObject(format['json_schema'], at)
      return {
        type: 'json-schema',
        name: expectName(schema['name'], `${at}.name`),
        schema: optional(schema['schema'], `${at}.schema`, expectObject) ?? {},
        ...defined({
          description: optional(schema['description'], `${at}.description`, expectText),
          strict: optional(schema['strict'], `${at}.strict`, expectBoolean),
        }),
      }
    }
  }
}

// The messages of a chat completions request as canonical messages, one for one. Enforces that every tool call has its
// result before the conversation goes on: providers of both families refuse anything else, less clearly.

function decodeMessages(value: unknown): readonly Message[] {
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

// The content parts of chat messages, by the role that may use them. Any other part is a 400 with its place.

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

function decodeSpokenPart(part: JsonObject, place: string): AssistantPart {
  if (part['type'] !== 'refusal') return decodeTextPart(part, place)
  return { type: 'refusal', text: expectText(part['refusal'], `${place}.refusal`) }
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
  const name = optionalText(file['filename'], `${place}.file.filename`)
  return {
    type: 'file',
    source: decodeDataUrl(file['file_data'], `${place}.file.file_data`),
    ...(name !== undefined && { name }),
    ...markOf(part, place),
  }
}

function unknownPart(part: JsonObject, place: string, known: string): Error {
  const type = typeof part['type'] === 'string' ? `"${part['type']}"` : 'missing'
  return invalidRequest(place, `${place}.type is ${type}; here it must be ${known}`)
}
