// A tool call's input as the object that some formats carry; in the canonical form it is the model's own text.
import type { JsonObject } from '../core/json.ts'
import type { ToolCallPart } from '../core/request.ts'
import { wrapCustomInput } from './custom-tools.ts'
import { parseExactly } from './exact-json.ts'

/** At providers that know functions only. */
export function callInput({ input, custom }: ToolCallPart): JsonObject {
  return custom ? wrapCustomInput(input) : toolInputObject(input)
}

/** A text that is no JSON object, as models do write, is kept whole: no turn fails for it, and the client decides. */
export function toolInputObject(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseExactly(text) ?? { _raw: text })
}
