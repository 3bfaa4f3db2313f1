// A responses request in the canonical form, for translation. What cannot be understood is a 400 with its place; what
// has no canonical form is dropped and named.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isGiven, stringOf, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  AudioPart,
  CacheMark,
  Conversation,
  FilePart,
  ImagePart,
  Message,
  OutputFormat,
  Reasoning,
  Sampling,
  TextPart,
  ThinkingPart,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { EFFORTS, VERBOSITIES } from '../../core/request.ts'
import { expectCacheMark } from '../content/caching.ts'
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
import {
  ENCRYPTED_REASONING,
  itemType,
  LOGPROBS,
  RESPONSES_FIELDS,
  RESPONSES_SHAPE,
} from './fields.ts'
import { BETWEEN_THOUGHTS } from './reasoning.ts'
import type { Reading } from './tools.ts'
import { decodeToolChoice, decodeTools, toolNames } from './tools.ts'

export function decodeRequest(body: JsonObject): Conversation {
  const reading: Reading = {
    names: toolNames(body),
    dropped: new Set([
      ...droppedFields(body, RESPONSES_FIELDS),
      ...unknownMembers(body, RESPONSES_SHAPE),
    ]),
  }
  // Clients send this value to ask for nothing special.
  if (body['truncation'] === 'disabled') reading.dropped.delete('truncation')
  const include = readInclude(body, reading)
  const text = optional(body['text'], 'text', expectObject) ?? {}
  const tools = decodeTools(body, reading)
  return defined({
    kind: 'chat' as const,
    model: modelOf(body),
    stream: streamOf(body),
    messages: [...decodeInstructions(body), ...decodeInput(body['input'], reading)],
    tools,
    toolChoice: decodeToolChoice(body, tools, reading),
    parallelToolCalls: optional(body['parallel_tool_calls'], 'parallel_tool_calls', expectBoolean),
    outputTokensMax: countOf(body, 'max_output_tokens', 1),
    outputFormat: decodeFormat(text),
    verbosity: optional(text['verbosity'], 'text.verbosity', expectOneOf(VERBOSITIES)),
    reasoning: decodeReasoning(body, reading),
    sampling: decodeSampling(body, include),
    choices: 1,
    endUser: decodeEndUser(body, reading.dropped),
    metadata: optional(body['metadata'], 'metadata', expectMap(expectText)),
    cacheKey: optional(body['prompt_cache_key'], 'prompt_cache_key', expectText),
    serviceTier: decodeServiceTier(body),
    // Last, because decoding the rest adds to it.
    dropped: [...reading.dropped],
  })
}

/** Not dropped: logprobs are translated, and encrypted reasoning is always sent. */
const INCLUDED = [LOGPROBS, ENCRYPTED_REASONING]

function readInclude(body: JsonObject, reading: Reading): readonly string[] {
  const include = optional(body['include'], 'include', expectTexts) ?? []
  for (const name of include) {
    if (!INCLUDED.includes(name)) reading.dropped.add(`include.${name}`)
  }
  return include
}

/** Instructions come before the whole conversation. */
function decodeInstructions(body: JsonObject): Message[] {
  const text = optional(body['instructions'], 'instructions', expectText) ?? ''
  return text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }]
}

function decodeFormat(text: JsonObject): OutputFormat | undefined {
  const format = optional(text['format'], 'text.format', expectObject) ?? { type: 'text' }
  switch (typeOf(format)) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'json' }
    case 'json_schema':
      return defined({
        type: 'json-schema' as const,
        name: expectName(format['name'], 'text.format.name'),
        description: optional(format['description'], 'text.format.description', expectText),
        schema: expectObject(format['schema'], 'text.format.schema'),
        strict: optional(format['strict'], 'text.format.strict', expectBoolean),
      })
    default:
      throw invalidRequest(
        'text.format.type',
        'text.format.type must be text, json_object or json_schema',
      )
  }
}

const READ_OF_REASONING = ['effort', 'summary', 'generate_summary']

