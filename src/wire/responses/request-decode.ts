// A responses request in the canonical form, for translation. What cannot be understood is a 400 with its place; what
// has no canonical form is dropped and named.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, isGiven, stringOf, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  CacheMark,
  Conversation,
  FilePart,
  ImagePart,
  Message,
  OutputFormat,
  Reasoning,
  Sampling,
  TextPart,
  ReasoningPart,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { EFFORTS, VERBOSITIES } from '../../core/request.ts'
import { decodeAudio, decodeDataUrl, decodeUrl } from '../content/media.ts'
import { unpackReasoning } from '../content/opaque-reasoning.ts'
import {
  cacheMarkOf,
  countOf,
  decodeEndUser,
  decodeServiceTier,
  droppedFields,
  modelOf,
  streamOf,
  unknownMembers,
} from '../contract/fields.ts'
import { expect, Placed } from '../json/expect.ts'
import {
  ENCRYPTED_REASONING,
  itemType,
  LOGPROBS,
  RESPONSES_FIELDS,
  RESPONSES_SHAPE,
  BETWEEN_SUMMARIES,
} from './fields.ts'
import type { Reading } from './tools.ts'
import { decodeToolChoice, decodeTools, toolNames } from './tools.ts'

export function decodeRequest(given: JsonObject): Conversation {
  const reading: Reading = {
    names: toolNames(given),
    dropped: new Set([
      ...droppedFields(given, RESPONSES_FIELDS),
      ...unknownMembers(given, RESPONSES_SHAPE),
    ]),
  }
  // Clients send this value to ask for nothing special.
  if (given['truncation'] === 'disabled') reading.dropped.delete('truncation')
  const body = new Placed(given)
  const include = readInclude(body, reading)
  const text = body.optional('text', expect.placed)
  const tools = decodeTools(body, reading)
  return defined({
    kind: 'chat' as const,
    model: modelOf(given),
    stream: streamOf(given),
    messages: [...decodeInstructions(body), ...decodeInput(body, reading)],
    tools,
    toolChoice: decodeToolChoice(body, tools, reading),
    parallelToolCalls: body.optional('parallel_tool_calls', expect.boolean),
    outputTokensMax: countOf(given, 'max_output_tokens', 1),
    outputFormat: text?.optional('format', decodeFormat),
    verbosity: text?.optional('verbosity', expect.oneOf(VERBOSITIES)),
    reasoning: decodeReasoning(body, reading),
    sampling: decodeSampling(body, include),
    choices: 1,
    endUser: decodeEndUser(given, reading.dropped),
    metadata: body.optional('metadata', expect.map(expect.text)),
    cacheKey: body.optional('prompt_cache_key', expect.text),
    serviceTier: decodeServiceTier(given),
    // Last, because decoding the rest adds to it.
    dropped: [...reading.dropped],
  })
}

/** Not dropped: logprobs are translated, and encrypted reasoning is always sent. */
const INCLUDED = [LOGPROBS, ENCRYPTED_REASONING]

function readInclude(body: Placed, reading: Reading): readonly string[] {
  const include = body.optional('include', expect.texts) ?? []
  for (const name of include) {
    if (!INCLUDED.includes(name)) reading.dropped.add(`include.${name}`)
  }
  return include
}

/** Instructions come before the whole conversation. */
function decodeInstructions(body: Placed): Message[] {
  const text = body.optional('instructions', expect.text) ?? ''
  return text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }]
}

function decodeFormat(value: unknown, place: string): OutputFormat | undefined {
  const format = expect.placed(value, place)
  switch (typeOf(format.value)) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json' }
    case 'json_schema':
      return defined({
        type: 'json-schema' as const,
        name: format.get('name', expect.name),
        description: format.optional('description', expect.text),
        schema: format.get('schema', expect.object),
        strict: format.optional('strict', expect.boolean),
      })
    default:
      throw invalidRequest(
        format.at('type'),
        `${format.at('type')} must be text, json_object or json_schema`,
      )
  }
}

const READ_OF_REASONING = ['effort', 'summary', 'generate_summary']

