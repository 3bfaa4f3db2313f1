// A tool call's input as the object that some formats carry; in the canonical form it is the model's own text.
import type { JsonObject } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ToolCallPart } from '../core/request.ts'
import { wrapCustomInput } from './custom-tools.ts'
import { parseExactly } from './exact-json.ts'

/** At providers that know functions only. */
export function callInput({ input, custom }: ToolCallPart): JsonObject {
  return custom ? wrapCustomInput(input) : toolInputObject(input)
}

/** A text that is no JSON object is kept whole, so that no turn fails. */
export function toolInputObject(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    const value = parseExactly(text)
    if (isObject(value)) return value
  } catch {
    // Models do write broken JSON; the client decides what to do about it.
  }
  return { _raw: text }
}