function decodeReasoning(body: JsonObject, reading: Reading): Reasoning | undefined {
  const reasoning = optional(body['reasoning'], 'reasoning', expectObject)
  if (reasoning === undefined) return undefined
  for (const [name, value] of Object.entries(reasoning)) {
    const isDefault = value === null || value === 'auto' || value === 'standard'
    if (!READ_OF_REASONING.includes(name) && !isDefault) reading.dropped.add(`reasoning.${name}`)
  }
  const summary = reasoning['summary'] ?? reasoning['generate_summary']
  if (isGiven(summary) && summary !== 'auto') reading.dropped.add('reasoning.summary')
  const effort = optional(reasoning['effort'], 'reasoning.effort', expectOneOf(EFFORTS))
  const display = isGiven(summary) ? ('summary' as const) : undefined
  // Clients write the object down with nothing in it, or as answers repeat it: that asks no model to think.
  if (effort === undefined && display === undefined) return undefined
  return defined({ effort, display })
}

function decodeSampling(body: JsonObject, include: readonly string[]): Sampling {
  const alternatives = optional(body['top_logprobs'], 'top_logprobs', expectInteger) ?? 0
  return defined({
    temperature: optional(body['temperature'], 'temperature', expectNumber),
    topP: optional(body['top_p'], 'top_p', expectNumber),
    presencePenalty: optional(body['presence_penalty'], 'presence_penalty', expectNumber),
    frequencyPenalty: optional(body['frequency_penalty'], 'frequency_penalty', expectNumber),
    logprobs: include.includes(LOGPROBS) || alternatives > 0 ? alternatives : undefined,
  })
}

// The input items of a responses request as canonical messages. Each text, thought and call of the assistant is a
// separate item here. They become one canonical message, up to the next item from anybody else.

function decodeInput(input: Json | undefined, reading: Reading): Message[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }]
  const turns = new Turns()
  for (const [index, item] of expectList(input, 'input').entries()) {
    const place = `input[${index}]`
    decodeItem({ item: expectObject(item, place), place }, turns, reading)
  }
  return turns.messages
}

/** A message, and the results of the calls in it. */
type Turn = { readonly message: Message; readonly results: Message[] }

/**
 * Collects messages and joins the items of one assistant turn. In this format a user may speak before a call has its
 * result; in other formats results directly follow their calls.
 */
class Turns {
  readonly #turns: Turn[] = []
  readonly #callers = new Map<string, Turn>()
  /** The assistant turn that is not over yet, with its parts so far. */
  #open: { readonly turn: Turn; readonly parts: AssistantPart[] } | undefined

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
    const turn: Turn = { message: { role: 'assistant', parts }, results: [] }
    this.#turns.push(turn)
    return { turn, parts }
  }
}

type Placed = { readonly item: JsonObject; readonly place: string }

function decodeItem({ item, place }: Placed, turns: Turns, reading: Reading): void {
  const type = itemType(item)
  switch (type) {
    case 'message':
      return decodeMessage({ item, place }, turns, reading)
    case 'function_call':
    case 'custom_tool_call': {
      const custom = type === 'custom_tool_call'
      const name = expectName(item['name'], `${place}.name`)
      const namespace = optional(item['namespace'], `${place}.namespace`, expectName)
      const given = custom ? 'input' : 'arguments'
      return turns.assistant([
        {
          type: 'tool-call',
          id: expectName(item['call_id'], `${place}.call_id`),
          name: reading.names.flat(name, namespace),
          input: expectText(item[given], `${place}.${given}`),
          custom,
        },
      ])
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const callId = expectName(item['call_id'], `${place}.call_id`)
      const parts = partsOf(item['output'], `${place}.output`).map(decodeOutputPart)
      if (turns.result({ role: 'tool', callId, parts })) return
      throw invalidRequest(
        `${place}.call_id`,
        `${place}.call_id is "${callId}", and no tool call before it has that id`,
      )
    }
    case 'reasoning':
      return turns.assistant([decodeThought({ item, place })])
    case 'additional_tools':
      // Its tools are decoded with the others: in other formats a model knows all of them from the beginning.
      return
    default:
      throw unsupportedParameter(
        place,
        `${place} has the type ${JSON.stringify(type.slice(0, 100))}, which this model cannot be sent: it takes ${ITEM_TYPES.join(', ')}; leave the item out, or use a model whose provider speaks the responses format`,
      )
  }
}

const ITEM_TYPES = [
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
  'additional_tools',
  'item_reference',
]

const ROLES = ['user', 'assistant', 'system', 'developer'] as const

