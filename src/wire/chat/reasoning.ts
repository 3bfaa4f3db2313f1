// Removes the thoughts of earlier turns from a chat request: those that other formats sealed, or all of them.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, listOf } from '../../core/json.ts'
import { changedEntries, isPacked } from '../content/opaque-reasoning.ts'
import type { Removals } from '../contract/codec.ts'

export function withoutReasoning({ messages }: JsonObject): Removals | undefined {
  return removals(changedEntries(messages, forgetful))
}

/** Removes what a provider of another format sealed while it served as a fallback: no provider here can open it. */
export function withoutForeignThoughts({ messages }: JsonObject): Removals | undefined {
  return removals(changedEntries(messages, withOwnDetails))
}

function removals(messages: readonly Json[] | undefined): Removals | undefined {
  return messages && { changes: { messages }, dropped: ['messages.reasoning_details'] }
}

export function hasForeignThoughts({ reasoning_details: details }: JsonObject): boolean {
  return isArray(details) && details.some(isForeign)
}

/** The members of a message in which compatible servers carry thoughts. */
export const THOUGHT_MEMBERS: readonly string[] = [
  'reasoning_details',
  'reasoning_content',
  'reasoning',
]

function forgetful(message: JsonObject): JsonObject {
  if (!THOUGHT_MEMBERS.some((name) => isGiven(message[name]))) return message
  return Object.fromEntries(
    Object.entries(message).filter(([name]) => !THOUGHT_MEMBERS.includes(name)),
  )
}

function withOwnDetails(message: JsonObject): JsonObject {
  if (!hasForeignThoughts(message)) return message
  const { reasoning_details: details, ...rest } = message
  const own = listOf(details).filter((detail) => !isForeign(detail))
  return own.length === 0 ? rest : { ...rest, reasoning_details: own }
}

function isForeign(detail: Json): boolean {
  return isObject(detail) && (isPacked(detail['signature']) || isPacked(detail['data']))
}
