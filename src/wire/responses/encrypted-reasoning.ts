// Reasoning without state at the provider: it gives its thoughts out encrypted and reads them back in. An item whose
// encrypted state is missing or another provider's is unknown there, and so are the ids that belong to it.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, stringOf } from '../../core/json.ts'
import { unpackSeal } from '../seal.ts'
import { itemType } from './item-type.ts'

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/** The inventor of the format refuses to be asked by models that do not reason; all of them have such names. */
const PLAIN_MODEL = /^(ft:)?(gpt-3|gpt-4|chatgpt)|chat/

export function givesEncryptedReasoning(model: string): boolean {
  return !PLAIN_MODEL.test(model)
}

/** The same list when a provider that stores nothing can read all of it. */
export function readableInput(input: Json | undefined): Json | undefined {
  if (!isArray(input) || !input.some(isUnreadable)) return input
  const readable: Json[] = []
  let isOrphaned = false
  for (const item of input) {
    if (isUnreadable(item)) {
      isOrphaned = true
      continue
    }
    if (!isObject(item) || !isAssistants(item)) isOrphaned = false
    if (isOrphaned && isObject(item) && item['id'] !== undefined) {
      const { id: _, ...rest } = item
      readable.push(rest)
    } else readable.push(item)
  }
  return readable
}

/** Whether a provider that stores nothing would not know this thought. */
export function isUnreadable(item: Json): boolean {
  if (!isObject(item) || item['type'] !== 'reasoning') return false
  const encrypted = stringOf(item['encrypted_content'])
  if (encrypted === undefined) return true
  return unpackSeal(encrypted, { format: 'responses', kind: 'encrypted' }).format !== 'responses'
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
