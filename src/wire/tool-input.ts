// A tool call's input as an object, as some formats carry it; in the canonical form it is the model's own text.
import type { JsonObject } from '../core/json.ts'
import type { ToolCallPart } from '../core/request.ts'
import { wrapCustomInput } from './custom-tools.ts'
import { parseExactly } from './exact-json.ts'

/** For providers that support functions only. */
export function callInput({ input, custom }: ToolCallPart): JsonObject {
  return custom ? wrapCustomInput(input) : toolInputObject(input)
}

/** Models also write texts that are not JSON objects. They are kept whole: the turn goes on, and the client decides. */
export function toolInputObject(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseExactly(text) ?? { _raw: text })
}