function decodeMessage({ item, place }: Placed, turns: Turns, reading: Reading): void {
  const role = expectOneOf(ROLES)(item['role'], `${place}.role`)
  if (isGiven(item['phase'])) reading.dropped.add('input.phase')
  const parts = partsOf(item['content'], `${place}.content`)
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
function partsOf(content: Json | undefined, place: string): PlacedPart[] {
  if (typeof content === 'string') return [{ part: { type: 'input_text', text: content }, place }]
  return expectList(content, place).map((part, index) => {
    const at = `${place}[${index}]`
    return { part: expectObject(part, at), place: at }
  })
}

/** Clients are shown a summary; providers of open models send the thoughts themselves instead. */
function decodeThought({ item, place }: Placed): ThinkingPart {
  const summary = thoughts(item['summary'], `${place}.summary`)
  const text = summary === '' ? thoughts(item['content'], `${place}.content`) : summary
  const encrypted = optional(item['encrypted_content'], `${place}.encrypted_content`, expectText)
  if (encrypted === undefined) return { type: 'thinking', text }
  const home = defined({
    format: 'responses' as const,
    kind: 'encrypted' as const,
    id: stringOf(item['id']),
  })
  return { type: 'thinking', text, seal: unpackSeal(encrypted, home) }
}

function thoughts(parts: Json | undefined, place: string): string {
  const texts = optional(parts, place, expectList) ?? []
  return texts
    .map((part, index) => {
      const at = `${place}[${index}]`
      return expectText(expectObject(part, at)['text'], `${at}.text`)
    })
    .join(BETWEEN_THOUGHTS)
}

// The content parts of input items, by the role that may use them. Any other part is a 400 with its place.

type PlacedPart = { readonly part: JsonObject; readonly place: string }

function decodeUserPart(placed: PlacedPart): UserPart {
  switch (typeOf(placed.part)) {
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    case 'input_image':
      return decodeImage(placed)
    case 'input_file':
      return decodeFile(placed)
    case 'input_audio':
      return decodeAudio(placed)
    default:
      throw unknownPart(placed, 'input_text, input_image, input_file or input_audio')
  }
}

function decodeTextPart(placed: PlacedPart): TextPart {
  switch (typeOf(placed.part)) {
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    default:
      throw unknownPart(placed, 'input_text')
  }
}

function decodeAssistantPart(placed: PlacedPart): AssistantPart {
  const { part, place } = placed
  switch (typeOf(part)) {
    // Many clients send the assistant's words back as if they were input.
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    case 'refusal':
      return { type: 'refusal', text: expectText(part['refusal'], `${place}.refusal`) }
    default:
      throw unknownPart(placed, 'output_text or refusal')
  }
}

function decodeOutputPart(placed: PlacedPart): TextPart | ImagePart | FilePart {
  switch (typeOf(placed.part)) {
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    case 'input_image':
      return decodeImage(placed)
    case 'input_file':
      return decodeFile(placed)
    default:
      throw unknownPart(placed, 'input_text, input_image or input_file')
  }
}

function decodeText({ part, place }: PlacedPart): TextPart {
  const text = expectText(part['text'], `${place}.text`)
  return defined({ type: 'text' as const, text, cache: cacheMark({ part, place }) })
}

function decodeImage({ part, place }: PlacedPart): ImagePart {
  return defined({
    type: 'image' as const,
    source: decodeUrl(part['image_url'], `${place}.image_url`),
    detail: optional(part['detail'], `${place}.detail`, expectText),
    cache: cacheMark({ part, place }),
  })
}

function decodeFile({ part, place }: PlacedPart): FilePart {
  const url = optional(part['file_url'], `${place}.file_url`, expectText)
  return defined({
    type: 'file' as const,
    source:
      url === undefined
        ? decodeDataUrl(part['file_data'], `${place}.file_data`)
        : decodeUrl(url, `${place}.file_url`),
    name: optionalText(part['filename'], `${place}.filename`),
    cache: cacheMark({ part, place }),
  })
}

function decodeAudio({ part, place }: PlacedPart): AudioPart {
  const audio = expectObject(part['input_audio'], `${place}.input_audio`)
  return {
    type: 'audio',
    data: expectBase64(audio['data'], `${place}.input_audio.data`),
    encoding: expectName(audio['format'], `${place}.input_audio.format`),
  }
}

function cacheMark({ part, place }: PlacedPart): CacheMark | undefined {
  const name = 'prompt_cache_breakpoint'
  return optional(part[name], `${place}.${name}`, expectCacheMark)
}

function unknownPart({ part, place }: PlacedPart, known: string): GatewayError {
  const type = JSON.stringify(part['type'] ?? null)
  return invalidRequest(place, `${place} has the type ${type}; here it must be ${known}`)
}
