// A chat completions request as a canonical one, for translation into another format. Strict: what it cannot
// understand is a 400 that names its place.
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, isArray, isGiven, stringOf, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  Message,
  OutputFormat,
  Sampling,
  TextPart,
  ReasoningPart,
  ToolCallPart,
  UserPart,
} from '../../core/request.ts'
import { EFFORTS, VERBOSITIES } from '../../core/request.ts'
import { decodeAudio, decodeDataUrl, decodeUrl } from '../content/media.ts'
import { unpackReasoning } from '../content/opaque-reasoning.ts'
import {
  countOf,
  decodeEndUser,
  decodeServiceTier,
  droppedFields,
  modelOf,
  streamOf,
  unknownMembers,
} from '../contract/fields.ts'
import { expect, Placed } from '../json/expect.ts'
import { removalsFrom } from './call.ts'
import { CHAT_FIELDS, CHAT_SHAPE } from './fields.ts'
import { decodeCacheMark, decodeParallel, decodeToolChoice, decodeTools } from './tools.ts'

export function decodeRequest(given: JsonObject): Conversation {
  const dropped = new Set([
    ...removalsFrom(given).dropped,
    ...droppedFields(given, CHAT_FIELDS),
    ...unknownMembers(given, CHAT_SHAPE),
  ])
  const body = new Placed(given)
  const tools = decodeTools(body)
  const effort = body.optional('reasoning_effort', expect.oneOf(EFFORTS))
  return defined({
    kind: 'chat' as const,
    model: modelOf(given),
    stream: streamOf(given),
    messages: decodeMessages(body),
    tools,
    outputTokensMax: countOf(given, 'max_completion_tokens', 1) ?? countOf(given, 'max_tokens', 1),
    toolChoice: decodeToolChoice(body, tools, dropped),
    parallelToolCalls: tools.length === 0 ? undefined : decodeParallel(body, dropped),
    outputFormat: body.optional('response_format', decodeFormat),
    verbosity: body.optional('verbosity', expect.oneOf(VERBOSITIES)),
    reasoning: effort && { effort },
    sampling: decodeSampling(body),
    choices: countOf(given, 'n', 1) ?? 1,
    endUser: decodeEndUser(given, dropped),
    metadata: body.optional('metadata', expect.map(expect.text)),
    cacheKey: body.optional('prompt_cache_key', expect.text),
    serviceTier: decodeServiceTier(given),
    // Last, because decoding the rest adds to it.
    dropped: [...dropped],
  })
}

function decodeSampling(body: Placed): Sampling {
  return defined({
    temperature: body.optional('temperature', expect.number),
    topP: body.optional('top_p', expect.number),
    frequencyPenalty: body.optional('frequency_penalty', expect.number),
    presencePenalty: body.optional('presence_penalty', expect.number),
    seed: body.optional('seed', expect.integer),
    logitBias: body.optional('logit_bias', expect.map(expect.number)),
    stop: body.optional('stop', decodeStop),
    logprobs: decodeLogprobs(body),
  })
}

function decodeStop(value: unknown, place: string): readonly string[] | undefined {
  const stop = typeof value === 'string' ? [value] : expect.texts(value, place)
  return stop.length === 0 ? undefined : stop
}

const LOGPROBS_MAX = 20

function decodeLogprobs(body: Placed): number | undefined {
  const asked = body.optional('logprobs', expect.boolean) ?? false
  const top = countOf(body.value, 'top_logprobs', 0)
  if (top !== undefined && top > LOGPROBS_MAX) {
    throw invalidRequest('top_logprobs', `top_logprobs must be at most ${LOGPROBS_MAX}`)
  }
  if (top !== undefined && !asked) {
    throw invalidRequest('top_logprobs', 'top_logprobs needs logprobs: true')
  }
  return asked ? (top ?? 0) : undefined
}

const expectFormat = expect.oneOf(['text', 'json_object', 'json_schema'])

