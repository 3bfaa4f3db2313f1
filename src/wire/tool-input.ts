// A tool call's input as an object, as some formats carry it; in the canonical form it is the model's own text.
import { GatewayError } from '../core/errors.ts'
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

/** Refuses calls whose inputs no model has written. */
export function refuseLongInputs(request: CanonicalRequest): void {
  if (request.kind !== 'chat') return
  let characters = 0
  for (const { input } of callsIn(request.messages)) characters += input.length
  if (characters <= INPUTS_CHARACTERS_MAX) return
  throw new GatewayError(
    'invalid_request',
    `the tool calls have ${characters} characters of arguments; at most ${INPUTS_CHARACTERS_MAX} can be translated for this model`,
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
