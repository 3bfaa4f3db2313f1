// The tool calls of a conversation: their ids, each unique in it, and their inputs. Some servers reuse the same ids in
// every answer; providers of other formats refuse two calls with one id, or mix up their results.
import { createHash, randomUUID } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import { membersIn } from '../../core/json.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { AssistantPart, CanonicalRequest, Message, ToolCallPart } from '../../core/request.ts'
import { parseExactly } from '../json/exact.ts'
import { wrapCustomInput } from './tools.ts'

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

/** The same list if no id occurs twice. Otherwise repeated ids are replaced, in the same way in every later turn. */
export function withUniqueCallIds(messages: readonly Message[]): readonly Message[] {
  const ids = callsIn(messages).map(({ id }) => id)
  const taken = new Set(ids)
  return taken.size === ids.length ? messages : renamed(messages, taken)
}

/** The calls of a conversation, in their order. */
export function callsIn(messages: readonly Message[]): readonly ToolCallPart[] {
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
  const calls = callsIn(request.messages)
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
export function callInput({ input, custom }: ToolCallPart): JsonObject {
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
