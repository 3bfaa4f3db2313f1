// Reasoning without state at the provider: it sends its thoughts out encrypted and reads them back in. An item whose
// encrypted content is missing or another provider's is unknown there, and so are the ids that belong to it.
import type { Json, JsonObject } from '../../core/json.ts'
import type { TargetModel } from '../../core/request.ts'
import { changedEntries, isPacked } from '../content/opaque-reasoning.ts'
import type { Removals } from '../contract/codec.ts'
import { openAiOf } from '../models/openai.ts'
import { itemType } from './fields.ts'

/**
 * OpenAI refuses a request for encrypted reasoning to a model that does not reason. All of those have known names, but
 * the name of a deployment may hide anything. It is not asked: the model then only forgets its earlier thoughts.
 */
export function givesEncryptedReasoning(target: TargetModel): boolean {
  const { reasons, alsoKnownAs } = target.traits ?? {}
  const openAi = openAiOf(target)
  return reasons ?? (openAi === undefined ? alsoKnownAs === undefined : openAi.efforts.length > 0)
}

/** The input without thoughts that a provider that stores nothing cannot read; the same list if there are none. */
export function readableInput(input: Json | undefined): Json | undefined {
  return without(input, isUnreadable) ?? input
}

export function withoutReasoning(body: JsonObject): Removals | undefined {
  const input = without(body['input'], isThought)
  return input && { changes: { input }, dropped: ['input.reasoning'] }
}

function without(input: Json | undefined, isGone: (item: JsonObject) => boolean) {
  let isOrphaned = false
  return changedEntries(input, (item) => {
    if (isGone(item)) {
      isOrphaned = true
      return undefined
    }
    isOrphaned &&= isAssistants(item)
    if (!isOrphaned || item['id'] === undefined) return item
    const { id: _, ...rest } = item
    return rest
  })
}

/** Whether this is a thought that a provider that stores nothing cannot read. */
export function isUnreadable(item: JsonObject): boolean {
  const { encrypted_content: encrypted } = item
  return isThought(item) && (typeof encrypted !== 'string' || isPacked(encrypted))
}

function isThought({ type }: JsonObject): boolean {
  return type === 'reasoning'
}

function isAssistants(item: JsonObject): boolean {
  switch (itemType(item)) {
    case 'message':
      return item['role'] === 'assistant'
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
      return true
    default:
      return false
  }
}

/** Separates the parts of a summary, in the stream decoder too. */
export const BETWEEN_THOUGHTS = '\n\n'
