// The input items of a responses request as canonical messages. Each text, thought and call of the assistant is a
// separate item here. They become one canonical message, up to the next item from anybody else.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isGiven, stringOf } from '../../core/json.ts'
import type { AssistantPart, Message, ThinkingPart, ToolMessage } from '../../core/request.ts'
import {
  expectList,
  expectName,
  expectObject,
  expectOneOf,
  expectText,
  optional,
} from '../expect.ts'
import { unpackSeal } from '../seal.ts'
import type { PlacedPart } from './parts-decode.ts'
import {
  decodeAssistantPart,
  decodeOutputPart,
  decodeTextPart,
  decodeUserPart,
} from './parts-decode.ts'
import { BETWEEN_THOUGHTS } from './encrypted-reasoning.ts'
import { itemType } from './item-type.ts'
import type { Reading } from './tools-decode.ts'

export function decodeInput(input: Json | undefined, reading: Reading): Message[] {
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