function decodeReasoning(body: Placed, reading: Reading): Reasoning | undefined {
  const reasoning = body.optional('reasoning', expect.placed)
  if (reasoning === undefined) return undefined
  for (const [name, value] of Object.entries(reasoning.value)) {
    const isDefault = value === null || value === 'auto' || value === 'standard'
    if (!READ_OF_REASONING.includes(name) && !isDefault) reading.dropped.add(`reasoning.${name}`)
  }
  const summary = reasoning.value['summary'] ?? reasoning.value['generate_summary']
  if (isGiven(summary) && summary !== 'auto') reading.dropped.add('reasoning.summary')
  const effort = reasoning.optional('effort', expect.oneOf(EFFORTS))
  const display = isGiven(summary) ? ('summary' as const) : undefined
  // Clients write the object down with nothing in it, or as answers repeat it: that asks no model to reason.
  if (effort === undefined && display === undefined) return undefined
  return defined({ effort, display })
}

function decodeSampling(body: Placed, include: readonly string[]): Sampling {
  const alternatives = body.optional('top_logprobs', expect.integer) ?? 0
  return defined({
    temperature: body.optional('temperature', expect.number),
    topP: body.optional('top_p', expect.number),
    presencePenalty: body.optional('presence_penalty', expect.number),
    frequencyPenalty: body.optional('frequency_penalty', expect.number),
    logprobs: include.includes(LOGPROBS) || alternatives > 0 ? alternatives : undefined,
  })
}

/** The assistant's items become one canonical message, up to the next item from anybody else. */
function decodeInput(body: Placed, reading: Reading): Message[] {
  const { input } = body.value
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }]
  const turns = new Turns()
  for (const item of body.get('input', expect.placedList)) decodeItem(item, turns, reading)
  return turns.messages
}

/** A message, and the results of the calls in it. */
type MessageAndResults = { readonly message: Message; readonly results: Message[] }

/**
 * Collects messages and joins the items of one assistant turn. In this format a user may speak before a call has its
 * result; in other formats results directly follow their calls.
 */
class Turns {
  readonly #turns: MessageAndResults[] = []
  readonly #callers = new Map<string, MessageAndResults>()
  /** The assistant turn that is not over yet, with its parts so far. */
  #open: { readonly turn: MessageAndResults; readonly parts: AssistantPart[] } | undefined

  get messages(): Message[] {
    return this.#turns.flatMap(({ message, results }) => [message, ...results])
  }

  other(message: Message): void {
    this.#open = undefined
    this.#turns.push({ message, results: [] })
  }

  assistant(added: readonly AssistantPart[]): void {
    this.#open ??= this.#begin()
    const { turn, parts } = this.#open
    for (const part of added) if (part.type === 'tool-call') this.#callers.set(part.id, turn)
    parts.push(...added)
  }

  /** False = no call has this id. */
  result(message: ToolMessage): boolean {
    this.#open = undefined
    const caller = this.#callers.get(message.callId)
    caller?.results.push(message)
    return caller !== undefined
  }

  #begin() {
    const parts: AssistantPart[] = []
    const turn: MessageAndResults = { message: { role: 'assistant', parts }, results: [] }
    this.#turns.push(turn)
    return { turn, parts }
  }
}

function decodeItem(item: Placed, turns: Turns, reading: Reading): void {
  const type = itemType(item.value)
  switch (type) {
    case 'message':
      return decodeMessage(item, turns, reading)
    case 'function_call':
    case 'custom_tool_call': {
      const custom = type === 'custom_tool_call'
      const name = item.get('name', expect.name)
      const namespace = item.optional('namespace', expect.name)
      return turns.assistant([
        {
          type: 'tool-call',
          id: item.get('call_id', expect.name),
          name: reading.names.flat(name, namespace),
          input: item.get(custom ? 'input' : 'arguments', expect.text),
          custom,
        },
      ])
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const callId = item.get('call_id', expect.name)
      const parts = partsOf(item, 'output').map(decodeOutputPart)
      if (turns.result({ role: 'tool', callId, parts })) return
      const place = item.at('call_id')
      throw invalidRequest(place, `${place} is "${callId}", and no tool call before it has that id`)
    }
    case 'reasoning':
      return turns.assistant([decodeReasoningItem(item)])
    case 'additional_tools':
      // Its tools are decoded with the others: in other formats a model knows all of them from the beginning.
      return
    default:
      throw unsupportedParameter(
        item.place,
        `${item.place} has the type ${JSON.stringify(type.slice(0, 100))}, which this model cannot be sent: it takes ${ITEM_TYPES}; leave the item out, or use a model whose provider speaks the responses format`,
      )
  }
}

