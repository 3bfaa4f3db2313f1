// A tool call's input as an object, as some formats carry it; in the canonical form it is the model's own text.
import { GatewayError } from '../core/errors.ts'
import { membersIn } from '../core/json-limits.ts'
import type { JsonObject } from '../core/json.ts'
import type { CanonicalRequest, ToolCallPart } from '../core/request.ts'
import { callsIn } from './call-ids.ts'
import { wrapCustomInput } from './custom-tools.ts'
import { parseExactly } from './exact-json.ts'

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

/** For providers that support functions only. */
export function callInput({ input, custom }: ToolCallPart): JsonObject {
  return custom ? wrapCustomInput(input) : toolInputObject(input)
}

/** Models also write texts that are not JSON objects. They are kept whole: the turn goes on, and the client decides. */
export function toolInputObject(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseExactly(text) ?? { _raw: text })
}