function decodeFormat(value: unknown, place: string): OutputFormat | undefined {
  const format = expect.placed(value, place)
  switch (format.get('type', expectFormat)) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json' }
    case 'json_schema': {
      const schema = format.get('json_schema', expect.placed)
      return defined({
        type: 'json-schema' as const,
        name: schema.get('name', expect.name),
        schema: schema.optional('schema', expect.object) ?? {},
        description: schema.optional('description', expect.text),
        strict: schema.optional('strict', expect.boolean),
      })
    }
  }
}

/** Enforces that every tool call has its result before the conversation goes on: all providers refuse anything else. */
function decodeMessages(body: Placed): readonly Message[] {
  const calls = new OpenCalls()
  const messages = body
    .get('messages', expect.placedList)
    .map((message) => decodeMessage(message, calls))
  if (messages.length === 0) throw invalidRequest('messages', 'messages must not be empty')
  calls.expectNone()
  return messages
}

function decodeMessage(message: Placed, calls: OpenCalls): Message {
  const role = stringOf(message.value['role']) ?? ''
  if (role !== 'tool' && role !== 'function') calls.expectNone()
  switch (role) {
    case 'system':
    case 'developer':
      return { role, parts: decodeParts(message, decodeTextPart), ...nameOf(message) }
    case 'user':
      return { role, parts: decodeParts(message, decodeUserPart), ...nameOf(message) }
    case 'assistant': {
      const parts = decodeAssistant(message, calls)
      for (const part of parts) if (part.type === 'tool-call') calls.open(part, message.place)
      return { role, parts, ...nameOf(message) }
    }
    case 'tool': {
      const callId = message.get('tool_call_id', expect.name)
      calls.answer(callId, message.at('tool_call_id'))
      return { role, callId, parts: decodeParts(message, decodeToolPart) }
    }
    case 'function': {
      const callId = calls.answerByName(message.get('name', expect.name), message.at('name'))
      const isEmpty = !isGiven(message.value['content'])
      const none = { type: 'text', text: '' } as const
      return {
        role: 'tool',
        callId,
        parts: isEmpty ? [none] : decodeParts(message, decodeTextPart),
      }
    }
    default:
      throw invalidRequest(
        message.at('role'),
        `${message.at('role')} must be one of system, developer, user, assistant, tool`,
      )
  }
}

function nameOf(message: Placed): { readonly name?: string } {
  const name = message.optional('name', expect.text)
  return name === undefined ? {} : { name }
}