const ITEM_TYPES =
  'message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, reasoning, additional_tools, item_reference'

const expectRole = expect.oneOf(['user', 'assistant', 'system', 'developer'])

function decodeMessage(item: Placed, turns: Turns, reading: Reading): void {
  const role = item.get('role', expectRole)
  if (isGiven(item.value['phase'])) reading.dropped.add('input.phase')
  const parts = partsOf(item, 'content')
  switch (role) {
    case 'user':
      return turns.other({ role, parts: parts.map(decodeUserPart) })
    case 'system':
    case 'developer':
      return turns.other({ role, parts: parts.map(decodeTextPart) })
    case 'assistant':
      return turns.assistant(parts.map(decodeAssistantPart))
  }
}

/** A plain string stands for a single text part. */
function partsOf(item: Placed, name: string): readonly Placed[] {
  const content = item.value[name]
  if (typeof content !== 'string') return item.get(name, expect.placedList)
  return [new Placed({ type: 'input_text', text: content }, item.at(name))]
}

/** Clients are shown a summary; providers of open models send the reasoning itself instead. */
function decodeReasoningItem(item: Placed): ReasoningPart {
  const text = reasoningIn(item, 'summary') || reasoningIn(item, 'content')
  const encrypted = item.optional('encrypted_content', expect.text)
  if (encrypted === undefined) return { type: 'reasoning', text }
  const home = defined({
    format: 'responses' as const,
    kind: 'encrypted' as const,
    id: stringOf(item.value['id']),
  })
  return { type: 'reasoning', text, opaque: unpackReasoning(encrypted, home) }
}

function reasoningIn(item: Placed, name: string): string {
  const parts = item.optional(name, expect.placedList) ?? []
  return parts.map((part) => part.get('text', expect.text)).join(BETWEEN_SUMMARIES)
}

/** The content parts of an item, by the role that may use them. */
function decodeUserPart(part: Placed): UserPart {
  if (part.value['type'] === 'input_audio') return part.get('input_audio', decodeAudio)
  return decodeMedia(part) ?? refusePart(part, 'input_text, input_image, input_file or input_audio')
}

function decodeOutputPart(part: Placed): TextPart | ImagePart | FilePart {
  return decodeMedia(part) ?? refusePart(part, 'input_text, input_image or input_file')
}

function decodeTextPart(part: Placed): TextPart {
  return decodeText(part) ?? refusePart(part, 'input_text')
}

function decodeAssistantPart(part: Placed): AssistantPart {
  if (part.value['type'] === 'refusal') {
    return { type: 'refusal', text: part.get('refusal', expect.text) }
  }
  return decodeText(part) ?? refusePart(part, 'output_text or refusal')
}

function refusePart({ value: { type = null }, place }: Placed, known: string): never {
  throw invalidRequest(
    place,
    `${place} has the type ${JSON.stringify(type)}; here it must be ${known}`,
  )
}

function decodeMedia(part: Placed): TextPart | ImagePart | FilePart | undefined {
  switch (typeOf(part.value)) {
    case 'input_image':
      return decodeImage(part)
    case 'input_file':
      return decodeFile(part)
    default:
      return decodeText(part)
  }
}

/** Both types for every role: many clients send the assistant's words back as if they were input. */
function decodeText(part: Placed): TextPart | undefined {
  const type = typeOf(part.value)
  if (type !== 'input_text' && type !== 'output_text') return undefined
  const text = part.get('text', expect.text)
  return defined({ type: 'text' as const, text, cache: decodeCacheMark(part) })
}

function decodeImage(part: Placed): ImagePart {
  const source = part.get('image_url', decodeUrl)
  const detail = part.optional('detail', expect.text)
  return defined({ type: 'image' as const, source, detail, cache: decodeCacheMark(part) })
}

function decodeFile(part: Placed): FilePart {
  const source = part.optional('file_url', decodeUrl) ?? part.get('file_data', decodeDataUrl)
  const name = part.optional('filename', expect.textIfAny)
  return defined({ type: 'file' as const, source, name, cache: decodeCacheMark(part) })
}

function decodeCacheMark(part: Placed): CacheMark | undefined {
  return cacheMarkOf(part, 'prompt_cache_breakpoint')
}