/** Reasoning, text, refusal, calls: the order in which a model produces them, since the format records none. */
function decodeAssistant(message: Placed, open: OpenCalls): readonly AssistantPart[] {
  const { content } = message.value
  const refusal = message.optional('refusal', expect.text)
  const calls = message.optional('tool_calls', expect.placedList) ?? []
  const legacy = message.optional('function_call', expect.placed)
  const isSpoken = isGiven(content) && content !== ''
  return [
    ...decodeReasoning(message),
    ...(isSpoken ? decodeParts(message, decodeSpokenPart) : []),
    ...(refusal === undefined ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...calls.map(decodeToolCall),
    ...(legacy === undefined ? [] : [{ ...decodeCalled(legacy), id: open.nameless() }]),
  ]
}

function decodeReasoning(message: Placed): readonly ReasoningPart[] {
  const { reasoning_details: details } = message.value
  if (isArray(details) && details.length > 0) {
    return message.get('reasoning_details', expect.placedList).map(decodeDetail)
  }
  const text =
    message.optional('reasoning_content', expect.text) ?? message.optional('reasoning', expect.text)
  return text === undefined || text === '' ? [] : [{ type: 'reasoning', text }]
}

function decodeDetail(detail: Placed): ReasoningPart {
  switch (typeOf(detail.value)) {
    case 'reasoning.text': {
      const text = detail.optional('text', expect.text) ?? ''
      const signature = detail.optional('signature', expect.text)
      if (signature === undefined) return { type: 'reasoning', text }
      const opaque = unpackReasoning(signature, { format: 'chat', kind: 'signature' })
      return { type: 'reasoning', text, opaque }
    }
    case 'reasoning.encrypted': {
      const data = detail.get('data', expect.text)
      const opaque = unpackReasoning(data, { format: 'chat', kind: 'encrypted' })
      return { type: 'reasoning', text: '', opaque }
    }
    default:
      // Summaries and whatever else gateways put here are not reasoning that a model would take back.
      return { type: 'reasoning', text: stringOf(detail.value['summary']) ?? '' }
  }
}

function decodeToolCall(call: Placed): ToolCallPart {
  const id = call.get('id', expect.name)
  if (call.value['type'] !== 'custom')
    return { ...decodeCalled(call.get('function', expect.placed)), id }
  const custom = call.get('custom', expect.placed)
  const name = custom.get('name', expect.name)
  return { type: 'tool-call', id, name, input: custom.get('input', expect.text), custom: true }
}

function decodeCalled(called: Placed): Omit<ToolCallPart, 'id'> {
  const name = called.get('name', expect.name)
  const input = called.optional('arguments', expect.text) ?? ''
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
    throw invalidRequest(place, `${place} does not match a function call before it`)
  }

  expectNone(): void {
    for (const [id, { place }] of this.#calls) {
      throw invalidRequest(place, `${place} calls a tool (${id}), but no result follows for it`)
    }
  }
}

/** The content of a message: a string, or parts that its role may have. Any other part is a 400 with its place. */
function decodeParts<Part>(
  message: Placed,
  decodePart: (part: Placed) => Part,
): readonly (Part | TextPart)[] {
  const { content } = message.value
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (isArray(content)) return message.get('content', expect.placedList).map(decodePart)
  const place = message.at('content')
  throw invalidRequest(place, `${place} must be a string or a list of content parts`)
}

function decodeTextPart(part: Placed): TextPart {
  if (part.value['type'] !== 'text') throw unknownPart(part, 'text')
  const text = part.get('text', expect.text)
  return defined({ type: 'text' as const, text, cache: decodeCacheMark(part) })
}

function decodeToolPart(part: Placed): TextPart | ImagePart | FilePart {
  switch (typeOf(part.value)) {
    case 'image_url':
      return decodeImage(part)
    case 'file':
      return decodeFile(part)
    default:
      return decodeTextPart(part)
  }
}

function decodeUserPart(part: Placed): UserPart {
  switch (typeOf(part.value)) {
    case 'text':
    case 'image_url':
    case 'file':
      return decodeToolPart(part)
    case 'input_audio':
      return part.get('input_audio', decodeAudio)
    default:
      throw unknownPart(part, 'text, image_url, input_audio or file')
  }
}

function decodeSpokenPart(part: Placed): AssistantPart {
  if (part.value['type'] !== 'refusal') return decodeTextPart(part)
  return { type: 'refusal', text: part.get('refusal', expect.text) }
}

function decodeImage(part: Placed): ImagePart {
  const image = part.get('image_url', expect.placed)
  const detail = image.optional('detail', expect.text)
  const source = image.get('url', decodeUrl)
  return defined({ type: 'image' as const, source, detail, cache: decodeCacheMark(part) })
}

function decodeFile(part: Placed): FilePart {
  const file = part.get('file', expect.placed)
  const name = file.optional('filename', expect.textIfAny)
  const source = file.get('file_data', decodeDataUrl)
  return defined({ type: 'file' as const, source, name, cache: decodeCacheMark(part) })
}

function unknownPart({ value: { type }, place }: Placed, known: string): Error {
  const told = typeof type === 'string' ? `"${type}"` : 'missing'
  return invalidRequest(place, `${place}.type is ${told}; here it must be ${known}`)
}
